#include "app/doctor/doctor.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/assert.hpp"
#include "base/text/counted.hpp"
#include "base/time/clock_watch.hpp"
#include "operations/health.hpp"
#include "operations/operations.hpp"

namespace posthorn {

using namespace std::chrono_literals;

std::string_view to_string(finding_level level) noexcept {
    switch (level) {
        case finding_level::ok: return "ok";
        case finding_level::warn: return "warn";
        case finding_level::bad: return "bad";
    }
    POSTHORN_ASSERT(false);
    return {};
}

namespace {

finding fine(std::string what) { return {finding_level::ok, std::move(what)}; }

std::string hours_of(std::chrono::milliseconds time) {
    return fmt::format("{}h", std::chrono::ceil<std::chrono::hours>(time).count());
}

std::string size_of(std::uint64_t bytes) { return fmt::format("{} MiB", bytes >> 20U); }

finding check_synchronous(const doctor_facts& facts) {
    if (!facts.durable)
        return {finding_level::bad, "the store is in memory and NOT DURABLE",
                "it ends with the node, and every message with it",
                "set store.url to a file, unless this is a test"};
    if (!facts.server_is_synced)
        return {finding_level::bad, "the server runs with fsync = off",
                "when its machine loses power it may lose what was promised, or all of it",
                "set fsync = on in postgresql.conf"};
    if (facts.synchronous_full) return fine("every promise is past a sync (full)");
    return {finding_level::warn, "store.synchronous is \"normal\"",
            "a power cut can take back what was promised, and messages with it",
            "set store.synchronous = \"full\", unless the data may be lost"};
}

finding check_shared(const doctor_facts& facts) {
    const bool is_other = !facts.user.empty() && facts.node_runs && facts.user != facts.guard;
    if (facts.shared) return fine("other processes may write the database too");
    if (!is_other) return fine("the node has the database to itself, and store.shared says so");
    return {finding_level::warn,
            fmt::format("store.shared is false, but {} has the database open", facts.user),
            "the node leaves others no gaps between its commits, so that they wait long",
            "set store.shared = true"};
}

finding check_retention(const doctor_facts& facts) {
    if (facts.inbox_retention >= facts.inbox_retention_needed)
        return fine(fmt::format("the inbox remembers for {}, repeats come within {}",
                                hours_of(facts.inbox_retention),
                                hours_of(facts.inbox_retention_needed)));
    return {finding_level::bad,
            fmt::format("the inbox remembers for {}, but repeats may come for {}",
                        hours_of(facts.inbox_retention), hours_of(facts.inbox_retention_needed)),
            "a repeat that comes after its message was forgotten takes effect a second time",
            fmt::format("set inbox.retention = \"{}\" or more",
                        hours_of(facts.inbox_retention_needed))};
}

finding check_disk(const doctor_facts& facts) {
    const auto free = facts.disk_free_bytes;
    const auto wanted = facts.database_bytes + facts.log_bytes;
    if (free < facts.disk_low_water_bytes)
        return {finding_level::bad,
                fmt::format("{} are free on the database's disk", size_of(free)),
                "below store.disk_low_water nothing new is sent or received; nothing is lost",
                "free space, or move the database to a larger disk"};
    if (free < wanted || free < facts.disk_bytes / 20)
        return {finding_level::warn,
                fmt::format("{} are free, the database has {}", size_of(free), size_of(wanted)),
                "there is no room for a copy beside it, which compacting and restoring need, and "
                "little to grow",
                "free space soon"};
    return fine(fmt::format("{} are free on the database's disk", size_of(free)));
}

finding check_clock(const doctor_facts& facts) {
    auto latest = facts.file_changed_at;
    if (facts.file && facts.file->newest) latest = std::max(latest, facts.file->newest);
    if (!latest || !lags_behind(facts.now, *latest))
        return fine(
            fmt::format("the clock shows {}, after all that was done", to_iso8601(facts.now)));
    return {finding_level::bad,
            fmt::format("the clock shows {}, but the database was used at {}",
                        to_iso8601(facts.now), to_iso8601(*latest)),
            "messages expire, signatures hold and retention counts by the clock",
            "set the clock, and let a time service keep it right"};
}

/// Empty if all is well.
std::string fault_of(const file_rights& one) {
    using enum file_rights::kind;
    constexpr unsigned sticky = 01000;
    const bool open_to_others = !one.is_closed_above;
    switch (one.what) {
        case database:
            if ((one.mode & 006U) != 0 && open_to_others)
                return fmt::format("{0} can be {1} by every user; run chmod o-rwx {0}", one.path,
                                   (one.mode & 002U) != 0 ? "written" : "read");
            break;
        case backup:
            if ((one.mode & 006U) != 0 && open_to_others)
                return fmt::format(
                    "{} can be {} by every user; run chmod o-rwx {}", one.path,
                    (one.mode & 002U) != 0 ? "written" : "read",
                    (std::filesystem::path(one.path).parent_path() / "*.db").string());
            break;
        case folder:
            if ((one.mode & 002U) != 0 && (one.mode & sticky) == 0)
                return fmt::format("{0} can be written by every user; run chmod o-w {0}", one.path);
            break;
        case secret:
            if ((one.mode & 077U) != 0)
                return fmt::format("{0} can be read by others; run chmod 600 {0}", one.path);
            break;
        case configuration:
            if ((one.mode & 006U) != 0 && open_to_others)
                return fmt::format(
                    "{0} holds secrets and is open to every user; run chmod o-rwx {0}", one.path);
            break;
    }
    return {};
}

bool is_bad(const file_rights& one) {
    return one.what == file_rights::kind::secret || (one.mode & 002U) != 0;
}

finding check_permissions(const doctor_facts& facts) {
    finding found = fine("no other user may read or write the service's files");
    for (const auto& one : facts.rights) {
        const auto fault = fault_of(one);
        if (fault.empty()) continue;
        const bool is_first = found.level == finding_level::ok;
        found.level = std::max(found.level, is_bad(one) ? finding_level::bad : finding_level::warn);
        found.what =
            is_first ? one.path + " is open to others" : "several files are open to others";
        found.why =
            "other users of this machine could read messages, forge them, or change the database";
        found.todo += (is_first ? "" : "; ") + fault;
    }
    return found;
}

finding check_secrets(const doctor_facts& facts) {
    constexpr std::size_t bytes_wanted = 32;
    if (!facts.secrets_error.empty())
        return {finding_level::bad, facts.secrets_error,
                "a node does not start without the secrets that it is told of",
                "mend the line under [secrets] that is named"};
    for (const auto& each : facts.secrets)
        if (each.bytes < bytes_wanted)
            return {finding_level::warn,
                    fmt::format("a secret shared with {} has {} bytes", each.peer, each.bytes),
                    "HMAC-SHA256 is as strong as 32 random bytes; a shorter one is easier to guess",
                    "make one with 'posthorn keys new', give it to both sides, and rotate"};
    return fine(facts.secrets.empty() ? "there are none, and nothing leaves the process signed"
                                      : "every secret has 32 bytes or more");
}

finding check_signatures(const doctor_facts& facts) {
    if (facts.legacy_peers.empty()) return fine("every peer signs with v2");
    return {finding_level::warn,
            fmt::format("peers that sign in an older way: {}", fmt::join(facts.legacy_peers, ", ")),
            "their answers are not signed, so someone on the way can make one up and a message is "
            "lost; what they send can be changed in part",
            "reach them over TLS only, and take v2 as soon as they know it"};
}

finding check_listeners(const doctor_facts& facts) {
    if (!facts.admin_address.empty() && !facts.admin_is_loopback)
        return {facts.admin_keys == 0 ? finding_level::bad : finding_level::warn,
                fmt::format("the admin listener is open to other machines ({}){}",
                            facts.admin_address, facts.admin_keys == 0 ? ", without any key" : ""),
                "it speaks plain HTTP: who listens on the network reads the operators' keys",
                facts.admin_keys == 0
                    ? "bind listen.admin to 127.0.0.1, and make keys with 'posthorn keys admin new'"
                    : "bind listen.admin to 127.0.0.1, with a proxy that speaks TLS before it"};
    if (!facts.http_address.empty() && !facts.http_is_loopback && !facts.http_has_tls)
        return {finding_level::warn,
                fmt::format("listen.http is open to other machines without TLS ({})",
                            facts.http_address),
                "messages are signed, but anyone on the way can read them",
                "set tls.certificate and tls.key, or put a proxy that speaks TLS before it"};
    return fine("the listeners are on this machine, or protected");
}

finding check_backups(const doctor_facts& facts) {
    const auto warned = [](std::string what) {
        return finding{finding_level::warn, std::move(what),
                       "what is lost with a disk comes back only from a copy elsewhere",
                       "set folder under [backup], on another disk"};
    };
    if (!facts.durable) return fine("a store in memory has none");
    if (!facts.backup_every) return warned("no backups are made");
    if (!facts.backups_error.empty())
        return {finding_level::bad, facts.backups_error, "no backup can be made or kept there",
                "let the service's user write to that folder"};
    if (!facts.newest_backup)
        return {finding_level::warn, "there is no backup yet",
                "a node makes the first at its start", "start a node, or run 'posthorn backup'"};
    const auto age = facts.now - *facts.newest_backup;
    const auto what = fmt::format("the newest backup is of {}", to_iso8601(*facts.newest_backup));
    if (age <= 2 * *facts.backup_every) return fine(what);
    return {facts.node_runs ? finding_level::bad : finding_level::warn, what,
            fmt::format("one is to be made each {}; backups fail, or no node has run",
                        hours_of(*facts.backup_every)),
            "look for 'Backup' in the node's log, and at its health"};
}

/// Over what a server sees to by itself.
template <finding (*Look)(const doctor_facts&)>
finding of_file(const doctor_facts& facts) {
    return facts.on_server ? fine("the store is on a server, which sees to that") : Look(facts);
}

constexpr std::array checks{
    doctor_check{"tables", check_tables},
    doctor_check{"integrity", of_file<check_integrity>},
    doctor_check{"log mode", of_file<check_log_mode>},
    doctor_check{"guard", of_file<check_guard>},
    doctor_check{"log size", of_file<check_log_size>, true},
    doctor_check{"synchronous", check_synchronous, true},
    doctor_check{"shared", of_file<check_shared>, true},
    doctor_check{"dispatcher", of_file<check_dispatcher>},
    doctor_check{"messages", check_messages},
    doctor_check{"inbox retention", check_retention, true},
    doctor_check{"clock", check_clock},
    doctor_check{"disk", of_file<check_disk>, true},
    doctor_check{"vacuum", of_file<check_vacuum>},
    doctor_check{"backups", of_file<check_backups>, true},
    doctor_check{"standby", check_standby, true},
    doctor_check{"brokers", check_brokers, true},
    doctor_check{"permissions", check_permissions, true},
    doctor_check{"secrets", check_secrets, true},
    doctor_check{"signatures", check_signatures, true},
    doctor_check{"listeners", check_listeners, true},
};

}  // namespace

std::span<const doctor_check> doctor_checks() { return checks; }

// The checks that go by what the database and its log say.

namespace {

/// What the tables and integrity checks say already is not said again.
finding not_known() { return fine("not known, since the database cannot be read"); }

bool is_readable(const doctor_facts& facts) { return facts.file && facts.file->damage.empty(); }

std::string not_as_made(const schema_differences& found) {
    std::string said;
    if (!found.dropped.empty()) said = fmt::format("dropped: {}", fmt::join(found.dropped, ", "));
    if (!found.changed.empty())
        said += fmt::format("{}not as Posthorn made it: {}", said.empty() ? "" : "; ",
                            fmt::join(found.changed, ", "));
    return said;
}

}  // namespace

finding check_tables(const doctor_facts& facts) {
    if (!facts.durable) return fine("a node makes them when it starts");
    if (!facts.file)
        return {finding_level::bad, facts.file_error, "no node can work on it",
                facts.on_server
                    ? "mend what it says; the first node, or 'posthorn init', makes the tables"
                    : "look at the path, who may read it, and whether 'posthorn init' was run"};
    const auto& file = *facts.file;
    if (!file.service.empty() && !facts.service.empty() && file.service != facts.service)
        return {finding_level::bad,
                fmt::format("the database belongs to '{}', the configuration is of '{}'",
                            file.service, facts.service),
                "receivers know messages by their source: under another name each would take "
                "effect a second time, so a node is refused",
                "mend service.id or store.url"};
    if (facts.server_is_read_only)
        return {finding_level::bad, "the server is a standby, or read-only for this role",
                "no node can work on it",
                "name the primary, say with target_session_attrs=read-write, or take "
                "default_transaction_read_only back"};
    if (!facts.missing_rights.empty())
        return {finding_level::bad, "this role lacks rights", "no node can work with it",
                facts.missing_rights};
    if (!file.moved.empty())
        return {finding_level::bad, file.moved,
                "two nodes on two copies would each send everything, so none starts on this one",
                "set store.url to the server that it names"};
    if (file.step > file.step_known)
        return {finding_level::bad,
                fmt::format("its tables are at step {}, this Posthorn knows {}", file.step,
                            file.step_known),
                "an older Posthorn does not know what newer tables mean, and is refused",
                "use the Posthorn that made them, or a newer one"};
    if (!file.schema.lost.empty())
        return {
            finding_level::bad, fmt::format("{} was dropped", fmt::join(file.schema.lost, ", ")),
            "no node can work without it, and what it held is gone",
            "give it its name back if it was renamed, else restore a backup; a node says at its "
            "start what else can be done"};
    constexpr std::int64_t numbers_left_min = 1'000'000'000;
    if (file.numbers_left < numbers_left_min)
        return {finding_level::bad,
                fmt::format("{} left for messages in outbox_messages.seq",
                            counted(std::max<std::int64_t>(file.numbers_left, 0), "number is",
                                    "numbers are")),
                "without one no message can be sent; a row or the sequence was given a high number "
                "by hand",
                "delete that row, and set the numbering back as the failure of a send says"};
    if (const auto wrong = not_as_made(file.schema); !wrong.empty())
        return {finding_level::warn, wrong,
                "messages may wait for ever, or be slow; if no person changed it, the disk may be "
                "failing",
                "start the node anew: it makes them as they should be, and logs it"};
    if (!file.schema.foreign.empty())
        return {finding_level::warn,
                fmt::format("not Posthorn's, but on its tables: {}",
                            fmt::join(file.schema.foreign, ", ")),
                "what it refuses, changes or lets vanish holds messages up, and delivered ones are "
                "sent again after a restart",
                "drop it, unless it only reads what Posthorn writes"};
    if (file.step < file.step_known && is_readable(facts))
        return fine(fmt::format("its tables are at step {}; the next node brings them to {}",
                                file.step, file.step_known));
    return fine("its tables are those of this Posthorn");
}

finding check_integrity(const doctor_facts& facts) {
    if (!facts.file) return not_known();
    if (!facts.file->damage.empty())
        return {finding_level::bad, "the database is damaged: " + facts.file->damage,
                "what is read from it may be wrong, and it gets worse",
                "stop the service, restore a backup, and look at the disk"};
    return fine(facts.checked_fully ? "every page and index is whole"
                                    : "no damage was seen (--full looks at the indexes too)");
}

finding check_log_mode(const doctor_facts& facts) {
    if (!facts.file || facts.file->journal_mode == "wal")
        return facts.file ? fine("it has a write-ahead log") : not_known();
    return {facts.node_runs ? finding_level::bad : finding_level::warn,
            fmt::format("its journal mode is '{}'", facts.file->journal_mode),
            "a power cut can take back the last commit, even with synchronous=FULL",
            "let no program set journal_mode; a node sets it to WAL when it starts"};
}

finding check_guard(const doctor_facts& facts) {
    constexpr int bug_since = 3'007'000;
    constexpr int mended_in = 3'051'003;
    const int number = facts.sqlite_version;
    const auto version =
        fmt::format("SQLite {}.{}.{}", number / 1'000'000, number / 1000 % 1000, number % 1000);
    if (number < bug_since || number >= mended_in)
        return fine(version + " does not have the bug that loses commits when a log is reset");
    const auto why =
        "when one connection checkpoints while another resets the log, committed rows can vanish, "
        "and no check notices; while a node runs, its guard keeps all others from checkpointing";
    if (facts.node_runs && facts.guard.empty())
        return {finding_level::bad, version + " has the WAL-reset bug, and no guard holds", why,
                "restart the node, and look for errors of the store in its log"};
    if (facts.node_runs)
        return fine(
            fmt::format("{} has the WAL-reset bug; {} guards against it", version, facts.guard));
    if (!facts.guard.empty())
        return {finding_level::warn,
                fmt::format("{} has the WAL-reset bug, and {} checkpoints without a node", version,
                            facts.guard),
                why, "start the node before the programs that use the database"};
    if (!facts.user.empty())
        return {finding_level::warn,
                fmt::format("{} has the WAL-reset bug, and {} uses the database without a node",
                            version, facts.user),
                why, "start the node before the programs that use the database"};
    return fine(version +
                " has the WAL-reset bug; no process uses the database, and a node will guard it");
}

finding check_log_size(const doctor_facts& facts) {
    constexpr std::uint64_t large = std::uint64_t{256} << 20;
    constexpr std::uint64_t huge = std::uint64_t{1} << 30;
    const auto what = fmt::format("the log has {} MiB", facts.log_bytes >> 20U);
    if (facts.log_bytes < large) return fine(what);
    return {facts.log_bytes < huge ? finding_level::warn : finding_level::bad, what,
            "it grows while it cannot be copied into the file: some program keeps a transaction "
            "open, or no node runs; reading gets slower and the disk fills",
            facts.user.empty()
                ? "start a node"
                : fmt::format("find the reader that never ends; {} has it open", facts.user)};
}

finding check_vacuum(const doctor_facts& facts) {
    constexpr std::int64_t incremental = 2;
    if (!facts.file) return not_known();
    if (facts.file->auto_vacuum == incremental) return fine("space that is freed is given back");
    return {finding_level::warn, "the file never gets smaller (auto_vacuum is not incremental)",
            "what retention deletes is used again, but the disk does not get it back",
            "run 'posthorn compact' when no node runs, or let it be if the disk is large enough"};
}

finding check_dispatcher(const doctor_facts& facts) {
    if (!is_readable(facts)) return not_known();
    if (facts.node_runs)
        return fine(facts.file->lease_owner.empty() ? "a node runs, and none dispatches yet"
                                                    : "a node runs and dispatches");
    if (!facts.file->lease_owner.empty())
        return fine("no node runs; the last one was killed, and the next takes over at once");
    return fine("no node runs");
}

namespace {

std::string undeliverable_of(const backlog_report& backlog) {
    std::int64_t count = 0;
    for (const auto& one : backlog.destinations) count += one.undeliverable.value;
    if (count == 0) return {};
    auto said = counted(count, "of those that wait is undeliverable",
                        "of those that wait are undeliverable");
    for (const auto& one : undeliverable_causes(backlog.destinations))
        said += fmt::format("{} for {} ({})", said.ends_with(')') ? "," : ":", one.destination,
                            one.error);
    return said;
}

}  // namespace

finding check_messages(const doctor_facts& facts) {
    if (!is_readable(facts)) return not_known();
    const auto& file = *facts.file;
    finding found{finding_level::warn, "", "", ""};
    const auto add = [](std::string& to, std::string_view more) {
        to += fmt::format("{}{}", to.empty() ? "" : "\n", more);
    };
    const auto say = [&](std::string_view what, std::string_view why, std::string_view todo) {
        add(found.what, what);
        add(found.why, why);
        if (!found.todo.contains(todo)) add(found.todo, todo);
    };
    if (file.dead > 0)
        say(counted(file.dead, "message is dead", "messages are dead"),
            "dead ones are not sent again unless an operator asks", "see 'posthorn dead list'");
    if (file.expired > 0)
        say(counted(file.expired, "message expired before it was delivered",
                    "messages expired before they were delivered"),
            "what has expired is lost work until an operator requeues it under a new id, or "
            "resolves it",
            "see 'posthorn dead list --status Expired'");
    if (const auto blocked = describe(file.blocked); !blocked.empty())
        say(blocked,
            "they wait until an operator requeues, resolves or deletes that one, or until they "
            "expire",
            "see 'posthorn stats'");
    if (const auto stranded = undeliverable_of(file.backlog); !stranded.empty())
        say(stranded, "they wait for a route, a secret or a handler until they expire",
            "see 'posthorn stats'");
    if (file.beside.lost > 0)
        say(counted(file.beside.lost, "message has lost the row that leads to it",
                    "messages have lost the rows that lead to them"),
            "nothing finds them without it: a program has changed outbox_due or outbox_closed",
            "start a node: it finds them at once, and while it runs with every cleanup");
    if (file.beside.odd > 0)
        say(counted(file.beside.odd,
                    "row beside messages belongs to none, or does not say what its message says",
                    "rows beside messages belong to none, or do not say what their message says"),
            "counts and lists may be wrong, and messages of an order key may wait for nothing",
            "start a node: it mends them at once, and while it runs with every cleanup");
    if (found.what.empty()) return fine("none is dead, expired, undeliverable or blocked");
    return found;
}

}  // namespace posthorn
