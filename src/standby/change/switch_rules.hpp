#pragma once

#include <string>

#include "standby/link_format.hpp"
#include "standby/pair_state.hpp"

namespace posthorn::standby {

// How the role of the primary changes hands. Pure: from what is kept on each disk, and what is
// said, to what is to be kept next. What is kept is on the disk before anything more is said or
// done, so that either may die between any two steps.
//
// | step | old primary keeps | standby keeps |
// |---|---|---|
// | before | promoted, epoch e | following, epoch e |
// | 1. it works no more, and the standby has all of its log | " | " |
// | 2. it gives its role away | handing, epoch e, `parting` | " |
// | 3. it says `hand_over`, and the standby takes it | " | promoted, epoch e + 1, `began` |
// | 4. the standby says `taken`, or comes as a primary | rejoining, epoch e + 1 | leads from now on |
// | 5. its log is cut at `parting` and followed up | following, epoch e + 1 | " |
//
// One that hands over neither leads nor follows until it knows. It asks its standby, which answers
// only once the connection that `hand_over` went over has ended: what that says then is final.

/// Whether a node may be opened on it.
[[nodiscard]] bool may_lead(const pair_state& kept);

/// Step 2. `at` is where its log ends.
[[nodiscard]] pair_state give_role_away(pair_state primary, const log_place& at);
/// Step 3: why it cannot take the role; empty if it can. `at` is up to where it has the log.
[[nodiscard]] std::string refuse_role(const pair_state& standby, const log_place& at,
                                      const link_hand_over& asked);
[[nodiscard]] pair_state take_role(pair_state standby, const link_hand_over& asked);
/// Step 4.
[[nodiscard]] pair_state become_standby(pair_state handing, std::uint64_t epoch);
/// Instead of it: it was not taken, and never will be.
[[nodiscard]] pair_state take_back(pair_state handing);
/// Where the other one is lost, by a person's word: also over what that may have taken.
[[nodiscard]] pair_state take_by_force(pair_state handing);

/// What one that hands over learns of what became of it.
///
/// | the other is | then |
/// |---|---|
/// | of another stream | unknown |
/// | of a newer epoch, or promoted | taken |
/// | following, in our epoch | not_taken |
/// | anything else | unknown |
enum class handing_end : std::uint8_t { unknown, not_taken, taken };
[[nodiscard]] handing_end judge_handing(const pair_state& handing, const standby_place& other);

}  // namespace posthorn::standby
