#include <gmock/gmock.h>

#include "crash/crash_fixture.hpp"

namespace {

TEST_F(crash, a_handler_stuck_in_cpp_turns_health_red_and_then_stops_the_node) {
    const auto child = start({"at=in_handler_after_work", "send=2", "watchdog_ms=100"});
    EXPECT_EQ(await_line(*child, "health: "),
              "health: red: a handler or transaction is stuck, and others may wait for it");
    EXPECT_THAT(await_line(*child, "fail-stop: "), testing::HasSubstr("has been stuck for"));
    EXPECT_EQ(child->wait(), (posthorn::test::process_end{-1, SIGABRT}));
    EXPECT_EQ(effects(), 0);
    recover();  // A supervisor starts it anew; nothing was lost.
    expect_once(2);
}

}  // namespace
