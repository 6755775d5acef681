#include "webhook/attempt_log.hpp"

#include <algorithm>
#include <utility>

#include "base/async/cancellation.hpp"
#include "store/async.hpp"
#include "webhook/failing/failing_table.hpp"

namespace posthorn {
namespace {

constexpr auto cleaning_interval = std::chrono::hours{1};
constexpr std::int64_t rows_at_once = 1'000;

}  // namespace

void attempt_log::add(webhook_attempt one) {
    if (waiting_.size() >= options_.waiting_max) {
        ++lost_;
        return;
    }
    waiting_.push_back(std::move(one));
    arrived_.ring();
}

task<> attempt_log::run() {
    while (!co_await is_cancelled()) {
        co_await write_waiting();
        co_await clean_up();
        co_await arrived_.wait_for(with_.env.timer, cleaning_interval);
    }
    co_await write_waiting();
}

task<> attempt_log::write_waiting() {
    while (!waiting_.empty()) {
        auto some = std::exchange(waiting_, {});
        if (some.size() > options_.rows_in_unit) {
            const auto rest = some.begin() + static_cast<std::ptrdiff_t>(options_.rows_in_unit);
            waiting_.assign(std::make_move_iterator(rest), std::make_move_iterator(some.end()));
            some.erase(rest, some.end());
        }
        const auto written = co_await write(some);
        if (!written) {
            lost_ += some.size();
            tell_of_loss(some, written.error());
        }
    }
}

// A success that is not in the list is still the state of its message, so it is not sent again.
void attempt_log::tell_of_loss(const std::vector<webhook_attempt>& some, const error& why) {
    const auto taken =
        std::ranges::count(some, webhook_attempt::state::success, &webhook_attempt::what);
    if (taken == 0)
        with_.env.log.warn("Webhooks: {Count} attempts could not be written down: {Error}",
                           {{"Count", some.size()}, {"Error", why.what()}});
    else
        with_.env.log.error(
            "Webhooks: {Count} attempts could not be written down, of which {Delivered} were "
            "delivered; they are missing from the list and are not sent again: {Error}",
            {{"Count", some.size()}, {"Delivered", taken}, {"Error", why.what()}});
}

// The alerts are made beforehand: the unit may run twice.
task<result<>> attempt_log::write(const std::vector<webhook_attempt>& some) {
    const auto alerts = alerts_for(some);
    POSTHORN_CO_TRY(co_await commit(with_.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(insert_attempts(tx, some));
        POSTHORN_LET(recovered, note_outcomes(tx, some));
        for (const auto& each : recovered)
            if (const auto found = alerts.recovered.find(each.subscription);
                found != alerts.recovered.end())
                POSTHORN_TRY(tx.outbox().insert(found->second));
        for (const auto& each : alerts.exhausted) POSTHORN_TRY(tx.outbox().insert(each));
        return {};
    }));
    const auto failed = [](const auto& one) { return one.what != webhook_attempt::state::success; };
    if (std::ranges::any_of(some, failed)) with_.failing.ring();
    co_return result<>{};
}

attempt_log::messages attempt_log::alerts_for(const std::vector<webhook_attempt>& some) const {
    messages made;
    if (!with_.alerts.sends()) return made;
    const auto all = with_.subscriptions.now();
    for (const auto& each : some) {
        using enum webhook_alert::kind;
        const bool succeeded = each.what == webhook_attempt::state::success;
        if (!succeeded && each.what != webhook_attempt::state::dead) continue;
        const auto of = all->find(each.subscription);
        if (!of || (succeeded && made.recovered.contains(each.subscription))) continue;
        auto alert = with_.alerts.make(
            {.what = succeeded ? recovered : exhausted, .of = &of->of, .last = &each});
        if (!alert) continue;
        if (succeeded)
            made.recovered.emplace(each.subscription, *std::move(alert));
        else
            made.exhausted.push_back(*std::move(alert));
    }
    return made;
}

task<> attempt_log::clean_up() {
    const auto now = with_.env.clock.steady();
    if (cleaned_at_ && now - *cleaned_at_ < cleaning_interval) co_return;
    cleaned_at_ = now;
    const auto before = with_.env.clock.wall() - options_.kept;
    for (std::int64_t gone = rows_at_once; gone == rows_at_once;) {
        const auto done = co_await commit(with_.where, [&](store_transaction& tx) -> result<> {
            POSTHORN_LET(some, delete_attempts_before(tx, before, rows_at_once));
            gone = some;
            return {};
        });
        if (!done) gone = 0;
    }
}

}  // namespace posthorn
