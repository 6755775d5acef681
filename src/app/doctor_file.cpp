// The checks that go by what the database and its log say.
#include <fmt/format.h>

#include "app/doctor.hpp"

namespace posthorn {
namespace {

finding fine(std::string what) { return {finding_level::ok, std::move(what)}; }

/// What the tables and integrity checks say already is not said again.
finding not_known() { return fine("not known, since the database cannot be read"); }

bool is_readable(const doctor_facts& facts) { return facts.file && facts.file->damage.empty(); }

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
                " has the WAL-reset bug; nobody uses the database, and a node will guard it");
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
        return fine(facts.file->lease_owner.empty() ? "a node runs, and nobody dispatches yet"
                                                    : "a node runs and dispatches");
    if (!facts.file->lease_owner.empty())
        return fine("no node runs; the last one was killed, and the next takes over at once");
    return fine("no node runs");
}

finding check_messages(const doctor_facts& facts) {
    if (!is_readable(facts)) return not_known();
    const auto& file = *facts.file;
    if (file.dead == 0 && file.undeliverable == 0)
        return fine("none is dead, none is undeliverable");
    const bool is_dead = file.dead > 0;
    return {finding_level::warn,
            fmt::format("{} messages are dead, {} of those that wait are undeliverable", file.dead,
                        file.undeliverable),
            is_dead ? "nobody sends them again by himself"
                    : "they wait for a route, a secret or a handler until they expire",
            is_dead ? "see 'posthorn dead list'" : "see 'posthorn outbox stats'"};
}

}  // namespace posthorn
