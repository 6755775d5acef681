#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "feature/feature.hpp"
#include "feature/store_builder.hpp"
#include "standby/shipper.hpp"

namespace posthorn::standby {

/// What the section `[standby]` says.
struct standby_settings {
    std::optional<link_place> to{};      // Of a primary: where its standby is.
    std::optional<link_place> listen{};  // Of a standby: where its primary comes.
    ship_mode mode = ship_mode::sync;
    when_lost lost = when_lost::wait;
    std::chrono::milliseconds patience{};
    std::chrono::milliseconds lag_alarm{};
    std::uint64_t wal_keep = 0;

    /// Whether the two may change their roles while they run.
    [[nodiscard]] bool can_switch() const noexcept { return to && listen; }
};

[[nodiscard]] std::span<const feature_key> standby_keys();

/// `error_code::invalid_configuration`, naming the key.
[[nodiscard]] result<standby_settings> read_standby_settings(const feature_settings& said);
/// All that is wrong, the pair's key and certificates included.
[[nodiscard]] std::vector<feature_problem> check_standby_settings(const feature_settings& said);
/// Why a database has no standby of this kind; empty if it may have one, or is to have none.
[[nodiscard]] std::optional<feature_problem> refuse_plan(const feature_settings& said,
                                                         const store_plan& plan);

}  // namespace posthorn::standby
