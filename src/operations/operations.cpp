#include "operations/operations.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace posthorn {
namespace {

// One look at one snapshot, whose value goes out past the callback.
template <class T, class Look>
result<T> look(store& where, Look ask) {
    std::optional<T> found;
    POSTHORN_TRY(where.read([&](store_reader& from) -> result<> {
        POSTHORN_LET(value, ask(from.inspect()));
        found.emplace(std::move(value));
        return {};
    }));
    return *std::move(found);
}

result<> count_all(store_inspector& from, bool sent, outbox_overview& into) {
    const auto count = [&from](outbox_status status, bounded_count& number) -> result<> {
        POSTHORN_LET(counted, from.count(status, admin_count_max));
        number = counted;
        return {};
    };
    POSTHORN_TRY(count(outbox_status::pending, into.pending));
    POSTHORN_TRY(count(outbox_status::dead, into.dead));
    POSTHORN_LET(messages, from.count_dead_messages(admin_count_max));
    into.dead_messages = messages;
    POSTHORN_TRY(count(outbox_status::expired, into.expired));
    POSTHORN_TRY(count(outbox_status::resolved, into.resolved));
    return sent ? count(outbox_status::sent, into.sent.emplace()) : result<>{};
}

void sum_up(outbox_overview& overview, wall_time now) {
    for (const auto& one : overview.backlog) {
        if (one.oldest)
            overview.oldest_age =
                std::max(overview.oldest_age,
                         std::chrono::duration_cast<std::chrono::milliseconds>(now - *one.oldest));
        if (one.undeliverable.value == 0) continue;
        if (overview.undeliverable.value == 0) {
            overview.undeliverable_error = one.undeliverable_error;
            overview.undeliverable_destination = one.destination;
        }
        overview.undeliverable.value += one.undeliverable.value;
        overview.undeliverable.at_least |= one.undeliverable.at_least;
    }
}

}  // namespace

std::vector<undeliverable_cause> undeliverable_causes(
    const std::vector<destination_backlog>& backlog) {
    constexpr std::size_t causes_max = 3;
    std::vector<undeliverable_cause> causes;
    for (const auto& one : backlog)
        if (one.undeliverable.value > 0)
            causes.push_back({one.destination, one.undeliverable_error, one.undeliverable});
    std::ranges::sort(causes, {}, [](const undeliverable_cause& one) {
        return std::pair(-one.count.value, std::string_view(one.destination));
    });
    if (causes.size() > causes_max) causes.resize(causes_max);
    return causes;
}

bounded_count waiting_in(const blocked_report& blocked) {
    bounded_count all{.value = 0, .at_least = blocked.more};
    for (const auto& one : blocked.keys) {
        all.value += one.waiting.value;
        all.at_least |= one.waiting.at_least;
    }
    return all;
}

result<outbox_overview> overview_outbox(store& where, wall_time now,
                                        const overview_options& options) {
    return look<outbox_overview>(where, [&](store_inspector& from) -> result<outbox_overview> {
        outbox_overview overview;
        POSTHORN_TRY(count_all(from, options.count_sent, overview));
        POSTHORN_LET(backlog, from.backlog(now, options.limits));
        overview.backlog = std::move(backlog.destinations);
        overview.more_destinations = backlog.more;
        POSTHORN_LET(blocked, from.blocked(options.blocked));
        overview.blocked = std::move(blocked);
        sum_up(overview, now);
        return overview;
    });
}

result<message_list> list_messages(store& where, const message_filter& wanted) {
    return look<message_list>(where, [&](store_inspector& from) { return from.list(wanted); });
}

result<message_detail> show_message(store& where, const uuid& id, bool with_payload) {
    return look<message_detail>(where, [&](store_inspector& from) -> result<message_detail> {
        POSTHORN_LET(found, from.show(id, with_payload));
        if (found) return *std::move(found);
        return fail(error_code::not_found,
                    "no message {} is in the outbox; it may have been purged after it was sent",
                    id.to_string());
    });
}

result<inbox_overview> overview_inbox(store& where, const inbox_traffic& traffic) {
    POSTHORN_LET(size, look<bounded_count>(where, [](store_inspector& from) {
                     return from.inbox_size(admin_count_max);
                 }));
    const auto came = traffic.processed + traffic.duplicates;
    return inbox_overview{
        .size = size,
        .processed = traffic.processed,
        .duplicates = traffic.duplicates,
        .duplicate_rate =
            came == 0 ? 0 : static_cast<double>(traffic.duplicates) / static_cast<double>(came)};
}

result<inbox_list> list_inbox(store& where, const inbox_filter& wanted) {
    return look<inbox_list>(where, [&](store_inspector& from) { return from.list(wanted); });
}

}  // namespace posthorn
