#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "standby/pair_state.hpp"
#include "store/sqlite/upkeep/parted_messages.hpp"

namespace posthorn::standby {

/// What the primary of now tells of how its history began.
struct new_history {
    stream_id stream{};
    std::uint64_t epoch = 0;
    log_place began{};
};

/// `STREAM/EPOCH/PLACE`, as `posthorn standby status` tells it for people to copy.
[[nodiscard]] std::string to_text(const new_history& what);
[[nodiscard]] std::optional<new_history> parse_new_history(std::string_view text);

struct rejoin_report {
    /// Where the old log is from where the two histories part, or the old database where it could
    /// not be cut. Empty if there is nothing of either.
    std::filesystem::path kept{};
    bool was_cut = false;
    std::string why{};  // It could not be cut.
    /// In what was cut off: empty if it could not be read.
    std::optional<sqlite::parted_messages> lost{};
    /// Where it could not be cut: messages in the old database that it had not sent.
    std::optional<std::int64_t> pending{};
};

/// Lets the machine of an old primary begin anew as a standby. Where the primary of now says how its
/// history began, the old log is cut there, and what comes behind is kept as a file: from then on
/// it follows with what it has. Where that cannot be done, the database is kept aside with all that
/// lies beside it, and what follows is copied from the primary of now.
///
/// After a failure or a kill it is called again. `error_code::store_busy`, naming the process, while
/// one has the database open; `error_code::invalid_argument` if it is not a primary's.
[[nodiscard]] result<rejoin_report> rejoin(const std::filesystem::path& database,
                                           const std::optional<new_history>& now = {});

/// Why an old primary cannot be cut where that history began, as far as what is kept of it tells;
/// empty if it can. Pure.
[[nodiscard]] std::string refuse_cut(const pair_state& old, const std::optional<new_history>& now);

}  // namespace posthorn::standby
