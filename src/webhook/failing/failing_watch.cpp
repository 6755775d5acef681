#include "webhook/failing/failing_watch.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/async/cancellation.hpp"
#include "base/text/counted.hpp"
#include "store/async.hpp"
#include "webhook/attempt_page.hpp"
#include "webhook/failing/failing_table.hpp"

namespace posthorn {
namespace {

constexpr std::string_view alert_endpoint = "WebhookAlert";
constexpr std::int64_t endpoints_looked_at = 20'000;

// A minute of five days.
std::chrono::nanoseconds pause_between_looks(const failing_rules& rules) {
    using namespace std::chrono_literals;
    return std::clamp<std::chrono::milliseconds>(rules.span / 7200, 50ms, 1min);
}

std::string last_answer(const webhook_attempt* last) {
    if (last == nullptr) return "no answer is known";
    return last->error.empty() ? "no error was noted" : last->error;
}

}  // namespace

std::optional<message> alert_desk::make(const webhook_alert& alert) const {
    if (!sends()) return std::nullopt;
    auto made = maker_.make(
        {.destination = destination_, .endpoint = alert_endpoint, .payload = render(alert)});
    if (made) return *std::move(made);
    log_.warn("Webhooks: an alert could not be made: {Error}", {{"Error", made.error().what()}});
    return std::nullopt;
}

task<> failing_watch::run() {
    // At first for what failed before the node was stopped.
    do {
        if (const auto looked = co_await look(); !looked)
            with_.env.log.warn("Webhooks: failing endpoints could not be looked at: {Error}",
                               {{"Error", looked.error().what()}});
        // What fails fails often: each look is for a minute's failures.
        if (!co_await failed_.wait()) co_return;
        if (!co_await with_.env.timer.sleep_for(pause_between_looks(rules_))) co_return;
    } while (!co_await is_cancelled());
}

// Only those that failed since: of ten thousand endpoints most failed long ago, and wait.
task<result<>> failing_watch::look() {
    std::vector<failing_endpoint> all;
    POSTHORN_CO_TRY(
        co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(failing, read_failing(from, endpoints_looked_at));
            all = std::move(failing);
            return {};
        }));
    POSTHORN_CO_TRY(co_await with_.subscriptions.refresh());
    std::map<uuid, wall_time> judged;
    std::size_t troubled = 0;
    std::string worst;
    result<> outcome;
    for (const auto& one : all) {
        const auto of = with_.subscriptions.now()->find(one.subscription);
        const auto before = judged_.find(one.subscription);
        auto told = one.told;
        if (before == judged_.end() || before->second != one.last) {
            const auto now = co_await judge(one, of);
            if (!now) {
                if (outcome) outcome = std::unexpected(now.error());
                continue;
            }
            told = std::max(told, *now);
        }
        judged.emplace(one.subscription, one.last);
        if (!of || of->of.state == subscription_state::disabled || told == 0 || told == 100)
            continue;
        if (troubled++ == 0) worst = of->of.url;
    }
    judged_ = std::move(judged);
    const std::scoped_lock lock(mutex_);
    troubled_ = troubled;
    worst_ = std::move(worst);
    co_return outcome;
}

// The level that was told of; 0 if there is none to tell of.
task<result<std::int32_t>> failing_watch::judge(const failing_endpoint& one,
                                                subscription_set::target of) {
    if (!of || of->of.state == subscription_state::disabled) {  // It will begin anew if at all.
        POSTHORN_CO_TRY(co_await commit(with_.where, [&](store_transaction& tx) {
            return forget_failing(tx, one.subscription);
        }));
        co_return 0;
    }
    std::int64_t backlog = 0;
    POSTHORN_CO_TRY(
        co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(waits, count_waiting(from, one.subscription, rules_.backlog));
            backlog = waits;
            return {};
        }));
    const auto level = next_alert(one.told, failing_percent(one, backlog, rules_));
    if (level > 0) POSTHORN_CO_TRY(co_await tell(one, of->of, level));
    co_return level;
}

// The alert, the level and the end of the subscription are one commit: told once, by one process.
task<result<>> failing_watch::tell(const failing_endpoint& one, const subscription& of,
                                   std::int32_t level) {
    std::vector<listed_attempt> attempts;
    POSTHORN_CO_TRY(
        co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(newest, read_attempts(from, {.subscription = of.id, .limit = 1}));
            attempts = std::move(newest);
            return {};
        }));
    const auto* const last = attempts.empty() ? nullptr : &attempts.front().body;
    using enum webhook_alert::kind;
    const auto alert = with_.alerts.make({.what = level == 100 ? disabled : failing,
                                          .of = &of,
                                          .percent = level,
                                          .since = one.since,
                                          .failures = one.failures,
                                          .last = last});
    const auto why = last_answer(last);
    const auto at = with_.env.clock.wall();
    bool told = false;
    POSTHORN_CO_TRY(co_await commit(with_.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(first, tell_failing(tx, one, level));
        told = first;
        if (!first) return {};
        if (alert) POSTHORN_TRY(tx.outbox().insert(*alert));
        if (level < 100) return {};
        POSTHORN_LET(found, find_subscription(tx, of.id));
        if (found && found->state != subscription_state::disabled) {
            found->state = subscription_state::disabled;
            found->reason = fmt::format("it did nothing but fail: {}", why);
            found->updated_at = at;
            POSTHORN_TRY(update_subscription(tx, *found));
        }
        return forget_failing(tx, of.id);
    }));
    if (!told) co_return result<>{};
    if (level < 100) {
        with_.env.log.warn(
            "Webhooks: {Url} of subscription {Subscription} does nothing but fail, and will be "
            "disabled; {Percent} % of the way there: {Error}",
            {{"Url", of.url},
             {"Subscription", of.id.to_string()},
             {"Percent", level},
             {"Error", why}});
        co_return result<>{};
    }
    ++disabled_;
    with_.env.log.warn(
        "Webhooks: subscription {Subscription} is disabled, since {Url} did nothing but fail: "
        "{Error}",
        {{"Subscription", of.id.to_string()}, {"Url", of.url}, {"Error", why}});
    POSTHORN_CO_TRY(co_await with_.subscriptions.refresh());
    co_return result<>{};
}

std::vector<health_worry> failing_watch::worries() const {
    const std::scoped_lock lock(mutex_);
    if (troubled_ == 0) return {};
    return {{.what = fmt::format("{} {} nothing but fail, such as {}; see 'posthorn webhooks list'",
                                 counted(static_cast<std::int64_t>(troubled_), "webhook"),
                                 troubled_ == 1 ? "does" : "do", worst_)}};
}

}  // namespace posthorn
