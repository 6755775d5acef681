#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "standby/pair_state.hpp"

namespace posthorn::standby {

struct rejoin_report {
    std::filesystem::path kept;  // Where the old database is now.
    std::optional<std::int64_t>
        pending{};  // Messages in it that it had not sent; empty if unknown.
};

/// Lets the machine of an old primary begin anew as a standby: its database is kept aside with all
/// that lies beside it, and what follows is copied from the primary of now.
///
/// After a failure or a kill it is called again. `error_code::store_busy`, naming the process, while
/// one has the database open; `error_code::invalid_argument` if it is not a primary's.
[[nodiscard]] result<rejoin_report> rejoin(const std::filesystem::path& database);

}  // namespace posthorn::standby
