#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "standby/pair_state.hpp"

namespace posthorn::standby {

/// Why a copy cannot take its primary's place; empty if it can.
[[nodiscard]] std::string refuse_promotion(const pair_state& state);
/// What a promotion loses of what the primary answered, as far as the standby knows. Pure.
[[nodiscard]] std::string loss_of(const pair_state& state);

struct promotion_options {
    std::filesystem::path database;
    bool accept_loss = false;  // Where the primary may have answered more than the copy has.
};

/// Makes the copy a database that a node may be opened on.
///
/// First all older epochs are refused, durably; then what is kept of the log goes into the file,
/// and the epochs of its leases are raised, so that no outcome of the old dispatcher is recorded.
/// After a failure or a kill it is called again. `error_code::invalid_argument` if the copy cannot
/// take its primary's place; `error_code::store_busy` while it is being kept.
[[nodiscard]] result<pair_state> promote(const promotion_options& asked);

}  // namespace posthorn::standby
