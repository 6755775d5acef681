#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "message/validate.hpp"
#include "store/disk_room.hpp"
#include "store/log_shipper.hpp"
#include "store/migration.hpp"
#include "store/row_defaults.hpp"
#include "store/store.hpp"
#include "store/upkeep/disk_space.hpp"

namespace posthorn::sqlite {

/// `off` syncs nothing, ever: for databases that are not to outlive the process.
enum class synchronous : std::uint8_t { full, normal, off };
enum class check_at_start : std::uint8_t { none, quick, full };

struct sqlite_options {
    std::string path;
    std::string service;  // Its own id, the source of its messages.
    std::string vfs{};    // For tests: another disk.
    synchronous sync = synchronous::full;
    check_at_start check = check_at_start::quick;
    bool shared = false;                     // Other processes write the file too.
    message_limits limits{};                 // For rows that a producer wrote with plain SQL.
    std::optional<row_defaults> defaults{};  // For such rows too; left as they are if empty.
    std::size_t readers = 2;
    int wal_pages_checkpoint = 4'000;  // Pages that change often are copied the less often.
    std::vector<table_set> above{};    // Of the folders above.
    disk_limits disk{};
    /// For tests: another disk to ask for its room.
    std::function<std::unique_ptr<disk_space>()> disk_space{};
};

/// What the store is built from; outlives it.
struct sqlite_seams {
    const clock& time;
    executor& writer;  // One thread, or inline.
    logger& log;
    log_shipper* shipper = nullptr;  // None unless there is a standby.
};

/// Opens, or makes, the database of a service.
result<std::unique_ptr<store>> open(const sqlite_options& options, const sqlite_seams& seams);

}  // namespace posthorn::sqlite
