// The ten failure scenarios of the messaging description, each with a process that is really
// killed.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "crash/crash_fixture.hpp"

namespace {

using testing::HasSubstr;
using testing::Not;

// What the receiver answered, a line each.
std::vector<std::string> answers(const std::string& out) {
    std::vector<std::string> found;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("answer: ")) found.push_back(line.substr(8));
    return found;
}

TEST_F(crash, scenario_1_sender_crashes_before_the_outbox_write) {
    for (const auto* const point : {"in_transaction_before_send", "in_transaction_before_commit"}) {
        crash_at(point, {"send=3"});
        recover();
        EXPECT_EQ(orders("SELECT count(*) FROM orders"), 0) << point;
        EXPECT_EQ(outbox(), "") << point;
        EXPECT_EQ(effects(), 0) << point;
    }
    recover({"send=1"});  // And it goes on as if nothing had been.
    expect_once(1);
}

TEST_F(crash, scenario_2_sender_crashes_after_the_outbox_write_before_the_send) {
    crash_at("after_commit_before_send", {"send=3"});
    EXPECT_EQ(outbox(), "Pending 3\n");
    EXPECT_EQ(effects(), 0);
    recover();
    expect_once(3);
    EXPECT_EQ(retries(), 0);
}

TEST_F(crash, scenario_3_the_network_fails_during_the_send) {
    crash_at("after_failed_attempt", {"send=2", "network=down"});
    EXPECT_EQ(outbox(), "Pending 2\n");
    EXPECT_GE(retries(), 1);
    EXPECT_EQ(open("orders.db").text("SELECT last_error FROM outbox_messages LIMIT 1"),
              "connection reset by peer");
    EXPECT_EQ(effects(), 0);
    recover();
    expect_once(2);
}

TEST_F(crash, scenario_4_receiver_crashes_before_processing) {
    crash_at("in_handler_before_work", {"send=3"});
    EXPECT_EQ(outbox(), "Pending 3\n");
    recover();
    expect_once(3);
    EXPECT_EQ(retries(), 0);  // Nobody's attempt failed.
}

TEST_F(crash, scenario_5_receiver_crashes_after_processing_before_the_inbox_write) {
    crash_at("in_handler_after_work", {"send=3"});
    EXPECT_EQ(effects(), 0);
    EXPECT_EQ(open("billing.db").integer("SELECT count(*) FROM inbox_messages"), 0);
    recover();
    expect_once(3);
}

TEST_F(crash, scenario_6_the_ack_is_lost_after_processing_and_inbox_write) {
    const auto first = answers(crash_at("received", {"send=1"}));
    EXPECT_EQ(outbox(), "Pending 1\n");
    EXPECT_EQ(effects(), 1);
    ASSERT_EQ(first.size(), 1U);
    EXPECT_THAT(first[0], Not(HasSubstr("duplicate")));
    const auto second = recover();
    EXPECT_THAT(answers(second), testing::ElementsAre(first[0] + " duplicate"));
    EXPECT_THAT(second, HasSubstr("drained: 1 duplicates"));
    expect_once(1);
}

TEST_F(crash, scenario_7_sender_retries_because_its_time_ran_out) {
    const auto out = recover({"send=1", "network=slow"});
    const auto seen = answers(out);
    ASSERT_EQ(seen.size(), 2U) << out;
    EXPECT_EQ(seen[1], seen[0] + " duplicate");
    EXPECT_EQ(retries(), 0);
    EXPECT_THAT(open("orders.db").text("SELECT error FROM outbox_attempts"),
                HasSubstr("timed out"));
    expect_once(1);
}

TEST_F(crash, scenario_7_survives_a_kill_while_the_sender_waits_for_the_late_answer) {
    const auto child = start({"send=1", "network=slow"});
    const auto first = await_line(*child, "answer: ");
    kill(*child);
    EXPECT_THAT(answers(recover()), testing::ElementsAre(first.substr(8) + " duplicate"));
    expect_once(1);
}

TEST_F(crash, scenario_8_the_message_expires_before_delivery) {
    crash_at("after_commit_before_send", {"send=2", "expires_ms=50"});
    EXPECT_EQ(outbox(), "Pending 2\n");
    recover({"network=down"});
    EXPECT_EQ(outbox(), "Expired 2\n");
    recover();  // Too late.
    EXPECT_EQ(outbox(), "Expired 2\n");
    EXPECT_EQ(effects(), 0);
    EXPECT_EQ(orders("SELECT count(*) FROM orders"), 2);
}

TEST_F(crash, scenario_9_sender_and_receiver_crash_at_once) {
    for (int run = 0; run < 3; ++run) {
        crash_at("in_handler_after_work", run == 0 ? arguments{"send=200"} : arguments{});
        EXPECT_EQ(outbox(), "Pending 200\n");
        EXPECT_EQ(effects(), 0);
    }
    recover();
    expect_once(200);
    EXPECT_EQ(retries(), 0);
}

// Zeroes every page but the first, as a disk may that lost them.
void damage(const std::string& path) {
    constexpr std::size_t page_size = 4096;
    const auto size = std::filesystem::file_size(path);
    ASSERT_GT(size, 2 * page_size);
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(page_size);
    const std::string zeroes(size - page_size, '\0');
    file.write(zeroes.data(), static_cast<std::streamsize>(zeroes.size()));
}

TEST_F(crash, scenario_10_a_corrupt_file_is_detected_and_a_restored_copy_works) {
    recover({"send=5"});
    crash_at("after_commit_before_send", {"send=3"});
    // The backup: SQLite's own, so that it holds what is only in the WAL yet.
    open("orders.db").run("VACUUM INTO '" + directory.file("backup.db") + "'");
    recover();  // What was pending in the backup is delivered after it was made.
    EXPECT_EQ(effects(), 8);

    damage(directory.file("orders.db"));
    const auto broken = start({"drain=1"});
    EXPECT_EQ(broken->wait(), (posthorn::test::process_end{3, 0}));
    EXPECT_THAT(broken->out(), HasSubstr("error: store_corrupt: "));
    EXPECT_THAT(broken->out(), HasSubstr("restore a backup"));

    for (const auto* const name : {"orders.db", "orders.db-wal", "orders.db-shm"})
        std::filesystem::remove(directory.file(name));
    std::filesystem::rename(directory.file("backup.db"), directory.file("orders.db"));
    // The restored file sends three again; the receiver knows them.
    EXPECT_THAT(recover(), HasSubstr("drained: 3 duplicates"));
    expect_once(8);
}

TEST_F(crash, an_external_handler_that_was_killed_runs_again_under_the_same_id) {
    const auto first = crash_at("in_external_handler", {"send=1", "handler=external"});
    const auto second = recover({"handler=external"});
    const auto id = open("orders.db").text("SELECT message_id FROM outbox_messages");
    EXPECT_THAT(first, HasSubstr("outside: " + id));
    EXPECT_THAT(second, HasSubstr("outside: " + id));
    EXPECT_EQ(outbox(), "Sent 1\n");
}

}  // namespace
