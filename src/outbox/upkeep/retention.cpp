#include "outbox/upkeep/retention.hpp"

#include <array>
#include <tuple>

#include "base/async/cancellation.hpp"

namespace posthorn {

task<> outbox_retention::run() {
    std::ignore = clocks_.jumped();  // From now on it is watched.
    while (co_await env_.timer.sleep_for(options_.interval)) {
        if (clocks_.jumped()) continue;
        co_await purge();
    }
}

task<> outbox_retention::purge() {
    struct kept {
        row_kind kind;
        retention_options::time_kept time;
    };
    const std::array all{kept{row_kind::sent, options_.sent}, kept{row_kind::dead, options_.dead},
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
    if (co_await is_cancelled()) co_return;
    const auto orphans = co_await purger_.remove_orphans();
    if (!orphans)
        env_.log.warn("Outbox: looking for orphans failed, will try again: {Error}",
                      {{"Error", orphans.error().what()}});
    else if (*orphans > 0)
        env_.log.info(
            "Outbox: deleted {Count} rows that belonged to messages which were replaced or deleted "
            "without their trigger",
            {{"Count", *orphans}});
    if (options_.vacuum != vacuum_mode::incremental || co_await is_cancelled()) co_return;
    if (const auto given = co_await purger_.give_back(); !given)
        env_.log.warn("Store: giving room back to the disk failed, will try again: {Error}",
                      {{"Error", given.error().what()}});
}

}  // namespace posthorn
