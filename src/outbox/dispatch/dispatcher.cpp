#include "outbox/dispatch/dispatcher.hpp"

#include <memory>
#include <utility>

#include <boost/asio/this_coro.hpp>

#include "outbox/lane/outbox_log.hpp"

namespace posthorn {
namespace {

std::string lease_name(store& of, const lease_options& options) {
    if (of.sharing() == nullptr) return std::string(dispatcher_lease_name);
    return std::string(seat_prefix) + options.owner;
}

}  // namespace

dispatcher::dispatcher(dispatcher_deps with, outbox_options options, retry_policy retries,
                       std::function<bool(const std::string& owner)> owner_is_gone)
    : with_(with),
      options_(std::move(options)),
      retries_(std::move(retries)),
      owner_is_gone_(std::move(owner_is_gone)),
      hot_({.rows = options_.hand_over_rows, .bytes = options_.hand_over_bytes}, hot_arrivals_),
      guard_(with_.store, with_.env.readers),
      clocks_(with_.env.clock, options_.clock),
      keeper_({.env = with_.env,
               .where = with_.store,
               .owner_is_gone = owner_is_gone_,
               .changed = [this] { lease_changed(); },
               .name = lease_name(with_.store, options_.lease)},
              options_.lease) {
    with_.store.hand_to(this);
}

dispatcher::~dispatcher() { with_.store.hand_to(nullptr); }

task<> dispatcher::run() {
    // The work is in a group of its own, which a cancellation of ours does not reach: it has to be
    // able to wait while it winds down.
    task_group working(co_await boost::asio::this_coro::executor);
    working.spawn(work());
    co_await stop_.wait();
    stopping_ = true;
    if (current_ != nullptr) current_->stop();
    changed_.ring();
    co_await working.join();
}

task<> dispatcher::work() {
    task_group keeping(co_await boost::asio::this_coro::executor);
    keeping.spawn(keeper_.run());
    while (!stopping_) {
        if (const auto epoch = keeper_.epoch())
            co_await hold(*epoch);
        else
            co_await changed_.wait();
    }
    keeper_.stop();
    co_await keeping.join();
}

task<> dispatcher::hold(std::int64_t epoch) {
    tenure held({.with = with_,
                 .options = options_,
                 .retries = retries_,
                 .counters = counters_,
                 .hot = hot_,
                 .hot_arrivals = hot_arrivals_,
                 .guard = guard_,
                 .clocks = clocks_,
                 .sweep = sweep_,
                 .board = sweeps_,
                 .rounds = rounds_,
                 .owner_is_gone = owner_is_gone_,
                 .refused = [this](std::int64_t old) { keeper_.refused(old); },
                 .where = co_await boost::asio::this_coro::executor},
                epoch);
    current_ = &held;
    co_await held.run();
    current_ = nullptr;
    sweeps_.went_well();  // From now on another looks.
}

void dispatcher::lease_changed() {
    changed_.ring();
    if (current_ != nullptr && keeper_.epoch() != current_->epoch()) current_->cut_off();
}

void dispatcher::committed(std::vector<outbox_row> enqueued) {
    log_enqueued(with_.env.log, enqueued);
    if (is_in_rounds()) return;
    // Those come by themselves when it is their turn.
    std::erase_if(enqueued, [this](const outbox_row& row) { return row.parked || !sends(row); });
    counters_.overflowed += hot_.push(std::move(enqueued));
}

void dispatcher::committing(const outbox_row& lone) {
    if (!is_in_rounds() && !lone.parked && !lone.body.deliver_at && sends(lone)) hot_.expect(lone);
}

void dispatcher::released(std::vector<outbox_row> rows) {
    if (is_in_rounds()) return;
    std::erase_if(rows, [this](const outbox_row& row) { return !sends(row); });
    counters_.overflowed += hot_.push(std::move(rows));
}

// A group may hold messages of any tenant, and what is claimed here no other node would send.
std::int64_t dispatcher::claims_as() {
    return options_.tenant.empty() && !is_in_rounds() ? hot_.claims_as() : 0;
}

task<result<std::size_t>> dispatcher::round() {
    struct ending {
        bell rung;
        result<std::size_t> rows{0};
    };
    const auto over = std::make_shared<ending>();
    rounds_.want([over](result<std::size_t> rows) {
        over->rows = std::move(rows);
        over->rung.ring();
    });
    sweep_.look_at_agenda();
    if (!co_await over->rung.wait()) co_return fail(error_code::cancelled, "the round was left");
    co_return over->rows;
}

bool dispatcher::sends(const outbox_row& row) const {
    return options_.tenant.empty() || row.body.tenant == options_.tenant;
}

void dispatcher::foreign_commit() {
    guard_.distrust();
    sweep_.want();
}

}  // namespace posthorn
