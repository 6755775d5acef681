#include "store/sqlite/tables/due_rows.hpp"

#include <algorithm>

#include "store/rows/stored_time.hpp"
#include "store/sqlite/tables/flow_walk.hpp"

namespace posthorn::sqlite {
namespace {

constexpr auto due_in_flow =
    joined("SELECT seq", in_flow, "AND next_retry_at <= ?4 ORDER BY next_retry_at, seq");
constexpr auto newest_in_flow = joined("SELECT seq", in_flow,
                                       "AND next_retry_at <= ?4"
                                       " ORDER BY next_retry_at DESC, seq DESC");

}  // namespace

due_rows::due_rows(connection& database, flow_source& flows)
    : due_choice(flows), seqs_(database, due_in_flow), newest_(database, newest_in_flow) {}

result<> due_rows::read(std::span<tenant_rows* const> one, std::size_t rows_max,
                        const due_question& asked) {
    auto& into = *one.front();
    into.seqs.clear();
    for (const auto& of : into.flows) {
        auto& order = asked.newest_first ? newest_ : seqs_;
        POSTHORN_LET(due, order.run(of.destination, of.tenant, of.priority, to_ms(asked.now)));
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

}  // namespace posthorn::sqlite
