#include "lease/lease_keeper.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "store/async.hpp"

namespace posthorn {

using event_kind = lease_event::kind;
using state_kind = lease_state::kind;

struct lease_keeper::beat_answer {
    std::mutex mutex;
    std::optional<result<bool>> value;
};

lease_keeper::lease_keeper(deps with, lease_options options)
    : with_(std::move(with)),
      options_(std::move(options)),
      terms_{.owner = options_.owner, .duration = options_.duration} {}

std::optional<std::int64_t> lease_keeper::epoch() const {
    if (state_.what != state_kind::holder) return std::nullopt;
    return state_.epoch;
}

void lease_keeper::stop() {
    stopping_ = true;
    wake_->ring();
}

void lease_keeper::refused(std::int64_t epoch) {
    if (this->epoch() != epoch) return;
    apply({.what = event_kind::refused, .at = with_.env.clock.steady()});
    wake_->ring();
}

task<> lease_keeper::run() {
    while (!stopping_) {
        switch (state_.what) {
            case state_kind::standby: co_await look(); break;
            case state_kind::taking: co_await take(); break;
            case state_kind::holder: co_await beat(); break;
        }
    }
    co_await release();
}

lease_action lease_keeper::apply(const lease_event& event) {
    auto [next, action] = step(state_, event, terms_);
    const bool changes = action == lease_action::begin || action == lease_action::stand_down;
    tell_of(action, action == lease_action::begin ? next.epoch : state_.epoch);
    state_ = std::move(next);
    if (changes) with_.changed();
    return action;
}

void lease_keeper::tell_of(lease_action action, std::int64_t epoch) {
    const bool dispatches = with_.name.starts_with(dispatcher_lease_name);
    if (action == lease_action::stand_down && dispatches)
        with_.env.log.warn("Outbox: this node no longer dispatches (epoch {Epoch})",
                           {{"Epoch", epoch}});
    if (action == lease_action::begin && dispatches)
        with_.env.log.info("Outbox: this node dispatches now (epoch {Epoch})", {{"Epoch", epoch}});
    if (action == lease_action::begin && !dispatches)
        with_.env.log.debug("Store: the job {Job} is done by this node now", {{"Job", with_.name}});
}

task<> lease_keeper::pause(std::chrono::nanoseconds span) {
    if (stopping_) co_return;
    co_await wake_->wait_for(with_.env.timer, span);
}

// A store that refuses at once rings before the wait begins, so one ring does not end the rest.
task<> lease_keeper::rest_as_holder(std::int64_t epoch, std::chrono::nanoseconds span) {
    const auto end = with_.env.clock.steady() + span;
    while (!stopping_ && this->epoch() == epoch && with_.env.clock.steady() < end)
        co_await pause(end - with_.env.clock.steady());
}

task<> lease_keeper::look() {
    // Shared with the unit, which may run again after a broken group.
    const auto found = std::make_shared<std::optional<lease>>();
    const auto looked =
        co_await commit(with_.where, [found, name = with_.name](store_transaction& tx) -> result<> {
            POSTHORN_LET(holder, tx.leases().find(name));
            *found = std::move(holder);
            return {};
        });
    lease_event event{.what = event_kind::failed, .at = with_.env.clock.steady()};
    if (looked) {
        event.what = event_kind::looked;
        event.now = *found;
        event.owner_is_gone =
            event.now && with_.owner_is_gone && with_.owner_is_gone(event.now->owner);
    }
    if (apply(event) == lease_action::look_later) {
        if (event.now && !event.now->owner.empty()) tell_of_standby(*event.now);
        co_await pause(options_.look_interval);
    }
}

// Once for each tenure of the other's.
void lease_keeper::tell_of_standby(const lease& held) {
    if (with_.name != dispatcher_lease_name) return;
    if (std::exchange(told_of_epoch_, held.epoch) == held.epoch) return;
    with_.env.log.info(
        "Outbox: this node stands by, since {Owner} dispatches from this database (epoch {Epoch})",
        {{"Owner", held.owner}, {"Epoch", held.epoch}});
}

// Once, until it has gone well again.
void lease_keeper::tell_of_failure(const result<>& outcome) {
    if (std::exchange(told_of_failure_, !outcome) || outcome) return;
    with_.env.log.warn("Outbox: could not take the lease {Job}, will try again: {Error}",
                       {{"Job", with_.name}, {"Error", outcome.error().what()}});
}

task<> lease_keeper::take() {
    const auto begun = with_.env.clock.steady();
    const auto taken = std::make_shared<std::optional<lease>>();
    const auto outcome =
        co_await commit(with_.where, [taken, name = with_.name, owner = options_.owner,
                                      seen = state_.seen](store_transaction& tx) {
            auto mine = tx.leases().take(name, owner, seen);
            *taken = mine ? *mine : std::nullopt;
            return mine ? result<>{} : result<>{std::unexpected(mine.error())};
        });
    tell_of_failure(outcome);
    lease_event event{.what = event_kind::failed, .at = begun};
    if (outcome) event.what = *taken ? event_kind::took : event_kind::refused;
    if (outcome) event.now = *taken;
    if (apply(event) == lease_action::look_later) co_await pause(options_.look_interval);
}

task<> lease_keeper::beat() {
    // Beats come at a distance, the first one a distance after the lease was taken.
    const auto epoch = state_.epoch;
    co_await rest_as_holder(epoch, options_.beat_interval);

    while (!stopping_ && this->epoch() == epoch) {
        const auto begun = with_.env.clock.steady();
        const auto beaten = co_await answer_to(submit_beat(), epoch);
        if (this->epoch() != epoch) co_return;
        if (beaten && *beaten) {
            apply({.what = **beaten ? event_kind::beaten : event_kind::refused, .at = begun});
            co_return;
        }
        const auto kind = beaten ? event_kind::failed : event_kind::time_passed;
        if (apply({.what = kind, .at = with_.env.clock.steady()}) == lease_action::beat_soon)
            co_await rest_as_holder(
                epoch, std::min<std::chrono::nanoseconds>(options_.look_interval, left()));
    }
}

std::shared_ptr<lease_keeper::beat_answer> lease_keeper::submit_beat() {
    auto answer = std::make_shared<beat_answer>();
    const auto alive = std::make_shared<bool>(false);
    auto work = [alive, epoch = state_.epoch, name = with_.name,
                 owner = options_.owner](store_transaction& tx) -> result<> {
        POSTHORN_LET(beaten, tx.leases().beat(name, owner, epoch));
        *alive = beaten;
        return {};
    };
    auto done = [answer, alive, wake = wake_](result<> outcome) {
        {
            const std::scoped_lock lock(answer->mutex);
            if (outcome)
                answer->value = *alive;
            else
                answer->value = std::unexpected(std::move(outcome).error());
        }
        wake->ring();
    };
    with_.where.submit({.work = std::move(work), .done = std::move(done)});
    return answer;
}

task<std::optional<result<bool>>> lease_keeper::answer_to(std::shared_ptr<beat_answer> beat,
                                                          std::int64_t epoch) {
    // A store that does not answer must not let us believe for ever that we hold the lease.
    for (;;) {
        {
            const std::scoped_lock lock(beat->mutex);
            if (beat->value) co_return std::move(beat->value);
        }
        if (this->epoch() != epoch || left() <= std::chrono::nanoseconds::zero())
            co_return std::nullopt;
        co_await wake_->wait_for(with_.env.timer, left());
    }
}

std::chrono::nanoseconds lease_keeper::left() const {
    return state_.since + terms_.duration - with_.env.clock.steady();
}

task<> lease_keeper::release() {
    const auto held = epoch();
    if (!held) co_return;
    state_ = {};
    with_.changed();
    std::ignore = co_await commit(with_.where,
                                  [name = with_.name, owner = options_.owner,
                                   epoch = *held](store_transaction& tx) -> result<> {
                                      POSTHORN_TRY(tx.leases().release(name, owner, epoch));
                                      return {};
                                  });
}

}  // namespace posthorn
