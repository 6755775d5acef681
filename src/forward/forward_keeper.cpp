#include "forward/forward_keeper.hpp"

#include "base/text/counted.hpp"
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
    const auto looked =
        co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(found, may_purge_forward(from, before));
            worth_it = found;
            return {};
        });
    if (!looked || !worth_it) co_return;
    std::int64_t purged = purged_at_once;
    while (purged >= purged_at_once) {
        const auto done = co_await commit(with_.where, [&](store_transaction& tx) -> result<> {
            POSTHORN_LET(some, purge_forward(tx, before, purged_at_once));
            purged = some;
            return {};
        });
        if (!done) co_return;
    }
}

// All that is held is looked at for it, which is for a reader and not for the writer.
task<> forward_keeper::purge_orphans() {
    std::vector<std::int64_t> found;
    do {
        const auto looked =
            co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
                POSTHORN_LET(some, find_orphans(from, purged_at_once));
                found = std::move(some);
                return {};
            });
        if (!looked || found.empty()) co_return;
        const auto done = co_await commit(
            with_.where, [&](store_transaction& tx) { return drop_orphans(tx, found); });
        if (!done) co_return;
    } while (std::cmp_greater_equal(found.size(), purged_at_once));
}

// The centre in the transaction that takes note of it, the desk afterwards: each once.
task<> forward_keeper::tell_decisions() {
    std::vector<untold_decision> untold;
    do {
        const auto looked =
            co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
                POSTHORN_LET(some, read_untold(from, told_at_once));
                untold = std::move(some);
                return {};
            });
        if (!looked || untold.empty()) co_return;
        const auto done = co_await commit(with_.where, [&](store_transaction& tx) -> result<> {
            for (const auto& one : untold) {
                POSTHORN_TRY(forget_untold(tx, one.id));
                if (with_.centre != nullptr) POSTHORN_TRY(with_.centre->tell_standing(tx, one.id));
            }
            return {};
        });
        if (!done) co_return;
        for (const auto& one : untold)
            if (!one.what.empty()) with_.desk.tell({.what = one.what, .id = one.id});
    } while (std::cmp_equal(untold.size(), told_at_once));
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
    std::vector<health_worry> all;
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
    for (const auto& each : totals()) waiting += each.waiting;
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
        parked += each.parked;
        where += (where.empty() ? "" : ", ") + each.category;
    }
    if (parked == 0) return std::nullopt;
    return health_worry{
        .what = fmt::format("{} parked ({}); see 'posthorn forward list --status parked'",
                            counted(parked, "operation is", "operations are"), where)};
}

}  // namespace posthorn
