#include "centre/centre_keeper.hpp"

#include "centre/centre_rows.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

constexpr std::chrono::minutes calls_purged_every{10};
constexpr std::int64_t calls_purged_at_once = 1000;

}  // namespace

task<> centre_keeper::run() {
    do {
        co_await purge();
    } while (co_await with_.env.timer.sleep_for(calls_purged_every));
}

task<> centre_keeper::purge() {
    const auto before = to_iso8601(with_.env.clock.wall() - kept_);
    bool worth_it = false;
    auto done = co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
        POSTHORN_LET(found, may_purge_calls(from, before));
        worth_it = found;
        return {};
    });
    std::int64_t purged = worth_it ? calls_purged_at_once : 0;
    while (done && purged >= calls_purged_at_once)
        done = co_await commit(with_.where, [&](store_transaction& tx) -> result<> {
            POSTHORN_LET(some, purge_calls(tx, before, calls_purged_at_once));
            purged = some;
            return {};
        });
    upkeep_.note("calls past centre.calls_kept cannot be deleted", done);
}

}  // namespace posthorn
