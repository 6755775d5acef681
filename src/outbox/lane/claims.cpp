#include "outbox/lane/claims.hpp"

#include <utility>

#include "base/assert.hpp"
#include "store/async.hpp"
#include "store/claim_table.hpp"

namespace posthorn {

task<result<>> claims::take_in(std::size_t rows_max, std::vector<std::string> destinations,
                               bool& more) {
    arrivals_question asked{
        .rows_max = rows_max, .epoch = epoch_, .claimed = std::move(destinations)};
    return commit(where_, [&more, asked = std::move(asked)](store_transaction& tx) -> result<> {
        POSTHORN_ASSERT(tx.claims() != nullptr);
        POSTHORN_LET(is_more, tx.claims()->take_in(asked));
        more = is_more;
        return {};
    });
}

task<result<>> claims::take(due_question asked, outbox_page& into) {
    return commit(where_, [asked, &into, epoch = epoch_](store_transaction& tx) -> result<> {
        POSTHORN_ASSERT(tx.claims() != nullptr);
        POSTHORN_LET(page, tx.claims()->claim(asked, epoch));
        into = std::move(page);
        return {};
    });
}

void claims::let_go(const std::vector<outbox_row>& rows) {
    if (!are_needed() || rows.empty()) return;
    std::vector<std::int64_t> seqs;
    seqs.reserve(rows.size());
    for (const auto& row : rows) seqs.push_back(row.seq);
    where_.submit({.work = [seqs = std::move(seqs), epoch = epoch_](store_transaction& tx) {
        return tx.claims()->let_go(seqs, epoch);
    }});
}

}  // namespace posthorn
