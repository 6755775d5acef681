#include "store/postgres/tables/due_rows.hpp"

#include <algorithm>

#include "store/postgres/tables/outbox_claims.hpp"
#include "store/postgres/tables/outbox_rows.hpp"

namespace posthorn::postgres {
namespace {

template <class Also, class Order, class Locking>
consteval auto due_by_tenant(const Also& also, const Order& order, const Locking& locking) {
    return joined(R"sql(
    SELECT f.tenant_number, d.seq
    FROM unnest($2::text[], $3::bigint[], $4::bigint[])
            WITH ORDINALITY AS f(tenant, priority, tenant_number, place),
        LATERAL (SELECT seq, next_retry_at FROM {s}.outbox_due AS d
            WHERE d.destination = $1 AND d.tenant = f.tenant AND d.priority = f.priority
              AND d.next_retry_at <= $5 AND d.seq <> ALL ($6::bigint[]))sql",
                  also, " ORDER BY ", order, " LIMIT $7", locking, R"sql() AS d
    ORDER BY f.place, )sql",
                  order);
}
constexpr auto oldest = joined("d.next_retry_at, d.seq");
constexpr auto newest = joined("d.next_retry_at DESC, d.seq DESC");
constexpr auto if_unclaimed = joined(" AND ", is_unclaimed("$8"));
constexpr auto due_of_tenants = due_by_tenant("", oldest, "");
constexpr auto newest_of_tenants = due_by_tenant("", newest, "");
constexpr auto unclaimed_of_tenants =
    due_by_tenant(if_unclaimed, oldest, " FOR UPDATE SKIP LOCKED");
constexpr auto newest_unclaimed_of_tenants =
    due_by_tenant(if_unclaimed, newest, " FOR UPDATE SKIP LOCKED");

}  // namespace

due_rows::due_rows(connection& database, flow_source& flows)
    : due_choice(flows),
      seqs_(database, due_of_tenants),
      newest_(database, newest_of_tenants),
      unclaimed_(database, unclaimed_of_tenants),
      newest_unclaimed_(database, newest_unclaimed_of_tenants) {}

result<> due_rows::read(std::span<tenant_rows* const> tenants, std::size_t rows_max,
                        const due_question& asked) {
    std::vector<std::string> names;
    std::vector<std::int64_t> priorities, numbers;
    for (std::size_t i = 0; i < tenants.size(); ++i) {
        tenants[i]->seqs.clear();
        for (const auto& one : tenants[i]->flows) {
            names.push_back(one.tenant);
            priorities.push_back(one.priority);
            numbers.push_back(static_cast<std::int64_t>(i));
        }
    }
    const auto limit = static_cast<std::int64_t>(rows_max + 1);
    auto& claiming = asked.newest_first ? newest_unclaimed_ : unclaimed_;
    auto& looking = asked.newest_first ? newest_ : seqs_;
    POSTHORN_LET(found, claimer_ ? claiming.run(asked.destination, names, priorities, numbers,
                                                to_ms(asked.now), asked.held, limit, *claimer_)
                                 : looking.run(asked.destination, names, priorities, numbers,
                                               to_ms(asked.now), asked.held, limit));
    for (int i = 0; i < found.size(); ++i) {
        const auto row = found[i];
        tenants[static_cast<std::size_t>(row.integer(0))]->seqs.push_back(row.integer(1));
    }
    for (auto* one : tenants) {
        one->drained = one->seqs.size() <= rows_max;
        if (!one->drained) one->seqs.resize(rows_max);
    }
    return {};
}

result<chosen_rows> due_rows::choose_unclaimed(const due_question& asked, std::int64_t epoch) {
    claimer_ = epoch;
    auto chosen = choose(asked);
    claimer_.reset();
    return chosen;
}

}  // namespace posthorn::postgres
