#include "forward/forward_keeper.hpp"

#include "base/bounded_sum.hpp"
#include "base/text/counted.hpp"
#include "base/text/utf8.hpp"
#include "forward/audit/audit_rows.hpp"
#include "forward/forward_terms.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

constexpr std::chrono::seconds look_every{1};
constexpr std::chrono::minutes purge_every{10};
constexpr std::int64_t purged_at_once = 1000;
constexpr std::int64_t told_at_once = 100;

// An outage is worse than its end.
int rank_of(replay_phase phase) {
    switch (phase) {
        case replay_phase::live: break;
        case replay_phase::replaying: return 1;
        case replay_phase::settling: return 2;
        case replay_phase::outage: return 3;
    }
    return 0;
}

}  // namespace

task<> forward_keeper::run() {
    auto purged_at = with_.env.clock.steady() - purge_every;
    do {
        look_at_lanes();
        co_await look();
        co_await tell_decisions();
        if (with_.env.clock.steady() - purged_at < purge_every) continue;
        purged_at = with_.env.clock.steady();
        co_await purge();
        co_await purge_orphans();
    } while (co_await with_.env.timer.sleep_for(look_every));
}

void forward_keeper::look_at_lanes() {
    std::set<std::string, std::less<>> shut;
    for (const auto* const each : with_.outbox)
        for (auto& lane : each->board.list())
            if (lane.mode != lane_mode::running && forward_place_of(lane.destination))
                shut.insert(std::move(lane.destination));
    with_.desk.note_shut(std::move(shut));
}

task<> forward_keeper::look() {
    std::vector<forward_total> seen;
    const auto read_them =
        co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(all, read_forward_totals(from));
            seen = std::move(all);
            return {};
        });
    upkeep_.note("how much work is held cannot be read", read_them);
    if (!read_them) co_return;
    const std::scoped_lock lock(mutex_);
    const auto now = with_.env.clock.steady();
    for (const auto& each : seen) drains_[each.category].note(now, each.waiting);
    totals_ = std::move(seen);
}

task<> forward_keeper::purge() {
    const auto before = to_iso8601(with_.env.clock.wall() - kept_);
    // Work of others need not share a commit with what does nothing.
    bool worth_it = false;
    auto done = co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
        POSTHORN_LET(found, may_purge_forward(from, before));
        worth_it = found;
        return {};
    });
    std::int64_t purged = worth_it ? purged_at_once : 0;
    while (done && purged >= purged_at_once)
        done = co_await commit(with_.where, [&](store_transaction& tx) -> result<> {
            POSTHORN_LET(some, purge_forward(tx, before, purged_at_once));
            purged = some;
            return {};
        });
    upkeep_.note("tracked operations past forward.tracking_kept cannot be deleted", done);
}

// All that is held is looked at for it, which is for a reader and not for the writer.
task<> forward_keeper::purge_orphans() {
    std::vector<std::int64_t> found;
    std::int64_t dropped = 0;
    result<> outcome;
    do {
        outcome =
            co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
                POSTHORN_LET(some, find_orphans(from, purged_at_once));
                found = std::move(some);
                return {};
            });
        if (!outcome || found.empty()) break;
        dropped = 0;
        outcome = co_await drop(found, dropped);
        // What stays, whatever keeps it there, would be found again at once.
    } while (dropped > 0 && std::cmp_greater_equal(found.size(), purged_at_once));
    upkeep_.note("held work whose message was deleted cannot be closed", outcome);
}

// One that cannot be closed must not hold up the others.
task<result<>> forward_keeper::drop(const std::vector<std::int64_t>& some, std::int64_t& dropped) {
    const auto close = [&](std::span<const std::int64_t> which) {
        return commit(with_.where, [&dropped, which](store_transaction& tx) -> result<> {
            POSTHORN_LET(gone, drop_orphans(tx, which));
            dropped = gone;
            return {};
        });
    };
    auto outcome = co_await close(some);
    if (outcome) co_return outcome;
    std::int64_t all = 0;
    for (const auto& one : some)
        if (co_await close({&one, 1})) all += dropped;
    dropped = all;
    co_return outcome;
}

task<> forward_keeper::tell_decisions() {
    std::vector<untold_decision> untold;
    std::size_t told = 0;
    result<> outcome;
    do {
        outcome =
            co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
                POSTHORN_LET(some, read_untold(from, told_at_once));
                untold = std::move(some);
                return {};
            });
        if (!outcome || untold.empty()) break;
        told = 0;
        outcome = co_await tell(untold, told);
        if (!outcome)  // One that cannot be told of must not hold up the others.
            for (const auto& one : untold) std::ignore = co_await tell({&one, 1}, told);
    } while (told > 0 && std::cmp_equal(untold.size(), told_at_once));
    upkeep_.note("what was decided of held work cannot be told", outcome);
}

// The centre in the transaction that takes note of it, the desk afterwards: each once.
task<result<>> forward_keeper::tell(std::span<const untold_decision> some, std::size_t& told) {
    std::vector<const untold_decision*> noted;
    const auto done = co_await commit(with_.where, [&](store_transaction& tx) -> result<> {
        noted.clear();
        for (const auto& one : some) {
            POSTHORN_LET(gone, forget_untold(tx, one));
            if (!gone) continue;
            noted.push_back(&one);
            if (with_.centre != nullptr && !one.id.is_nil())
                POSTHORN_TRY(with_.centre->tell_standing(tx, one.id));
        }
        return {};
    });
    if (!done) co_return done;
    told += noted.size();
    for (const auto* const one : noted)
        if (one->id.is_nil())
            with_.env.log.warn(
                "Store-and-forward: a row of forward_untold has the id '{Id}', which "
                "is none, and is deleted",
                {{"Id", clean_utf8(one->key, 100)}});
        else if (!one->what.empty())
            with_.desk.tell({.what = one->what, .id = one->id});
    co_return result<>{};
}

std::vector<forward_total> forward_keeper::totals() const {
    const std::scoped_lock lock(mutex_);
    return totals_;
}

category_drain forward_keeper::drain_of(std::string_view category) const {
    category_drain how;
    bool replays = false;
    for (const auto& each : behind()) {
        if (each.category != category) continue;
        if (rank_of(each.phase) > rank_of(how.phase)) how.phase = each.phase;
        if (each.phase != replay_phase::replaying) continue;
        replays = true;
        how.rate += each.rate;
    }
    const std::scoped_lock lock(mutex_);
    const auto seen = drains_.find(category);
    if (seen == drains_.end()) return how;
    how.drained = seen->second.drained();
    how.left = seen->second.left();
    how.is_alarming = replays && seen->second.grows();
    return how;
}

std::vector<health_worry> forward_keeper::worries() const {
    auto all = upkeep_.worries();
    for (const auto& each : totals())
        if (drain_of(each.category).is_alarming)
            all.push_back({.what = fmt::format(
                               "more work of category {} comes than goes, though its backlog is "
                               "replayed; see 'posthorn forward stats'",
                               each.category)});
    if (auto some = waiting_worry()) all.push_back(*std::move(some));
    if (auto some = parked_worry()) all.push_back(*std::move(some));
    return all;
}

std::optional<health_worry> forward_keeper::waiting_worry() const {
    std::int64_t waiting = 0;
    for (const auto& each : totals()) waiting = bounded_sum(waiting, each.waiting);
    const auto targets = behind().size();
    if (waiting == 0 || targets == 0) return std::nullopt;
    return health_worry{
        .what = fmt::format(
            "{}, and {} out or not up to date again; see 'posthorn forward replays'",
            counted(waiting, "operation waits for its target", "operations wait for their targets"),
            counted(targets, "target is", "targets are"))};
}

std::optional<health_worry> forward_keeper::parked_worry() const {
    std::int64_t parked = 0;
    std::string where;
    for (const auto& each : totals()) {
        if (each.parked == 0) continue;
        parked = bounded_sum(parked, each.parked);
        where += (where.empty() ? "" : ", ") + each.category;
    }
    if (parked == 0) return std::nullopt;
    return health_worry{
        .what = fmt::format("{} parked ({}); see 'posthorn forward list --status parked'",
                            counted(parked, "operation is", "operations are"), where)};
}

}  // namespace posthorn
