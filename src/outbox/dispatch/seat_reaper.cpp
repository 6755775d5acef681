#include "outbox/dispatch/seat_reaper.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/assert.hpp"
#include "base/async/cancellation.hpp"
#include "store/async.hpp"

namespace posthorn {

task<> seat_reaper::run() {
    do {
        if (const auto looked = co_await look(); !looked)
            with_.env.log.warn(
                "Outbox: could not look after other dispatchers, will try again: {Error}",
                {{"Error", looked.error().what()}});
    } while (co_await with_.env.timer.sleep_for(options_.look_interval));
}

// A seat is watched as a stand-by watches the one lease of other stores: by our own steady clock.
std::vector<seat> seat_reaper::silent(const std::vector<seat>& seats) {
    std::map<std::string, lease_state, std::less<>> now;
    std::vector<seat> dead;
    for (const auto& one : seats) {
        if (one.held.owner == options_.owner) continue;
        const bool gone = with_.owner_is_gone && with_.owner_is_gone(one.held.owner);
        const auto [next, action] = step(seen_[one.name],
                                         {.what = lease_event::kind::looked,
                                          .at = with_.env.clock.steady(),
                                          .now = one.held,
                                          .owner_is_gone = gone},
                                         {.owner = options_.owner, .duration = options_.duration});
        if (action == lease_action::take) dead.push_back(one);
        // If its seat cannot be taken away yet, it is not watched for another lease.
        now.emplace(one.name, next).first->second.what = lease_state::kind::standby;
    }
    seen_ = std::move(now);
    return dead;
}

bool seat_reaper::is_one_gone(const std::vector<seat>& seats) const {
    return std::ranges::any_of(seen_, [&](const auto& before) {
        return std::ranges::none_of(seats, [&](const seat& one) {
            return one.name == before.first && before.second.seen &&
                   one.held.epoch == before.second.seen->epoch;
        });
    });
}

task<result<>> seat_reaper::look() {
    // Shared with the units, which may run again after a broken group.
    const auto seats = std::make_shared<std::vector<seat>>();
    auto* const sharing = with_.where.sharing();
    POSTHORN_ASSERT(sharing != nullptr);
    POSTHORN_CO_TRY(
        co_await commit(with_.where, [sharing, seats](store_transaction& tx) -> result<> {
            POSTHORN_LET(found, sharing->claims_in(tx).seats());
            *seats = std::move(found);
            return {};
        }));
    bool freed = is_one_gone(*seats);
    for (const auto& one : silent(*seats)) {
        const auto released = std::make_shared<bool>(false);
        const auto release = [one, released](store_transaction& tx) -> result<> {
            const auto done = tx.leases().release(one.name, one.held.owner, one.held.epoch);
            POSTHORN_TRY(done);
            *released = *done;
            return {};
        };
        POSTHORN_CO_TRY(co_await commit(with_.where, release));
        if (!*released) continue;
        seen_.erase(one.name);
        with_.env.log.info(
            "Outbox: {Owner} is gone (epoch {Epoch}); others send what it had claimed",
            {{"Owner", one.held.owner}, {"Epoch", one.held.epoch}});
        freed = true;
    }
    if (freed) with_.freed();
    co_return result<>{};
}

}  // namespace posthorn
