#include "store/rules/due_choice.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "store/rows/stored_time.hpp"
#include "store/rules/fair_shares.hpp"

namespace posthorn {
namespace {

constexpr std::size_t due_flows_max = 1'000;                    // Of one look.
constexpr std::size_t names_bytes_max = std::size_t{16} << 20;  // The same, if they are long.

}  // namespace

result<due_choice::flows_found> due_choice::find_flows(const due_question& asked) {
    flows_found found;
    std::size_t due = 0, bytes = 0;
    const auto visit = [&](const flow& one) {
        if (one.first_ms > to_ms(asked.now)) return flow_step::on;
        if (!asked.tenant.empty() && one.tenant != asked.tenant) return flow_step::on;
        if (found.tenants.empty() || found.tenants.back().flows.front().tenant != one.tenant)
            found.tenants.emplace_back();
        auto& of_tenant = found.tenants.back().flows;
        of_tenant.insert(of_tenant.begin(), one);  // They come with the lowest priority first.
        bytes += one.destination.size() + one.tenant.size();
        return ++due < due_flows_max && bytes < names_bytes_max ? flow_step::on : flow_step::stop;
    };
    std::optional<flow> resume;
    if (auto place = resume_after_.extract(std::string(asked.destination)); !place.empty())
        resume = std::move(place.mapped());
    POSTHORN_TRY(flows_.go_round(asked.destination, resume, visit));
    found.cut_short = resume.has_value();
    if (resume) resume_after_.emplace(asked.destination, *std::move(resume));
    return found;
}

// Of each tenant what would be its equal share of the page, and while some have less than that, of
// the others more. Not all have a turn if there are more tenants than rows; a second round is for
// all alike.
result<> due_choice::read_all(std::vector<tenant_rows>& tenants, const due_question& asked) {
    std::size_t total = 0;
    auto each = std::max<std::size_t>(asked.limit / tenants.size(), 1);
    for (bool again = true; again && total < asked.limit; each *= 2) {
        again = false;
        const auto is_enough = [&](std::size_t more) {
            return each == 1 && total + more >= asked.limit;
        };
        for (std::size_t i = 0; i < tenants.size() && !is_enough(0);) {
            std::vector<tenant_rows*> some;
            for (; i < tenants.size() && some.size() < tenants_at_once() && !is_enough(some.size());
                 ++i) {
                auto& one = tenants[(turn_ + i) % tenants.size()];
                if (one.drained) continue;
                total -= one.seqs.size();
                some.push_back(&one);
            }
            if (!some.empty()) POSTHORN_TRY(read(some, each, asked));
            for (const auto* one : some) {
                total += one->seqs.size();
                again |= !one->drained;
            }
        }
    }
    return {};
}

result<chosen_rows> due_choice::choose(const due_question& asked) {
    chosen_rows chosen;
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

result<std::vector<std::string>> due_outlook::destinations(wall_time now) {
    std::set<std::string> names;
    std::size_t bytes = 0;
    POSTHORN_TRY(flows_.go_round(std::nullopt, destinations_after_, [&](const flow& one) {
        if (one.first_ms > to_ms(now)) return flow_step::on;
        names.insert(one.destination);
        bytes += one.destination.size();
        return bytes < names_bytes_max ? flow_step::to_next_destination : flow_step::stop;
    }));
    return std::vector(names.begin(), names.end());
}

result<std::optional<wall_time>> due_outlook::next() {
    std::optional<std::int64_t> next;
    POSTHORN_TRY(flows_.go_round(std::nullopt, next_after_, [&](const flow& one) {
        next = std::min(next.value_or(one.first_ms), one.first_ms);
        return flow_step::on;
    }));
    if (!next) return std::nullopt;
    return from_ms(*next);
}

}  // namespace posthorn
