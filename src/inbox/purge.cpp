#include "inbox/purge.hpp"

#include "base/cancellation.hpp"
#include "store/async.hpp"

namespace posthorn {

task<> inbox_purge::run() {
    bool held_back = false;
    do {
        const auto now = guard_.settled_wall();
        if (!now) {
            // Said once for each jump; at the start the clock is merely not known yet.
            if (!held_back && guard_.jumped())
                log_.warn("Inbox:  Clock has jumped; purging waits until it is steady");
            held_back = guard_.jumped();
            continue;
        }
        held_back = false;
        const auto purged = co_await sweep(*now);
        if (!purged)
            log_.warn("Inbox:  Purging failed: {Error}", {{"Error", purged.error().what()}});
        else if (*purged > 0)
            log_.debug("Inbox:  {Count} rows purged", {{"Count", *purged}});
    } while (co_await timer_.sleep_for(options_.interval));
}

task<result<std::int64_t>> inbox_purge::sweep(wall_time now) {
    std::int64_t total = 0;
    for (;;) {
        std::int64_t purged = 0;
        POSTHORN_CO_TRY(co_await commit(store_, [&](store_transaction& tx) -> result<> {
            const auto count = tx.inbox().purge(now, options_.slice);
            POSTHORN_TRY(count);
            purged = *count;
            return {};
        }));
        total += purged;
        if (purged < static_cast<std::int64_t>(options_.slice)) co_return total;
        if (co_await is_cancelled()) co_return total;
    }
}

}  // namespace posthorn
