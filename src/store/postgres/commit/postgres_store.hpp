#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "message/validate.hpp"
#include "store/migration.hpp"
#include "store/row_defaults.hpp"
#include "store/store.hpp"

namespace posthorn::postgres {

struct postgres_options {
    std::string url;
    std::string schema = "outbox";
    std::string service{};                   // Its own id, the source of its messages.
    message_limits limits{};                 // For rows that a producer wrote with plain SQL.
    std::optional<row_defaults> defaults{};  // For such rows too; left as they are if empty.
    std::size_t readers = 2;
    std::size_t transactions = 8;    // Of the application's own, at a time; at least one.
    std::vector<table_set> above{};  // Of the folders above.
};

/// What the store is built from; outlives it.
struct postgres_seams {
    const clock& time;
    executor& writer;  // One thread, of the store's own units.
    logger& log;
};

/// Opens, or makes, the schema of a service.
result<std::unique_ptr<store>> open(const postgres_options& options, const postgres_seams& seams);

/// What a store that `open` gave calls itself among those on its schema.
[[nodiscard]] const std::string& name_of(const store& opened);

/// The SQL that makes the schema, for an application's own migrations.
[[nodiscard]] std::string schema_definitions(const std::string& schema,
                                             const std::vector<table_set>& above = {});

}  // namespace posthorn::postgres
