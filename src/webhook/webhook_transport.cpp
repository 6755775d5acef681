#include "webhook/webhook_transport.hpp"

#include <utility>

#include <fmt/format.h>

#include "message/event.hpp"
#include "store/async.hpp"
#include "webhook/fan_out.hpp"
#include "webhook/webhook_ids.hpp"
#include "webhook/webhook_trace.hpp"

namespace posthorn {
namespace {

delivery give_up(std::string why) { return {.what = outcome::permanent, .error = std::move(why)}; }

struct attempt_facts {
    std::int32_t number = 0;
    std::int32_t retries_max = 0;
    wall_time at{};
};

webhook_attempt describe(const webhook_event& event, const subscription& to,
                         const attempt_facts& attempt, const guarded_answer& answer,
                         const webhook_verdict& verdict) {
    using enum webhook_attempt::state;
    webhook_attempt made{.id = delivery_id(event.id, to.id, attempt.number),
                         .event = event.id,
                         .subscription = to.id,
                         .number = attempt.number,
                         .answer = answer.body,
                         .error = verdict.for_subscriber,
                         .at = attempt.at};
    made.took_ms = std::chrono::duration_cast<std::chrono::milliseconds>(answer.took.whole).count();
    if (answer.status != 0) made.http_status = answer.status;
    if (verdict.what.what == outcome::delivered)
        made.what = success;
    else if (ends_delivery(verdict.what.what, attempt.number, attempt.retries_max))
        made.what = dead;
    return made;
}

}  // namespace

task<std::vector<delivery>> webhook_transport::deliver(message_batch batch) {
    std::vector<std::int32_t> none(batch.size(), 0);
    co_return co_await deliver_again(std::move(batch), std::move(none));
}

task<std::vector<delivery>> webhook_transport::deliver_again(message_batch batch,
                                                             std::vector<std::int32_t> failed) {
    std::vector<delivery> answers;
    for (std::size_t i = 0; i < batch.size(); ++i)
        answers.push_back(co_await deliver_one(*batch[i], failed[i] + 1));
    co_return answers;
}

task<delivery> webhook_transport::deliver_one(const message& child, std::int32_t attempt) {
    const auto id = subscription_of(child.destination);
    const auto all = co_await with_.subscriptions.recent();
    if (!all) co_return delivery{.what = outcome::unanswered, .error = all.error().what()};
    auto to = id ? (*all)->find(*id) : nullptr;
    if (id && !to) {  // It may be newer than what is known here.
        auto fresh = co_await with_.subscriptions.refresh();
        if (!fresh) co_return delivery{.what = outcome::unanswered, .error = fresh.error().what()};
        to = (*fresh)->find(*id);
    }
    if (!to) co_return give_up("its subscription is gone");
    if (to->of.state == subscription_state::disabled)
        co_return give_up("its subscription is disabled; enable it, then recover what it missed");
    to = co_await with_.secrets.apply(std::move(to));
    if (!to->trouble.empty())
        co_return delivery{.what = outcome::undeliverable, .error = to->trouble};
    const auto event = co_await event_for(child);
    if (!event) {
        if (event.error().code() == error_code::not_found) co_return give_up(event.error().what());
        co_return delivery{.what = outcome::unanswered, .error = event.error().what()};
    }
    const auto now = with_.env.clock.wall();
    webhook_trace trace(tracing(with_.env.traces), child);
    auto request = make_webhook_request(**event, *to, attempt, now);
    trace.add_to(request);
    const auto answer = co_await with_.client.send(std::move(request),
                                                   {.tenant = child.tenant, .endpoint = to->of.id});
    auto verdict = judge_webhook(answer);
    trace.end({.event = **event,
               .to = to->of,
               .attempt = attempt,
               .answer = answer,
               .delivered = verdict.what.what == outcome::delivered});
    if (verdict.what.what == outcome::unanswered) co_return verdict.what;
    with_.attempts.add(
        describe(**event, to->of, {attempt, child.max_retries, now}, answer, verdict));
    count(**event, verdict, answer, ends_delivery(verdict.what.what, attempt, child.max_retries));
    if (verdict.disables) co_await disable(to->of, verdict.what.error);
    co_return verdict.what;
}

void webhook_transport::count(const webhook_event& event, const webhook_verdict& verdict,
                              const guarded_answer& answer, bool is_last) {
    using counts = type_counts::counts;
    const bool delivered = verdict.what.what == outcome::delivered;
    const auto took_us = static_cast<std::uint64_t>(answer.took.whole.count());
    ++(delivered ? with_.counters.delivered : with_.counters.failed);
    with_.counters.took_us.record(took_us);
    auto& of_type = with_.by_type;
    of_type.note(event.type, delivered ? &counts::delivered : &counts::failed);
    of_type.note(event.type, delivered ? &counts::processed
                             : is_last ? &counts::dead
                                       : &counts::retried);
    if (answer.status != 0) of_type.note_answer(event.type, took_us);
}

task<result<event_cache::event>> webhook_transport::event_for(const message& child) {
    if (!child.payload.empty() || !child.parent_id) {  // It was edited, or written by hand.
        auto own = event_of(child);
        own.id = child.parent_id.value_or(child.id);
        co_return std::make_shared<const webhook_event>(std::move(own));
    }
    if (auto known = with_.events.find(*child.parent_id)) co_return known;
    std::optional<outbox_row> found;
    POSTHORN_CO_TRY(
        co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(row, from.outbox().find(*child.parent_id));
            found = std::move(row);
            return {};
        }));
    if (!found)
        co_return fail(error_code::not_found, "event {} is past its retention",
                       child.parent_id->to_string());
    auto read_now = std::make_shared<const webhook_event>(event_of(found->body));
    with_.events.add(read_now);
    co_return read_now;
}

task<> webhook_transport::disable(const subscription& one, std::string why) {
    const auto at = with_.env.clock.wall();
    // One of the configuration has no row, and another answer may have come first.
    bool is_new = false;
    const auto done = co_await commit(with_.where, [&](store_transaction& tx) -> result<> {
        is_new = false;
        POSTHORN_LET(found, find_subscription(tx, one.id));
        if (!found || found->state == subscription_state::disabled || found->url != one.url)
            return {};
        found->state = subscription_state::disabled;
        found->reason = "its endpoint answered: " + why;
        found->updated_at = at;
        POSTHORN_TRY(update_subscription(tx, *found));
        is_new = true;
        return {};
    });
    if (!done || !is_new) co_return;
    ++with_.counters.disabled;
    with_.env.log.warn("Webhooks: subscription {Subscription} is disabled: {Error}",
                       {{"Subscription", one.id.to_string()}, {"Error", why}});
    static_cast<void>(co_await with_.subscriptions.refresh());
}

}  // namespace posthorn
