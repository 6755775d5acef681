#include "standby/change/switch_rules.hpp"

#include <algorithm>

#include "base/planted.hpp"

namespace posthorn::standby {

bool may_lead(const pair_state& kept) {
    return kept.as == pair_state::role::primary && kept.phase == standby_phase::promoted;
}

pair_state give_role_away(pair_state primary, const log_place& at) {
    primary.phase = standby_phase::handing;
    primary.parting = at;
    return primary;
}

std::string refuse_role(const pair_state& standby, const log_place& at,
                        const link_hand_over& asked) {
    if (standby.as != pair_state::role::standby || standby.phase != standby_phase::following)
        return fmt::format("its copy is {}, and only one that follows takes the role",
                           to_string(standby.phase));
    if (asked.epoch <= standby.epoch)
        return fmt::format("it is of epoch {} already, and was offered {}", standby.epoch,
                           asked.epoch);
    if (at != asked.at && !POSTHORN_PLANTED(role_taken_behind))
        return fmt::format("it has the log up to {}, and the primary's ends at {}", to_text(at),
                           to_text(asked.at));
    return {};
}

pair_state take_role(pair_state standby, const link_hand_over& asked) {
    standby.phase = standby_phase::promoted;
    standby.epoch = asked.epoch;
    standby.began = asked.at;
    standby.first_log.reset();
    return standby;
}

pair_state become_standby(pair_state handing, std::uint64_t epoch) {
    handing.as = pair_state::role::standby;
    handing.phase = standby_phase::rejoining;
    handing.epoch = std::max(handing.epoch, epoch);
    handing.began.reset();
    handing.first_log.reset();
    handing.may_lack = false;
    return handing;
}

pair_state take_back(pair_state handing) {
    handing.phase = standby_phase::promoted;
    handing.parting.reset();
    return handing;
}

pair_state take_by_force(pair_state handing) {
    // One more than that of what the other may have become.
    handing.epoch += 2;
    handing.began.reset();
    handing.first_log.reset();
    return take_back(handing);
}

handing_end judge_handing(const pair_state& handing, const standby_place& other) {
    if (other.stream != handing.stream) return handing_end::unknown;
    if (other.epoch > handing.epoch) return handing_end::taken;
    if (other.epoch < handing.epoch) return handing_end::unknown;
    if (other.phase == standby_phase::promoted) return handing_end::taken;
    if (other.phase == standby_phase::following) return handing_end::not_taken;
    return handing_end::unknown;
}

}  // namespace posthorn::standby
