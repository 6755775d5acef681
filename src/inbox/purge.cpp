#include "inbox/purge.hpp"

namespace posthorn {

task<> inbox_purge::run() {
    bool held_back = false;
    do {
        const auto now = guard_.settled_wall();
        if (!now) {
            // Said once for each jump; at the start the clock is merely not known yet.
            if (!held_back && guard_.jumped())
                env_.log.warn("Inbox:  Clock has jumped; purging waits until it is steady");
            held_back = guard_.jumped();
            continue;
        }
        held_back = false;
        const auto shortened =
            co_await purger_.shorten_received(row_life_max(options_.horizon), *now);
        if (shortened && *shortened > 0)
            env_.log.warn(
                "Inbox:  {Count} rows were to be kept for longer than any; their time now ends "
                "{Days} days after they were processed",
                {{"Count", *shortened},
                 {"Days",
                  std::chrono::floor<std::chrono::days>(row_life_max(options_.horizon)).count()}});
        const auto purged = co_await purger_.purge(row_kind::received, *now);
        if (!purged)
            env_.log.warn("Inbox:  Purging failed: {Error}", {{"Error", purged.error().what()}});
        else if (*purged > 0)
            env_.log.debug("Inbox:  {Count} rows purged", {{"Count", *purged}});
    } while (co_await env_.timer.sleep_for(options_.interval));
}

}  // namespace posthorn
