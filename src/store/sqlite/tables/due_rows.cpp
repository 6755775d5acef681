#include "store/sqlite/tables/due_rows.hpp"

#include <algorithm>

#include "store/rows/stored_time.hpp"

namespace posthorn::sqlite {
namespace {

constexpr auto due_in_flow =
    joined("SELECT seq", in_flow, "AND next_retry_at <= ?4 ORDER BY next_retry_at, seq");

}  // namespace

due_rows::due_rows(connection& database) : walk_(database), seqs_(database, due_in_flow) {}

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

result<> due_rows::read_all(std::vector<tenant_rows>& tenants, const due_question& asked) {
    std::size_t total = 0;
    auto each = std::max<std::size_t>(asked.limit / tenants.size(), 1);
    for (bool again = true; again && total < asked.limit; each *= 2) {
        again = false;
        // Not all have a turn if there are more than rows; a second round is for all alike.
        for (std::size_t i = 0; i < tenants.size() && (each > 1 || total < asked.limit); ++i) {
            auto& one = tenants[(turn() + i) % tenants.size()];
            if (one.drained) continue;
            total -= one.seqs.size();
            POSTHORN_TRY(read(one, each, asked));
            total += one.seqs.size();
            again |= !one.drained;
        }
    }
    return {};
}

}  // namespace posthorn::sqlite
