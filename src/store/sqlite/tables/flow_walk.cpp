#include "store/sqlite/tables/flow_walk.hpp"

#include <utility>

namespace posthorn::sqlite {
namespace {

constexpr auto flow_head = joined(R"sql(
    SELECT destination, coalesce(tenant, ''), priority, next_retry_at
    FROM outbox_messages INDEXED BY idx_outbox_status_retry
    WHERE status = 'Pending')sql");
constexpr auto head_from_destination = joined(flow_head, R"sql(
    AND destination >= ?1
    ORDER BY destination, coalesce(tenant, ''), priority, next_retry_at LIMIT 1)sql");
constexpr auto head_from_tenant = joined(flow_head, R"sql(
    AND destination = ?1 AND coalesce(tenant, '') >= ?2
    ORDER BY coalesce(tenant, ''), priority, next_retry_at LIMIT 1)sql");
constexpr auto head_after_priority = joined(flow_head, R"sql(
    AND destination = ?1 AND coalesce(tenant, '') = ?2 AND priority > ?3
    ORDER BY priority, next_retry_at LIMIT 1)sql");

// No text lies between a text and this one.
std::string just_after(std::string_view text) {
    std::string next(text);
    next.push_back('\0');
    return next;
}

std::optional<flow> read_flow(const rows& found) {
    // Bytes come after all texts.
    if (found.empty() || found.front().kind(0) != sql_kind::text) return std::nullopt;
    const auto& row = found.front();
    return flow{.destination = std::string(row.text(0)),
                .tenant = std::string(row.text(1)),
                .priority = row.integer(2),
                .first_ms = row.integer(3)};
}

}  // namespace

flow_walk::flow_walk(connection& database)
    : from_destination_(database, head_from_destination),
      from_tenant_(database, head_from_tenant),
      after_priority_(database, head_after_priority) {}

result<std::optional<flow>> flow_walk::from_destination(std::string_view name) {
    POSTHORN_LET(found, from_destination_.run(name));
    return read_flow(found);
}

result<std::optional<flow>> flow_walk::from_tenant(std::string_view destination,
                                                   std::string_view tenant) {
    POSTHORN_LET(found, from_tenant_.run(destination, tenant));
    return read_flow(found);
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
        POSTHORN_LET(found, after_priority_.run(after.destination, after.tenant, after.priority));
        if (auto lower = read_flow(found)) return lower;
    }
    return from_tenant(after.destination, just_after(after.tenant));
}

result<std::vector<std::string>> flow_walk::destinations(std::size_t limit) {
    std::vector<std::string> names;
    for (auto at = first();; at = next_destination(names.back())) {
        if (!at) return std::unexpected(std::move(at).error());
        if (!*at || names.size() == limit) return names;
        names.push_back((*at)->destination);
    }
}

result<> flow_walk::go_round(std::optional<std::string_view> destination,
                             std::optional<flow>& resume, const flow_visitor& visit) {
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
        if (then == flow_step::stop || seen >= flows_max) {
            resume = **at;
            return {};
        }
        at = then == flow_step::on ? after(**at) : next_destination((*at)->destination);
    }
}

}  // namespace posthorn::sqlite
