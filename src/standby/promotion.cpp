#include "standby/promotion.hpp"

#include <tuple>

#include "standby/change/switch_rules.hpp"
#include "standby/kept_copy.hpp"
#include "store/sqlite/driver/file_locks.hpp"
#include "store/sqlite/upkeep/restore.hpp"

namespace posthorn::standby {
namespace {

bool is_handing(const pair_state& state) {
    return state.as == pair_state::role::primary && state.phase == standby_phase::handing;
}

}  // namespace

std::string refuse_promotion(const pair_state& state) {
    if (is_handing(state)) return {};
    if (state.as == pair_state::role::primary) return "it is a primary already";
    switch (state.phase) {
        case standby_phase::empty: return "it has nothing yet";
        case standby_phase::copying:
            return "its copy is not whole; let 'posthorn standby follow' finish it";
        case standby_phase::following:
        case standby_phase::promoted:
        case standby_phase::handing:
        case standby_phase::rejoining: break;
    }
    return {};
}

std::string loss_of(const pair_state& state) {
    if (!refuse_promotion(state).empty()) return "everything: it cannot be promoted";
    if (is_handing(state))
        return "what the other one has answered, if it took the role that this one gave it";
    if (!state.may_lack) return "nothing that was answered";
    return "what the primary answered without it: its mode is async, or it may go on alone";
}

namespace {

/// One that gave its role away, to another that is lost.
result<pair_state> promote_by_force(const std::filesystem::path& database,
                                    const pair_state& handing) {
    // A process that waits to hear of the other one would go on with what it knows.
    POSTHORN_LET(lock, lock_state(database));
    std::ignore = lock;
    POSTHORN_LET(alone, sqlite::sole_use::take(database.string()));
    std::ignore = alone;
    const auto taken = take_by_force(handing);
    POSTHORN_TRY(save_state(database, taken));
    return taken;
}

}  // namespace

result<pair_state> promote(const promotion_options& asked) {
    POSTHORN_LET(found, load_state(asked.database));
    if (found && is_handing(*found)) return promote_by_force(asked.database, *found);
    POSTHORN_LET(copy, kept_copy::open(asked.database));
    const auto before = copy->state();
    const auto refused = [&](std::string_view why) {
        return fail(error_code::invalid_argument, "{} cannot be promoted: {}",
                    asked.database.string(), why);
    };
    if (const auto why = refuse_promotion(before); !why.empty()) return refused(why);
    const bool was_begun = before.phase == standby_phase::promoted;
    // What took the role of a primary that gave it away lacks nothing.
    if (before.may_lack && !asked.accept_loss && !was_begun)
        return refused(
            "the primary may have answered what this copy lacks; if it can be started, start it "
            "and let this one catch up, or add --accept-loss");
    POSTHORN_TRY(copy->promote(was_begun ? before.epoch : before.epoch + 1, [&] {
        return sqlite::raise_epochs({.path = asked.database.string()});
    }));
    return copy->state();
}

}  // namespace posthorn::standby
