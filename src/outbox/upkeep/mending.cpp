#include "outbox/upkeep/mending.hpp"

namespace posthorn {

task<> mend_tables(const environment& env, purger& rows, std::size_t slices_max) {
    const auto mended = co_await rows.mend_beside(slices_max);
    if (!mended)
        env.log.warn("Outbox: looking through its tables failed, will try again: {Error}",
                     {{"Error", mended.error().what()}});
    else if (*mended > 0)
        env.log.warn(
            "Outbox: {Count} rows that lead to messages were missing, belonged to none or said "
            "something else, and were mended; did a program change outbox_due or outbox_closed?",
            {{"Count", *mended}});
}

}  // namespace posthorn
