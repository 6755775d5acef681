#include "store/postgres/tables/due_rows.hpp"

#include <algorithm>
#include <utility>

#include "store/postgres/tables/outbox_claims.hpp"
#include "store/postgres/tables/outbox_rows.hpp"
#include "store/rules/fair_shares.hpp"

namespace posthorn::postgres {
namespace {

constexpr std::size_t due_flows_max = 1'000;  // Of one look.

#define POSTHORN_PG_DUE(also, locking)                                                            \
    "SELECT f.tenant_number, d.seq FROM unnest($2::text[], $3::bigint[], $4::bigint[])"           \
    " WITH ORDINALITY AS f(tenant, priority, tenant_number, place), LATERAL (SELECT seq,"         \
    " next_retry_at FROM {s}.outbox_due AS d WHERE d.destination = $1 AND d.tenant = f.tenant"    \
    " AND d.priority = f.priority AND d.next_retry_at <= $5 AND d.seq <> ALL ($6::bigint[])" also \
    " ORDER BY d.next_retry_at, d.seq LIMIT $7" locking                                           \
    ") AS d ORDER BY f.place, d.next_retry_at, d.seq"

}  // namespace

due_rows::due_rows(connection& database)
    : walk_(database),
      seqs_(database.prepare(POSTHORN_PG_DUE("", ""))),
      unclaimed_(database.prepare(
          POSTHORN_PG_DUE(" AND " POSTHORN_PG_UNCLAIMED("$8"), " FOR UPDATE SKIP LOCKED"))) {}

result<due_rows::flows_found> due_rows::find_flows(const due_question& asked) {
    flows_found found;
    std::size_t due = 0;
    const auto visit = [&](const flow& one) {
        if (one.first_ms > to_ms(asked.now)) return flow_walk::step::on;
        if (found.tenants.empty() || found.tenants.back().flows.front().tenant != one.tenant)
            found.tenants.emplace_back();
        auto& flows = found.tenants.back().flows;
        flows.insert(flows.begin(), one);  // They come with the lowest priority first.
        return ++due < due_flows_max ? flow_walk::step::on : flow_walk::step::stop;
    };
    std::optional<flow> resume;
    if (auto place = resume_after_.extract(std::string(asked.destination)); !place.empty())
        resume = std::move(place.mapped());
    POSTHORN_TRY(walk_.go_round(asked.destination, resume, visit));
    found.cut_short = resume.has_value();
    if (resume) resume_after_.emplace(asked.destination, *std::move(resume));
    return found;
}

result<> due_rows::read(const std::vector<tenant_rows*>& tenants, std::size_t rows_max,
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
    POSTHORN_LET(found, claimer_ ? unclaimed_.run(asked.destination, names, priorities, numbers,
                                                  to_ms(asked.now), asked.held, limit, *claimer_)
                                 : seqs_.run(asked.destination, names, priorities, numbers,
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

// Of each what would be its equal share. While some have less than that, of the others more.
result<> due_rows::read_all(std::vector<tenant_rows>& tenants, const due_question& asked) {
    std::size_t total = 0;
    auto each = std::max<std::size_t>(asked.limit / tenants.size(), 1);
    for (bool again = true; again && total < asked.limit; each *= 2) {
        std::vector<tenant_rows*> asked_of;
        for (std::size_t i = 0; i < tenants.size(); ++i) {
            // Not all have a turn if there are more than rows; a second round is for all alike.
            if (each == 1 && asked_of.size() >= asked.limit) break;
            auto& one = tenants[(turn_ + i) % tenants.size()];
            if (one.drained) continue;
            total -= one.seqs.size();
            asked_of.push_back(&one);
        }
        if (asked_of.empty()) return {};
        POSTHORN_TRY(read(asked_of, each, asked));
        again = false;
        for (const auto* one : asked_of) {
            total += one->seqs.size();
            again |= !one->drained;
        }
        again |= asked_of.size() < tenants.size() && each == 1;
    }
    return {};
}

result<due_rows::choice> due_rows::choose_unclaimed(const due_question& asked, std::int64_t epoch) {
    claimer_ = epoch;
    auto chosen = choose(asked);
    claimer_.reset();
    return chosen;
}

result<due_rows::choice> due_rows::choose(const due_question& asked) {
    choice chosen;
    POSTHORN_LET(found, find_flows(asked));
    auto& tenants = found.tenants;
    if (tenants.empty() || asked.limit == 0) return chosen;
    POSTHORN_TRY(read_all(tenants, asked));

    std::vector<std::size_t> wants;
    for (const auto& one : tenants) wants.push_back(one.seqs.size());
    const auto shares = fair_shares(wants, asked.limit, turn_ % tenants.size());
    turn_ += asked.limit < tenants.size() ? asked.limit : 1;
    for (std::size_t row = 0; row < std::ranges::max(shares); ++row)
        for (std::size_t i = 0; i < tenants.size(); ++i)
            if (row < shares[i]) chosen.seqs.push_back(tenants[i].seqs[row]);
    for (std::size_t i = 0; i < tenants.size(); ++i)
        chosen.more |= !tenants[i].drained || shares[i] < wants[i];
    chosen.more |= found.cut_short && !chosen.seqs.empty();
    return chosen;
}

}  // namespace posthorn::postgres
