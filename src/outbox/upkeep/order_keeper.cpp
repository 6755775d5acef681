#include "outbox/upkeep/order_keeper.hpp"

#include <optional>
#include <tuple>
#include <utility>

#include "base/async/cancellation.hpp"
#include "base/async/timer.hpp"
#include "outbox/upkeep/mending.hpp"
#include "store/async.hpp"

namespace posthorn {

task<> order_keeper::run() {
    bool policy_is_set = false;
    while (!co_await is_cancelled()) {
        auto outcome = policy_is_set ? result<>{} : co_await set_policy();
        policy_is_set = outcome.has_value();
        if (outcome) outcome = co_await look_at_all();
        if (!outcome)
            env_.log.warn("Outbox: could not look after order keys, will try again: {Error}",
                          {{"Error", outcome.error().what()}});
        std::ignore = co_await wanted_.wait_for(
            env_.timer, policy_is_set ? options_.interval : options_.retry_delay);
    }
}

task<result<>> order_keeper::set_policy() {
    auto now = order_policy::park;
    POSTHORN_CO_TRY(co_await read(where_, env_.readers, [&](store_reader& reader) -> result<> {
        POSTHORN_LET(found, reader.outbox().present_order_policy());
        now = found;
        return {};
    }));
    if (now == options_.policy) co_return result<>{};
    co_return co_await commit(where_,
                              [policy = options_.policy](store_transaction& tx) -> result<> {
                                  return tx.outbox().set_order_policy(policy);
                              });
}

task<result<>> order_keeper::look_at_all() {
    unblocked_slice slice;
    bool mended = false;
    do {
        POSTHORN_CO_TRY(co_await read(where_, env_.readers, [&](store_reader& reader) -> result<> {
            POSTHORN_LET(found, reader.outbox().unblocked(slice.last, options_.slice_keys));
            slice = std::move(found);
            return {};
        }));
        if (slice.seqs.empty()) continue;
        if (options_.policy == order_policy::park && !std::exchange(mended, true)) {
            // To the end of a look that others have begun, and then through all.
            co_await mend_tables(env_, purger_, mending_to_the_end);
            co_await mend_tables(env_, purger_, mending_to_the_end);
        }
        std::int64_t released = 0;
        POSTHORN_CO_TRY(co_await commit(where_, [&](store_transaction& tx) -> result<> {
            POSTHORN_LET(count, tx.outbox().release_unblocked(slice.seqs));
            released = count;
            return {};
        }));
        if (released > 0)
            env_.log.info("Outbox: {Count} messages wait no longer for one that is gone",
                          {{"Count", released}});
    } while (slice.last && !co_await is_cancelled());
    co_return result<>{};
}

}  // namespace posthorn
