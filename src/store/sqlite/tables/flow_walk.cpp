#include "store/sqlite/tables/flow_walk.hpp"

#include <tuple>
#include <utility>

#include "store/sqlite/driver/prepare_all.hpp"

namespace posthorn::sqlite {
namespace {

#define POSTHORN_FLOW_HEAD                                              \
    "SELECT destination, coalesce(tenant, ''), priority, next_retry_at" \
    " FROM outbox_messages INDEXED BY idx_outbox_status_retry WHERE status = 'Pending'"

// No text lies between a text and this one.
std::string just_after(std::string_view text) {
    std::string next(text);
    next.push_back('\0');
    return next;
}

bool is_past(const flow& one, const flow& mark) {
    return std::tie(one.destination, one.tenant, one.priority) >
           std::tie(mark.destination, mark.tenant, mark.priority);
}

result<std::optional<flow>> read_flow(statement& from) {
    POSTHORN_LET(row, from.step());
    // Bytes come after all texts.
    if (!row || from.kind(0) != sql_kind::text) return std::nullopt;
    return flow{.destination = std::string(from.text(0)),
                .tenant = std::string(from.text(1)),
                .priority = from.integer(2),
                .first_ms = from.integer(3)};
}

}  // namespace

void bind_flow(statement& to, const flow& which) {
    to.bind(1, std::string_view(which.destination));
    to.bind(2, std::string_view(which.tenant));
    to.bind(3, which.priority);
}

result<flow_walk> flow_walk::open(connection& database) {
    flow_walk walk;
    POSTHORN_TRY(prepare_all(
        database, {{&walk.from_destination_, POSTHORN_FLOW_HEAD
                    " AND destination >= ?1"
                    " ORDER BY destination, coalesce(tenant, ''), priority, next_retry_at"
                    " LIMIT 1"},
                   {&walk.from_tenant_, POSTHORN_FLOW_HEAD
                    " AND destination = ?1 AND coalesce(tenant, '') >= ?2"
                    " ORDER BY coalesce(tenant, ''), priority, next_retry_at LIMIT 1"},
                   {&walk.after_priority_, POSTHORN_FLOW_HEAD
                    " AND destination = ?1 AND coalesce(tenant, '') = ?2"
                    " AND priority > ?3 ORDER BY priority, next_retry_at LIMIT 1"}}));
    return walk;
}

result<std::optional<flow>> flow_walk::from_destination(std::string_view name) {
    const reset_at_end reset(from_destination_);
    from_destination_.bind(1, name);
    return read_flow(from_destination_);
}

result<std::optional<flow>> flow_walk::from_tenant(std::string_view destination,
                                                   std::string_view tenant) {
    const reset_at_end reset(from_tenant_);
    from_tenant_.bind(1, destination);
    from_tenant_.bind(2, tenant);
    return read_flow(from_tenant_);
}

result<std::optional<flow>> flow_walk::first() { return from_destination(""); }

result<std::optional<flow>> flow_walk::next(const flow& after) {
    auto same = next_of_same(after);
    if (!same || *same) return same;
    return next_destination(after.destination);
}

result<std::optional<flow>> flow_walk::next_destination(std::string_view after) {
    return from_destination(just_after(after));
}

result<std::optional<flow>> flow_walk::first_of(std::string_view destination) {
    return from_tenant(destination, "");
}

result<std::optional<flow>> flow_walk::next_of_same(const flow& after) {
    {
        const reset_at_end reset(after_priority_);
        bind_flow(after_priority_, after);
        auto lower = read_flow(after_priority_);
        if (!lower || *lower) return lower;
    }
    return from_tenant(after.destination, just_after(after.tenant));
}

result<> flow_walk::go_round(std::optional<std::string_view> destination,
                             std::optional<flow>& resume, const visitor& visit) {
    constexpr std::size_t flows_max = 10'000;
    const auto top = [&] { return destination ? first_of(*destination) : first(); };
    const auto after = [&](const flow& last) {
        return destination ? next_of_same(last) : next(last);
    };
    const auto mark = std::exchange(resume, std::nullopt);
    bool from_top = !mark;
    auto at = mark ? after(*mark) : top();
    for (std::size_t seen = 0;; ++seen) {
        if (!at) return std::unexpected(std::move(at).error());
        if (!*at && !from_top) {  // Round the end, to where it began.
            from_top = true;
            at = top();
            continue;
        }
        if (!*at || (from_top && mark && is_past(**at, *mark))) return {};
        const auto then = visit(**at);
        if (then == step::stop || seen >= flows_max) {
            resume = **at;
            return {};
        }
        at = then == step::on ? after(**at) : next_destination((*at)->destination);
    }
}

}  // namespace posthorn::sqlite
