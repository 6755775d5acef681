#include "sim/restores.hpp"

#include <utility>

#include <fmt/format.h>

#include "sim/disk_query.hpp"
#include "store/sqlite/tables/outbox_replay.hpp"
#include "store/sqlite/upkeep/restore.hpp"

namespace posthorn::sim {
namespace {

using namespace std::chrono_literals;

std::set<uuid> ids_in(const fault_disk& disk, const std::string& sql) {
    std::set<uuid> found;
    query_disk(disk, database_path, sql, [&](const plain_row& row) {
        if (const auto id = uuid::parse(row.text(0))) found.insert(*id);
    });
    return found;
}

std::int64_t number_in(const fault_disk& disk, const std::string& sql) {
    std::int64_t found = 0;
    query_disk(disk, database_path, sql, [&](const plain_row& row) { found = row.number(0); });
    return found;
}

constexpr const char* all_sent = "SELECT message_id FROM outbox_messages";
constexpr const char* all_given_up =
    "SELECT message_id FROM outbox_messages WHERE status IN ('Dead', 'Expired')";
constexpr const char* all_processed =
    "SELECT message_id FROM inbox_messages WHERE processed_at IS NOT NULL";
constexpr const char* epoch_of = "SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'";

}  // namespace

bool restores::back_up(machine& which) {
    if (which.running().empty() || which.has_gone_down()) return false;
    copy made{.bytes = copy_database(which.disk(), database_path),
              .taken_at = world_.loop.time().steady(),
              .clocks = {}};
    if (made.bytes.empty()) return false;
    for (std::size_t i = 0; i < world_.size(); ++i)
        made.clocks[world_.at(i).service()] = world_.at(i).clock().wall();
    copies_[which.service()] = std::move(made);
    ++backups_;
    world_.book.note("a backup of " + which.service());
    return true;
}

bool restores::restore(machine& which) {
    const auto found = copies_.find(which.service());
    if (found == copies_.end() || restoring_ || which.is_awaited || which.running().empty())
        return false;
    restoring_ = true;
    which.is_awaited = true;  // By us.
    which.kill();
    auto& disk = which.disk();
    fault_disk staged(1);
    staged.put(database_path, found->second.bytes);
    ledger::restoration made{.service = which.service(),
                             .forgotten = ids_in(disk, all_sent),
                             .remembered = ids_in(staged, all_processed),
                             .chain_length = number_in(staged, "SELECT count(*) FROM chain")};
    for (const auto& id : ids_in(staged, all_sent)) made.forgotten.erase(id);
    // Later ones of its order key may have passed it meanwhile.
    for (const auto& id : ids_in(disk, all_given_up))
        if (!made.forgotten.contains(id)) world_.book.touched(id, "was given up, before a restore");
    const auto epoch =
        sqlite::epoch_after_restore(number_in(staged, epoch_of), number_in(disk, epoch_of));
    if (epoch <= number_in(disk, epoch_of))
        world_.book.violate(
            fmt::format("the epoch {} of the restored {} has been before", epoch, which.service()));
    value_or_throw(sqlite::begin_epoch({.path = database_path, .vfs = staged.vfs_name()}, epoch,
                                       which.clock().wall()));
    for (const auto* const beside : {"-wal", "-journal"})
        disk.remove(std::string(database_path) + beside);
    disk.put(database_path, staged.contents(database_path));
    world_.book.restored(made);
    ++restored_;
    auto from = std::move(found->second);
    copies_.erase(found);
    used_.try_emplace(which.service(), copy{{}, from.taken_at, from.clocks});
    world_.outside().spawn(replay_everywhere(which, std::move(from)));
    return true;
}

// The others send again before it is up, so that nothing of an order key comes before what was
// forgotten. An answer that is still under way then is too late to count once its attempt has timed
// out.
task<> restores::replay_everywhere(machine& restored, copy from) {
    if (!co_await world_.loop.time().sleep_for(6s)) co_return;
    for (std::size_t i = 0; i < world_.size(); ++i) {
        auto& sender = world_.at(i);
        if (&sender == &restored) continue;
        while (!replay(sender, restored, from))
            if (!co_await world_.loop.time().sleep_for(500ms)) co_return;
    }
    restoring_ = false;
    restored.is_awaited = false;
    world_.boot_later(restored, 0s);
}

bool restores::replay(machine& sender, const machine& restored, const copy& from) {
    auto* const at = sender.pick(world_.dice, false);
    if (at == nullptr) return false;
    touch_under_way(sender, restored);
    const auto now = sender.clock().wall();
    const sqlite::replay_range range{
        .since = sender.clock().lowest_since(from.taken_at, from.clocks.at(sender.service())),
        .until = wall_time::max(),
        .destination = restored.service()};
    const auto all = std::make_shared<sqlite::replay_progress>();
    bool failed = false;
    while (!all->is_done && !failed) {
        const auto after = std::make_shared<sqlite::replay_progress>();
        failed = true;
        at->core().store().submit(
            {.work = [=](store_transaction& tx) -> result<> {
                 auto slice = sqlite::replay_sent(tx, range, now, *all, 500);
                 POSTHORN_TRY(slice);
                 *after = *slice;
                 return {};
             },
             .done = [&](result<> done) { failed = !done || at->is_dead(); }});
        if (!failed) *all = *after;
    }
    if (failed) return false;
    copies_.erase(sender.service());  // They know nothing of the replay (docs/operating/backup.md).
    replayed_ += static_cast<std::uint64_t>(all->replayed);
    world_.book.note(fmt::format("{} sends {} messages to {} again; {} have expired",
                                 sender.service(), all->replayed, restored.service(),
                                 all->expired));
    at->core().wake();
    return true;
}

// What is sent again only now may come after a later one of its order key.
void restores::touch_unknown(machine& sender, machine& restored) {
    const auto known = ids_in(restored.disk(), all_processed);
    for (const auto& id :
         ids_in(sender.disk(), fmt::format("{} WHERE status = 'Sent' AND destination = '{}'",
                                           all_sent, restored.service())))
        if (!known.contains(id)) world_.book.touched(id, "replays");
}

// What a lane has in its memory already, sent or not, does not wait for an earlier one of its order
// key that is replayed now. What is parked in the table is in no lane.
void restores::touch_under_way(machine& sender, const machine& restored) {
    for (const auto& id :
         ids_in(sender.disk(), fmt::format("{} WHERE status = 'Pending' AND order_key <> '' AND"
                                           " destination = '{}' AND next_retry_at <> expires_at",
                                           all_sent, restored.service())))
        world_.book.touched(id, "replays others before");
}

bool restores::replay_rest() {
    for (auto& [service, from] : used_) {
        for (std::size_t i = 0; i < world_.size(); ++i) {
            auto& restored = world_.at(i);
            if (restored.service() != service) continue;
            if (!restored.is_whole()) return false;
            for (std::size_t j = 0; j < world_.size(); ++j) {
                if (i == j) continue;
                touch_unknown(world_.at(j), restored);
                if (!replay(world_.at(j), restored, from)) return false;
            }
        }
    }
    used_.clear();
    return true;
}

}  // namespace posthorn::sim
