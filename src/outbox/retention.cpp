#include "outbox/retention.hpp"

#include <tuple>

#include "base/cancellation.hpp"
#include "store/async.hpp"

namespace posthorn {

task<> outbox_retention::run() {
    std::ignore = clocks_.jumped();  // From now on it is watched.
    while (co_await timer_.sleep_for(options_.interval)) {
        if (clocks_.jumped()) continue;
        if (const auto purged = co_await purge(); !purged)
            log_.warn("Outbox: purging sent messages failed, will try again: {Error}",
                      {{"Error", purged.error().what()}});
    }
}

task<result<>> outbox_retention::purge() {
    const auto before = clock_.wall() - options_.sent;
    for (std::int64_t purged = -1; purged != 0 && !co_await is_cancelled();) {
        POSTHORN_CO_TRY(co_await commit(store_, [&](store_transaction& tx) -> result<> {
            const auto count = tx.outbox().purge_sent(before, options_.slice_rows);
            POSTHORN_TRY(count);
            purged = *count;
            return {};
        }));
        if (purged < static_cast<std::int64_t>(options_.slice_rows)) break;
    }
    co_return result<>{};
}

}  // namespace posthorn
