#include "outbox/upkeep/retention.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/async/cancellation.hpp"
#include "outbox/upkeep/mending.hpp"

namespace posthorn {
task<> outbox_retention::run() {
    std::ignore = clocks_.jumped();  // From now on it is watched.
    co_await mend_tables(env_, purger_, mending_to_the_end);
    while (co_await env_.timer.sleep_for(options_.interval)) {
        if (clocks_.jumped()) continue;
        co_await purge();
        co_await mend_tables(env_, purger_, mending_slices_at_a_time);
    }
}

task<> outbox_retention::purge() {
    struct kept {
        row_kind kind;
        retention_options::time_kept time;
    };
    auto sent = options_.sent;
    if (sent && options_.sent_at_least) sent = std::max(*sent, options_.sent_at_least());
    const std::array all{kept{row_kind::sent, sent}, kept{row_kind::dead, options_.dead},
                         kept{row_kind::expired, options_.expired},
                         kept{row_kind::resolved, options_.resolved},
                         kept{row_kind::changes, options_.changes}};
    for (const auto& [kind, time] : all) {
        if (!time || co_await is_cancelled()) continue;
        const auto purged = co_await purger_.purge(kind, env_.clock.wall() - *time);
        if (!purged)
            env_.log.warn("Outbox: purging old rows failed, will try again: {Error}",
                          {{"Kind", to_string(kind)}, {"Error", purged.error().what()}});
        else if (*purged > 0)
            env_.log.debug("Outbox: {Count} old rows purged",
                           {{"Kind", to_string(kind)}, {"Count", *purged}});
    }
    if (options_.vacuum != vacuum_mode::incremental || co_await is_cancelled()) co_return;
    if (const auto given = co_await purger_.give_back(); !given)
        env_.log.warn("Store: giving room back to the disk failed, will try again: {Error}",
                      {{"Error", given.error().what()}});
}

}  // namespace posthorn
