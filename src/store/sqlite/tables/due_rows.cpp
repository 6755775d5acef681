#include "store/sqlite/tables/due_rows.hpp"

#include <algorithm>
#include <utility>

#include "store/rows/stored_time.hpp"
#include "store/rules/fair_shares.hpp"

namespace posthorn::sqlite {
namespace {

constexpr std::size_t due_flows_max = 1'000;  // Of one look.

constexpr auto due_in_flow =
    joined("SELECT seq", in_flow, "AND next_retry_at <= ?4 ORDER BY next_retry_at, seq");

}  // namespace

due_rows::due_rows(connection& database) : walk_(database), seqs_(database, due_in_flow) {}

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

result<> due_rows::read(tenant_rows& into, std::size_t rows_max, const due_question& asked) {
    into.seqs.clear();
    for (const auto& one : into.flows) {
        POSTHORN_LET(due, seqs_.run(one.destination, one.tenant, one.priority, to_ms(asked.now)));
        for (;;) {
            POSTHORN_LET(row, due.next());
            if (row == nullptr) break;
            const auto seq = row->integer(0);
            if (std::ranges::binary_search(asked.held, seq)) continue;
            if (into.seqs.size() == rows_max) return {};
            into.seqs.push_back(seq);
        }
    }
    into.drained = true;
    return {};
}

// Of each what would be its equal share. While some have less than that, of the others more.
result<> due_rows::read_all(std::vector<tenant_rows>& tenants, const due_question& asked) {
    std::size_t total = 0;
    auto each = std::max<std::size_t>(asked.limit / tenants.size(), 1);
    for (bool again = true; again && total < asked.limit; each *= 2) {
        again = false;
        // Not all have a turn if there are more than rows; a second round is for all alike.
        for (std::size_t i = 0; i < tenants.size() && (each > 1 || total < asked.limit); ++i) {
            auto& one = tenants[(turn_ + i) % tenants.size()];
            if (one.drained) continue;
            total -= one.seqs.size();
            POSTHORN_TRY(read(one, each, asked));
            total += one.seqs.size();
            again |= !one.drained;
        }
    }
    return {};
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

}  // namespace posthorn::sqlite
