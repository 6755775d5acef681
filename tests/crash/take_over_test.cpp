// Two processes on one file: one dispatches, the other stands by.
#include <gmock/gmock.h>

#include "crash/crash_fixture.hpp"
#include "support/eventually.hpp"

namespace {

using posthorn::test::eventually;
using testing::HasSubstr;

constexpr posthorn::test::process_end exit_0{0, 0};

TEST_F(crash, a_standby_takes_over_from_a_killed_dispatcher_and_charges_no_attempt) {
    // The lease lasts an hour: what tells the stand-by is that the process is gone.
    const auto first = start({"at=in_flight", "send=3"});
    await_line(*first, "at: in_flight");
    const auto standby = start({});
    await_line(*standby, "ready");
    EXPECT_EQ(outbox(), "Pending 3\n");  // It only looks on.
    EXPECT_EQ(orders("SELECT epoch FROM posthorn_leases"), 1);
    kill(*first);
    EXPECT_TRUE(eventually([&] { return outbox() == "Sent 3\n"; }, std::chrono::seconds(5)));
    EXPECT_EQ(orders("SELECT epoch FROM posthorn_leases"), 2);
    EXPECT_EQ(retries(), 0);
    standby->send_signal(SIGTERM);
    EXPECT_EQ(standby->wait(), exit_0);
    expect_once(3);
}

TEST_F(crash, settlements_of_a_dispatcher_paused_past_its_lease_are_refused) {
    // The first one has delivered, holds the answer, and is paused.
    const auto paused = start({"send=1", "network=forged", "lease_ms=300"});
    await_line(*paused, "holding");
    pause_between_writes(*paused);
    EXPECT_EQ(effects(), 1);

    // The second one takes over. It gets nothing through, so the row is free for a late settlement.
    const auto standby = start({"network=down", "lease_ms=300"});
    EXPECT_TRUE(eventually([&] { return retries() > 0; }));
    EXPECT_EQ(orders("SELECT epoch FROM posthorn_leases"), 2);

    // The first one goes on and wants to bury the message.
    paused->send_signal(SIGCONT);
    paused->send_signal(SIGUSR1);
    await_line(*paused, "no longer dispatches");
    paused->send_signal(SIGTERM);
    EXPECT_EQ(paused->wait(), exit_0);
    EXPECT_EQ(outbox(), "Pending 1\n");

    standby->send_signal(SIGUSR1);
    EXPECT_TRUE(eventually([&] { return outbox() == "Sent 1\n"; }));
    standby->send_signal(SIGTERM);
    EXPECT_EQ(standby->wait(), exit_0);
    EXPECT_THAT(standby->out(), HasSubstr(" duplicate\n"));
    expect_once(1);
}

}  // namespace
