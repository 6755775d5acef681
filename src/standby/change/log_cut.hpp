#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "standby/pair_state.hpp"

namespace posthorn::standby {

/// What the log of an old primary has behind the place where another took over.
struct log_tail {
    log_place end{};          // Of its last whole transaction.
    std::uint64_t pages = 0;  // Frames of whole transactions in between.
    /// A page of the file is as the tail has it: others have copied the log into the file, which
    /// holds more than the log up to that place.
    bool is_in_file = false;
};

/// Empty if no transaction of the log ends at `at`: then the log tells nothing of it.
[[nodiscard]] result<std::optional<log_tail>> find_tail(const std::filesystem::path& database,
                                                        const log_place& at);
/// Where the log of a database that was closed ends; empty if it has none.
[[nodiscard]] result<std::optional<log_place>> end_of_log(const std::filesystem::path& database);
/// The log up to `at`, as another file.
result<> copy_log(const std::filesystem::path& database, const log_place& at,
                  const std::filesystem::path& to);

/// Where the tail of one that rejoins is kept: the log's header and its frames from `parting` on.
[[nodiscard]] std::filesystem::path tail_file_of(const std::filesystem::path& database,
                                                 const pair_state& state);
/// Makes a standby of one that is `rejoining`: its log, cut at `parting`, becomes its first
/// segment; what comes behind is kept as `tail_file_of`. Where others have written to it since that
/// was decided, it is a part of a copy, of which pages that differ are sent. None else has it open.
/// May be called again after a failure.
[[nodiscard]] result<pair_state> finish_cut(const std::filesystem::path& database,
                                            pair_state state);

}  // namespace posthorn::standby
