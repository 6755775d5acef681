#include "webhook/fan_out.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "message/event.hpp"
#include "store/async.hpp"
#include "webhook/webhook_ids.hpp"

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

std::vector<message> fan_out::children_of(const message& event,
                                          const subscription_set& among) const {
    std::vector<message> children;
    const auto now = with_.env.clock.wall();
    for (const auto& each : among.of(event_of(event), event.tenant)) {
        message child;
        child.id = child_id(event.id, each->of.id);
        child.source = with_.maker.defaults().source;
        child.destination = destination_of(each->of.id);
        child.endpoint = event.endpoint;
        child.content_type = reference_content_type;
        child.correlation_id = event.correlation_id;
        child.tenant = event.tenant;
        child.order_key = event.order_key;
        child.parent_id = event.id;
        child.causation_id = event.id;
        child.priority = event.priority;
        child.max_retries = each->of.max_retries;
        child.created_at = now;
        child.expires_at = now + options_.life;
        children.push_back(std::move(child));
    }
    return children;
}

void fan_out::tell_of(const message& event, std::size_t children) {
    ++with_.counters.events;
    if (children == 0) ++with_.counters.unheard;
    with_.counters.deliveries += children;
    if (children >= options_.warn_from)
        with_.env.log.warn(
            "Webhooks: event {Event} of type {Type} goes to {Count} endpoints",
            {{"Event", event.id.to_string()}, {"Type", event.endpoint}, {"Count", children}});
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
        if (!stored) mark(answers, first, batch.size() - 1, stored.error());
    }
    co_return answers;
}

}  // namespace posthorn
