#include "standby/promotion.hpp"

#include "standby/kept_copy.hpp"
#include "store/sqlite/upkeep/restore.hpp"

namespace posthorn::standby {

std::string refuse_promotion(const pair_state& state) {
    if (state.as == pair_state::role::primary) return "it is a primary already";
    switch (state.phase) {
        case standby_phase::empty: return "it has nothing yet";
        case standby_phase::copying:
            return "its copy is not whole; let 'posthorn standby follow' finish it";
        case standby_phase::following:
        case standby_phase::promoted: break;
    }
    return {};
}

std::string loss_of(const pair_state& state) {
    if (!refuse_promotion(state).empty()) return "everything: it cannot be promoted";
    if (!state.may_lack) return "nothing that was answered";
    return "what the primary answered without it: its mode is async, or it may go on alone";
}

result<pair_state> promote(const promotion_options& asked) {
    POSTHORN_LET(copy, kept_copy::open(asked.database));
    const auto before = copy->state();
    const auto refused = [&](std::string_view why) {
        return fail(error_code::invalid_argument, "{} cannot be promoted: {}",
                    asked.database.string(), why);
    };
    if (const auto why = refuse_promotion(before); !why.empty()) return refused(why);
    if (before.may_lack && !asked.accept_loss)
        return refused(
            "the primary may have answered what this copy lacks; if it can be started, start it "
            "and let this one catch up, or add --accept-loss");
    const bool was_begun = before.phase == standby_phase::promoted;
    POSTHORN_TRY(copy->promote(was_begun ? before.epoch : before.epoch + 1, [&] {
        return sqlite::raise_epochs({.path = asked.database.string()});
    }));
    return copy->state();
}

}  // namespace posthorn::standby
