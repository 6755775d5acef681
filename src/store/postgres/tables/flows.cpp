#include "store/postgres/tables/flows.hpp"

#include <utility>

#include "base/text/joined.hpp"

namespace posthorn::postgres {
namespace {

constexpr std::int64_t flows_max = 10'000;

// Each step looks up the next flow in the index, rather than reading through the rows of one.
template <class Columns, class First, class Next, class Order>
consteval auto walk_flows(const Columns& columns, const First& where_first, const Next& where_next,
                          const Order& order) {
    return joined("WITH RECURSIVE walk AS ((SELECT ", columns,
                  ", next_retry_at FROM {s}.outbox_due AS d WHERE ", where_first, " ORDER BY ",
                  order, R"sql(, next_retry_at LIMIT 1)
    UNION ALL SELECT n.* FROM walk AS w, LATERAL (SELECT )sql",
                  columns, ", next_retry_at FROM {s}.outbox_due AS d WHERE ", where_next,
                  " ORDER BY ", order, R"sql(, next_retry_at LIMIT 1) AS n)
    SELECT * FROM walk LIMIT $1)sql");
}

constexpr auto after_last =
    joined("(d.destination, d.tenant, d.priority) > (w.destination, w.tenant, w.priority)");
constexpr auto of_destination = joined("d.destination = $2::text");
constexpr auto after_last_of_destination =
    joined(of_destination, " AND (d.tenant, d.priority) > (w.tenant, w.priority)");

constexpr auto walk_all = walk_flows("destination, tenant, priority", "true", after_last,
                                     "destination, tenant, priority");
constexpr auto walk_all_after =
    walk_flows("destination, tenant, priority",
               "(d.destination, d.tenant, d.priority) > ($2::text, $3::text, $4::bigint)",
               after_last, "destination, tenant, priority");
constexpr auto walk_one = walk_flows("destination, tenant, priority", of_destination,
                                     after_last_of_destination, "tenant, priority");
constexpr auto walk_one_after =
    walk_flows("destination, tenant, priority",
               joined(of_destination, " AND (d.tenant, d.priority) > ($3::text, $4::bigint)"),
               after_last_of_destination, "tenant, priority");
constexpr auto walk_names =
    joined("SELECT destination FROM (",
           walk_flows("destination", "true", "d.destination > w.destination", "destination"),
           R"sql() AS due
    UNION SELECT destination COLLATE "C" FROM {s}.arrivals() WHERE status = 'Pending'
    ORDER BY 1 LIMIT $1)sql");

}  // namespace

flow_walk::flow_walk(connection& database)
    : all_(database, walk_all),
      all_after_(database, walk_all_after),
      of_one_(database, walk_one),
      of_one_after_(database, walk_one_after),
      names_(database, walk_names) {}

result<std::vector<flow>> flow_walk::after(std::optional<std::string_view> destination,
                                           const std::optional<flow>& mark) {
    const auto limit = flows_max + 1;
    POSTHORN_LET(
        found, destination
                   ? (mark ? of_one_after_.run(limit, *destination, mark->tenant, mark->priority)
                           : of_one_.run(limit, *destination))
                   : (mark ? all_after_.run(limit, mark->destination, mark->tenant, mark->priority)
                           : all_.run(limit)));
    std::vector<flow> all;
    for (int i = 0; i < found.size(); ++i) {
        const auto row = found[i];
        all.push_back({.destination = std::string(row.text(0)),
                       .tenant = std::string(row.text(1)),
                       .priority = row.integer(2),
                       .first_ms = row.integer(3)});
    }
    return all;
}

result<> flow_walk::go_round(std::optional<std::string_view> destination,
                             std::optional<flow>& resume, const flow_visitor& visit) {
    const auto mark = std::exchange(resume, std::nullopt);
    std::int64_t seen = 0;
    // From the mark to the end, then from the top to the mark.
    for (const bool from_top : {false, true}) {
        if (!mark && !from_top) continue;
        POSTHORN_LET(flows, after(destination, from_top ? std::nullopt : mark));
        for (const auto& one : flows) {
            if (from_top && mark && is_past(one, *mark)) return {};
            if (visit(one) == flow_step::stop || ++seen > flows_max) {
                resume = one;
                return {};
            }
        }
    }
    return {};
}

result<std::vector<std::string>> flow_walk::destinations(std::size_t limit) {
    POSTHORN_LET(found, names_.run(static_cast<std::int64_t>(limit)));
    std::vector<std::string> names;
    for (int i = 0; i < found.size(); ++i) names.emplace_back(found[i].text(0));
    return names;
}

}  // namespace posthorn::postgres
