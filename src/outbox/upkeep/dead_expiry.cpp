#include "outbox/upkeep/dead_expiry.hpp"

#include "base/async/cancellation.hpp"
#include "store/async.hpp"
#include "store/dead_letters.hpp"

namespace posthorn {

task<> dead_expiry::run() {
    do {
        const auto now = clocks_.settled_wall();
        if (!now) continue;
        if (const auto looked = co_await look_at_all(*now); !looked)
            env_.log.warn("Outbox: dead messages could not expire, will try again: {Error}",
                          {{"Error", looked.error().what()}});
    } while (co_await env_.timer.sleep_for(interval));
}

task<result<>> dead_expiry::look_at_all(wall_time now) {
    dead_slice slice;
    do {
        POSTHORN_CO_TRY(co_await read(where_, env_.readers, [&](store_reader& reader) -> result<> {
            POSTHORN_LET(found,
                         reader.dead_letters().find({.past = now}, slice.next, dead_slice_rows));
            slice = std::move(found);
            return {};
        }));
        if (slice.seqs.empty()) continue;
        POSTHORN_CO_TRY(co_await commit(where_, [&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.dead_letters().expire(slice.seqs, now));
            return {};
        }));
        expired_();
    } while (slice.next > 0 && !co_await is_cancelled());
    co_return result<>{};
}

}  // namespace posthorn
