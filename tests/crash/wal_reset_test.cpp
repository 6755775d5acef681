// The schedule of SQLite's WAL-reset bug (docs/adr/0009-wal-reset-guard.md) on the database of a
// service: where no node runs it loses committed rows, and beside a node it cannot be met. This
// process is the foreign program here, with plain SQL and checkpoints of its own.
#include <csignal>

#include <gtest/gtest.h>

#include "crash/invariants.hpp"
#include "crash/plain_link.hpp"
#include "support/pause_in_checkpoint.hpp"
#include "support/proof_run.hpp"

namespace posthorn::crash {
namespace {

using test::sqlite_file;

int checkpoint(const sqlite_file& by, int mode) {
    return sqlite3_wal_checkpoint_v2(by.handle(), "main", mode, nullptr, nullptr);
}

/// Two handles of a foreign program, and what it committed with them.
class foreign_program {
public:
    explicit foreign_program(const std::string& path) : writer_(path), other_(path) {
        // A handle that never read anything does not know that there is a WAL.
        for (auto* const each : {&writer_, &other_})
            each->run("PRAGMA wal_autocheckpoint = 0; SELECT count(*) FROM sqlite_schema");
        writer_.run("CREATE TABLE IF NOT EXISTS filler (bytes BLOB)");
    }

    struct run_end {
        bool met = false;  // Whether the log was started anew in the middle of a checkpoint.
        int code = SQLITE_OK;
        std::int64_t committed = 0;  // The number of the last link.
    };

    /// A log of many frames, all copied, so that the next commit starts it anew: and that comes in
    /// the middle of a checkpoint. All that is committed then goes where it is never copied from.
    run_end run_schedule(int links) {
        for (int i = 0; i < 40; ++i) writer_.run("INSERT INTO filler VALUES (zeroblob(3000))");
        checkpoint(writer_, SQLITE_CHECKPOINT_PASSIVE);
        run_end end;
        {
            const test::pause_in_checkpoint schedule(other_.handle(), [&] { commit_link(); });
            end.code = checkpoint(other_, SQLITE_CHECKPOINT_PASSIVE);
            end.met = schedule.reached();
        }
        for (int i = 0; i < links; ++i) end.committed = commit_link();
        return end;
    }

    std::int64_t commit_link() { return add_plain_link(writer_, true); }
    /// What SQLite says to a checkpoint of each kind.
    [[nodiscard]] std::vector<int> checkpoint_in_every_mode() const {
        std::vector<int> codes;
        for (const int mode : {SQLITE_CHECKPOINT_PASSIVE, SQLITE_CHECKPOINT_FULL,
                               SQLITE_CHECKPOINT_RESTART, SQLITE_CHECKPOINT_TRUNCATE})
            codes.push_back(checkpoint(other_, mode));
        return codes;
    }

private:
    sqlite_file writer_;
    sqlite_file other_;
};

void lose_without_a_node(test::proof_run& run) {
    services world({.seed = run.seed()});
    world.start("source");  // It makes the tables.
    if (!world.await_line("source", "quiet")) return;
    world.stop("source");
    foreign_program::run_end end;
    {
        foreign_program program(world.folder().file("source.db"));
        end = program.run_schedule(1 + world.draw(9));
    }
    EXPECT_TRUE(end.met);
    EXPECT_EQ(end.code, SQLITE_OK);
    auto left = world.open("source");
    EXPECT_EQ(left.text("PRAGMA integrity_check"), "ok");  // Nobody would notice.
    const auto links = left.integer("SELECT count(*) FROM chain");
    EXPECT_LT(links, end.committed);
    run.count("rows lost without a node", static_cast<std::uint64_t>(end.committed - links));
}

void lose_nothing_beside_nodes(test::proof_run& run) {
    services world({.seed = run.seed()});
    world.start("target");
    world.start("source", {"callers=2", "pause_ms=1", "pages=20"});
    if (!world.await_line("source", "ready") || !world.await_line("target", "quiet")) return;
    world.start_writer("writer", "source", 1);
    if (!world.await_line("writer", "ready")) return;
    std::int64_t committed = 0;
    {
        foreign_program program(world.folder().file("source.db"));
        for (int i = 0; i < 10; ++i) {
            const auto end = program.run_schedule(1 + world.draw(9));
            committed = end.committed;
            EXPECT_FALSE(end.met);
            EXPECT_EQ(end.code, SQLITE_BUSY);
            EXPECT_EQ(program.checkpoint_in_every_mode(), std::vector<int>(4, SQLITE_BUSY));
            run.count("schedules beside a node");
        }
    }
    world.stop("writer");
    world.at("source").send_signal(SIGUSR1);
    if (!world.await_line("source", "quiet") || !world.await_drained()) return;
    for (const auto* const name : {"source", "target"}) world.stop(name);
    committed = std::max(committed, world.promised({"source", "writer"}));
    const auto links = expect_invariants(world, {.promised = committed});
    run.count("messages", static_cast<std::uint64_t>(links));
}

TEST(wal_reset_schedule, loses_rows_where_no_node_runs_and_none_beside_a_node) {
    for (test::proof_run run("WAL reset", {.rounds = 1}); run.goes_on() && !HasFailure();
         run.advance()) {
        if (test::sqlite_has_the_wal_reset_bug()) lose_without_a_node(run);
        lose_nothing_beside_nodes(run);
    }
}

}  // namespace
}  // namespace posthorn::crash
