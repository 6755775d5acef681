#include "outbox/lane/claims.hpp"

#include <utility>

#include "base/assert.hpp"
#include "store/async.hpp"

namespace posthorn {

claim_table& claims::in(store_transaction& open) const {
    POSTHORN_ASSERT(are_needed());
    return where_.sharing()->claims_in(open);
}

task<result<bool>> claims::have_arrivals(executor& readers) {
    bool some = false;
    POSTHORN_CO_TRY(co_await read(where_, readers, [this, &some](store_reader& reader) -> result<> {
        POSTHORN_LET(found, where_.sharing()->has_arrivals(reader));
        some = found;
        return {};
    }));
    co_return some;
}

task<result<taken_in>> claims::take_in(std::size_t rows_max,
                                       std::vector<std::string> destinations) {
    taken_in seen;
    arrivals_question asked{
        .rows_max = rows_max, .epoch = epoch_, .claimed = std::move(destinations)};
    POSTHORN_CO_TRY(co_await commit(
        where_, [this, &seen, asked = std::move(asked)](store_transaction& tx) -> result<> {
            POSTHORN_LET(taken, in(tx).take_in(asked));
            seen = std::move(taken);
            return {};
        }));
    co_return seen;
}

task<result<>> claims::take(due_question asked, outbox_page& into) {
    return commit(where_, [this, asked, &into](store_transaction& tx) -> result<> {
        POSTHORN_LET(page, in(tx).claim(asked, epoch_));
        into = std::move(page);
        return {};
    });
}

void claims::let_go(const std::vector<outbox_row>& rows) {
    if (!are_needed() || rows.empty()) return;
    std::vector<std::int64_t> seqs;
    seqs.reserve(rows.size());
    for (const auto& row : rows) seqs.push_back(row.seq);
    // It is not waited for, and may run after we are gone.
    where_.submit({.work = [sharing = where_.sharing(), seqs = std::move(seqs),
                            epoch = epoch_](store_transaction& tx) {
        return sharing->claims_in(tx).let_go(seqs, epoch);
    }});
}

}  // namespace posthorn
