#include "webhook/fan_out.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/planted.hpp"
#include "message/event.hpp"
#include "store/async.hpp"
#include "webhook/webhook_ids.hpp"
#include "webhook/webhook_trace.hpp"

namespace posthorn {
namespace {

result<std::set<std::string, std::less<>>> known_among(store_transaction& tx,
                                                       const std::vector<message>& some) {
    std::vector<std::string> ids;
    std::string sql = "SELECT message_id FROM outbox_messages WHERE message_id IN (";
    for (const auto& each : some) {
        sql += ids.empty() ? "?" : ", ?";
        ids.push_back(each.id.to_string());
    }
    sql += ")";
    std::vector<sql_param> with;
    for (const auto& each : ids) with.emplace_back(std::string_view(each));
    std::set<std::string, std::less<>> known;
    POSTHORN_TRY(tx.query(sql, with, [&](const sql_row& row) { known.emplace(row.text(0)); }));
    return known;
}

delivery not_yet(const error& why) {
    // The event has not failed: the store has.
    return {.what = outcome::unanswered, .error = why.what()};
}

void mark(std::vector<delivery>& answers, std::size_t first, std::size_t last, const error& why) {
    for (auto i = first; i <= last; ++i) answers[i] = not_yet(why);
}

}  // namespace

webhook_event event_of(const message& published) {
    return {.id = published.id,
            .type = published.endpoint,
            .payload = published.payload,
            .content_type = published.content_type,
            .entity = entity_of(published.order_key),
            .correlation_id = published.correlation_id,
            .at = published.created_at};
}

message make_delivery(const message& event, const subscription& to, const delivery_terms& terms) {
    message made;
    made.id = child_id(event.id, to.id);
    made.source = terms.source;
    made.destination = destination_of(to.id);
    made.endpoint = event.endpoint;
    made.content_type = reference_content_type;
    made.correlation_id = event.correlation_id;
    made.tenant = event.tenant;
    made.order_key = event.order_key;
    made.parent_id = event.id;
    made.causation_id = event.id;
    made.priority = event.priority;
    made.max_retries = std::min(to.max_retries, terms.retries_max);
    made.created_at = terms.now;
    made.expires_at = terms.now + terms.life;
    return made;
}

std::vector<message> fan_out::children_of(const message& published, const subscription_set& among) {
    std::vector<message> children;
    const auto now = with_.env.clock.wall();
    const auto event = std::make_shared<const webhook_event>(event_of(published));
    const auto heard_by = among.of(*event, published.tenant);
    if (!heard_by.empty()) with_.events.add(event);
    for (const auto& each : heard_by)
        children.push_back(make_delivery(
            published, each->of,
            {with_.maker.defaults().source, now, options_.life, options_.retries_max}));
    return children;
}

void fan_out::tell_of(const message& event, std::size_t children) {
    ++with_.counters.events;
    if (children == 0) {
        ++with_.counters.unheard;
        with_.by_type.note(event.endpoint, &type_counts::counts::processed);
    }
    with_.counters.deliveries += children;
    if (children >= options_.warn_from)
        with_.env.log.warn(
            "Webhooks: event {Event} of type {Type} goes to {Count} endpoints",
            {{"Event", event.id.to_string()}, {"Type", event.endpoint}, {"Count", children}});
}

// Once for each, as long as there are not too many of them.
void fan_out::tell_of_left_out(const std::string& tenant) {
    constexpr std::size_t told_max = 1'000;
    if (left_out_.size() >= told_max || !left_out_.insert(tenant).second) return;
    with_.env.log.warn(
        "Webhooks: there is no entry for the tenant '{Tenant}' under webhooks.subscribers, and "
        "none for the tenant 'default'; no configured endpoint is told of its events",
        {{"Tenant", tenant}});
}

task<result<>> fan_out::store_children(std::vector<message> some) {
    // It may run twice, so it gives nothing away.
    co_return co_await commit(with_.where, [&some](store_transaction& tx) -> result<> {
        POSTHORN_LET(known, known_among(tx, some));
        for (const auto& child : some)
            if (!known.contains(child.id.to_string())) POSTHORN_TRY(tx.outbox().insert(child));
        return {};
    });
}

task<std::vector<delivery>> fan_out::deliver(message_batch batch) {
    fan_out_trace trace(tracing(with_.env.traces), batch);
    auto answers = co_await deliver_traced(batch, trace);
    trace.end(answers);
    co_return answers;
}

task<std::vector<delivery>> fan_out::deliver_traced(const message_batch& batch,
                                                    fan_out_trace& trace) {
    std::vector<delivery> answers(batch.size(), {.what = outcome::delivered});
    const auto among = co_await with_.subscriptions.refresh();
    if (!among) {
        std::ranges::fill(answers, not_yet(among.error()));
        co_return answers;
    }
    std::vector<message> waiting;  // Children of several events share a commit.
    std::size_t first = 0;         // The first event that has some there.
    for (std::size_t i = 0; i < batch.size(); ++i) {
        auto children = children_of(*batch[i], **among);
        tell_of(*batch[i], children.size());
        trace.note(i, children.size());
        for (auto& child : children) child.headers = trace.headers_of_children(i);
        if ((*among)->leaves_out(batch[i]->tenant)) tell_of_left_out(batch[i]->tenant);
        for (std::size_t next = 0; next < children.size();) {
            while (next < children.size() && waiting.size() < options_.children_in_unit)
                waiting.push_back(std::move(children[next++]));
            if (waiting.size() < options_.children_in_unit) break;
            const auto stored = co_await store_children(std::exchange(waiting, {}));
            if (!stored) mark(answers, first, i, stored.error());
            first = i;
        }
    }
    if (!waiting.empty()) {
        const auto stored = co_await store_children(std::move(waiting));
        if (!stored && !POSTHORN_PLANTED(sent_before_the_last_slice))
            mark(answers, first, batch.size() - 1, stored.error());
    }
    co_return answers;
}

}  // namespace posthorn
