// The failure scenarios of the messaging document, each with the crash at exactly its point.
#include <gtest/gtest.h>

#include "sim/disk_query.hpp"
#include "sim/world.hpp"

namespace posthorn::sim {
namespace {

using namespace std::chrono_literals;

/// Two services whose handlers always succeed and answer something new each time.
class scenario : public testing::Test {
protected:
    scenario() : scenario(brisk_options()) {}
    explicit scenario(core_options node)
        : around({.seed = 7,
                  .services = 2,
                  .habits = {.throws_early = 0,
                             .throws_late = 0,
                             .buries = 0,
                             .breaks_the_group = 0,
                             .responds = 100,
                             .sends_on = 0},
                  .node = std::move(node)}) {
        around.net.look_interval = 1;  // Every ACK is held against the disk.
        around.downtime = [] { return 1s; };
        around.net.on_leaving = [this](const parcel&) { ++sends; };
        around.work.in_handler = [this](process&, const message&) { ++runs; };
        around.start();
    }

    machine& sender() { return around.at(0); }
    machine& receiver() { return around.at(1); }
    process& sending() { return *sender().running().front(); }

    /// Sends one message; gives what its sender was told.
    workload::ending send(errand what) {
        auto told = workload::ending::refused;
        around.work.submit(sending(), std::make_shared<const errand>(std::move(what)), false,
                           [&](workload::ending how) { told = how; });
        return told;
    }
    workload::ending send() { return send(around.work.simple("bob")); }
    void crash(machine& which) {
        which.cut_power(fault_disk::unsynced::dropped);
        around.boot_later(which, 1s);
    }

    /// Lets everything come to its end and holds it against the ledger.
    tally finish() {
        EXPECT_TRUE(around.drain(10min));
        return conclude();
    }
    tally conclude() {
        const auto count = around.shut_down();
        for (const auto& wrong : around.book.violations()) ADD_FAILURE() << wrong;
        return count;
    }
    std::int64_t number(machine& at, const std::string& sql) {
        std::int64_t found = -1;
        query_disk(at.disk(), database_path, sql,
                   [&](const plain_row& row) { found = row.number(0); });
        return found;
    }

    world around;
    int sends = 0;  // Batches that left a node.
    int runs = 0;   // Of the handler.
};

TEST_F(scenario, sender_crashes_before_the_outbox_write) {
    bool committed = true;
    sending().core().submit_then(
        [&](transaction& tx) {
            append_to_chain(tx, "an order");
            tx.send("bob", "Effect", R"({"hops":0})");
            sender().disk().cut_now();
        },
        [&](const std::exception_ptr& failure) { committed = failure == nullptr; });
    EXPECT_FALSE(committed);
    crash(sender());
    EXPECT_EQ(finish().messages, 0U);
    EXPECT_EQ(number(sender(), "SELECT count(*) FROM chain"), 0);  // Nor the business row.
    EXPECT_EQ(sends, 0);
}

TEST_F(scenario, sender_crashes_after_the_outbox_write_before_the_send) {
    auto told = workload::ending::refused;
    around.work.submit(sending(), std::make_shared<const errand>(around.work.simple("bob")), false,
                       [&](workload::ending how) {
                           told = how;
                           EXPECT_EQ(sends, 0);
                           crash(sender());  // In the moment in which the commit is on disk.
                       });
    EXPECT_EQ(told, workload::ending::committed);
    around.loop.run_for(900ms);
    EXPECT_EQ(sends, 0);
    const auto count = finish();
    EXPECT_EQ(count.sent, 1U);
    EXPECT_EQ(count.effects, 1U);
    EXPECT_EQ(sends, 1);
}

TEST_F(scenario, network_fails_during_the_send) {
    around.net.on_leaving = [this](const parcel&) {
        around.net.now.lost = ++sends == 1 ? 1000 : 0;
    };
    EXPECT_EQ(send(), workload::ending::committed);
    const auto count = finish();
    EXPECT_EQ(sends, 2);
    EXPECT_EQ(count.sent, 1U);
    EXPECT_EQ(count.effects, 1U);
    EXPECT_EQ(number(sender(), "SELECT retry_count FROM outbox_messages"), 0);
    EXPECT_EQ(number(sender(), "SELECT count(*) FROM outbox_attempts WHERE attempt = 0"), 1);
}

TEST_F(scenario, receiver_crashes_before_processing) {
    around.net.on_arriving = [this](const parcel&, process&) {
        around.net.on_arriving = nullptr;
        crash(receiver());
    };
    EXPECT_EQ(send(), workload::ending::committed);
    around.loop.run_for(500ms);
    EXPECT_EQ(runs, 0);
    const auto count = finish();
    EXPECT_EQ(count.sent, 1U);
    EXPECT_EQ(count.effects, 1U);
    EXPECT_EQ(runs, 1);
}

TEST_F(scenario, receiver_crashes_after_processing_before_the_inbox_write) {
    around.work.in_handler = [this](process&, const message&) {
        if (++runs == 1) receiver().disk().cut_now();
    };
    EXPECT_EQ(send(), workload::ending::committed);
    around.loop.run_for(500ms);
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(number(receiver(), "SELECT count(*) FROM effects"), 0);
    EXPECT_EQ(number(receiver(), "SELECT count(*) FROM inbox_messages"), 0);
    const auto count = finish();
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(count.sent, 1U);
    EXPECT_EQ(count.effects, 1U);
}

TEST_F(scenario, receiver_processes_and_the_ack_is_lost) {
    around.net.on_leaving = [this](const parcel&) {
        around.net.now.ack_lost = ++sends == 1 ? 1000 : 0;
    };
    EXPECT_EQ(send(), workload::ending::committed);
    const auto count = finish();
    EXPECT_EQ(sends, 2);
    EXPECT_EQ(runs, 1);  // The second answer is the first one's, byte for byte: the ledger checks.
    EXPECT_EQ(around.net.seen().deliveries, 2U);
    EXPECT_EQ(count.sent, 1U);
    EXPECT_EQ(count.effects, 1U);
}

TEST_F(scenario, sender_retries_because_the_answer_is_late) {
    around.net.on_answered = [this](const parcel&, process&) {
        if (sends == 1) around.net.now = {.delayed = 1000, .delay_max = 1h};
    };
    around.net.on_leaving = [this](const parcel&) {
        ++sends;
        around.net.now = {};
    };
    EXPECT_EQ(send(), workload::ending::committed);
    const auto count = finish();
    EXPECT_EQ(sends, 2);
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(count.sent, 1U);
    EXPECT_EQ(count.effects, 1U);
    EXPECT_EQ(
        number(sender(), "SELECT count(*) FROM outbox_attempts WHERE error LIKE 'timed out%'"), 1);
}

TEST_F(scenario, message_expires_before_its_delivery) {
    around.net.cut.insert({"ann", "bob"});
    auto what = around.work.simple("bob");
    what.letters.front().options.expires_in = 3s;
    EXPECT_EQ(send(std::move(what)), workload::ending::committed);
    const auto count = finish();
    EXPECT_GT(sends, 0);
    EXPECT_EQ(count.expired, 1U);
    EXPECT_EQ(count.effects, 0U);
    EXPECT_EQ(runs, 0);
}

TEST_F(scenario, sender_and_receiver_crash_together) {
    around.net.on_arriving = [this](const parcel&, process&) {
        around.net.on_arriving = nullptr;
        crash(sender());
        crash(receiver());
    };
    EXPECT_EQ(send(), workload::ending::committed);
    around.loop.run_for(500ms);
    EXPECT_EQ(number(sender(), "SELECT count(*) FROM outbox_messages WHERE status = 'Pending'"), 1);
    EXPECT_EQ(number(receiver(), "SELECT count(*) FROM inbox_messages"), 0);
    const auto count = finish();
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(count.sent, 1U);
    EXPECT_EQ(count.effects, 1U);
}

// Not of the document.
TEST_F(scenario, a_sync_fails_in_the_commit_of_the_sender) {
    sender().disk().fail_next_syncs(1);
    EXPECT_EQ(send(), workload::ending::in_doubt);  // Whether it is stored shows after a restart.
    EXPECT_TRUE(sender().has_gone_down());
    const auto count = finish();
    EXPECT_EQ(count.sent, count.messages);
    EXPECT_EQ(count.effects, count.messages);
}

// Nor this one. Whatever leaves is looked for on the disk.
TEST_F(scenario, a_row_of_plain_sql_is_not_on_disk_when_it_is_seen) {
    sender().write_foreign("bob", "");
    const auto count = finish();
    EXPECT_EQ(count.sent, 1U);
    EXPECT_EQ(count.effects, 1U);
}

TEST_F(scenario, database_is_corrupted_and_comes_back_from_a_backup) {
    around.net.cut.insert({"ann", "bob"});
    EXPECT_EQ(send(), workload::ending::committed);
    around.loop.run_for(1s);
    sender().stop();
    around.loop.run_for(1min);
    ASSERT_TRUE(sender().is_empty());
    auto& disk = sender().disk();
    std::map<std::string, std::vector<std::byte>> backup;
    for (const auto& path : disk.paths()) backup[path] = disk.contents(path);
    const auto page =
        number(sender(), "SELECT rootpage FROM sqlite_schema WHERE name = 'outbox_messages'");
    const auto size = number(sender(), "PRAGMA page_size");
    disk.corrupt(database_path, static_cast<std::uint64_t>((page - 1) * size), 64);
    // Found at the start, before anything is sent on the strength of it.
    ASSERT_FALSE(sender().boot());
    EXPECT_EQ(sender().boot_error()->code(), error_code::store_corrupt);

    for (const auto& [path, bytes] : backup) disk.put(path, bytes);
    around.net.cut.clear();
    ASSERT_TRUE(sender().boot());
    const auto count = finish();
    EXPECT_EQ(count.sent, 1U);
    EXPECT_EQ(count.effects, 1U);
}

}  // namespace
}  // namespace posthorn::sim
