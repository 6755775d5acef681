#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "standby/change/switch_rules.hpp"
#include "standby/link_channel.hpp"
#include "standby/pair_state.hpp"

namespace posthorn::standby {

struct hand_over_options {
    std::filesystem::path database{};
    link_place to{};
    pair_access access{};
    std::string service{};
    bool may_lack = false;  // As long as it is the primary.
    std::chrono::milliseconds patience = std::chrono::seconds{5};
};

/// What a primary came to that gave its role away.
enum class hand_over_end : std::uint8_t {
    given,   // It is the standby now.
    kept,    // It is the primary still: the other one refused, or could not be asked.
    unknown  // The other one may have it: `ask_what_became` tells, or it comes as the primary.
};
struct hand_over_report {
    hand_over_end end = hand_over_end::kept;
    std::string why{};  // Unless it was given.
};

/// Gives the role of a primary to its standby: ships what is left of the log, which none may write
/// meanwhile, and asks the standby to take it. The steps are those of `switch_rules.hpp`.
///
/// No node has the database open. Fails where its own disk does; what is kept there is right then,
/// and it may be called again.
[[nodiscard]] result<hand_over_report> hand_over(const hand_over_options& asked,
                                                 const link_channel::parts& with);

/// What became of it, as the other one says; `unknown` where it cannot be asked.
[[nodiscard]] handing_end ask_what_became(const hand_over_options& asked, const pair_state& handing,
                                          const link_channel::parts& with);

}  // namespace posthorn::standby
