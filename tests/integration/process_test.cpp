#include "support/process.hpp"

#include <csignal>
#include <system_error>

#include <gtest/gtest.h>

namespace posthorn::test {
namespace {

using namespace std::chrono_literals;

process shell(const std::string& script) { return process({"/bin/sh", "-c", script}); }

TEST(process, gives_lines_as_they_come) {
    auto child = shell("echo one; echo two; printf three");
    EXPECT_EQ(child.read_line(), "one");
    EXPECT_EQ(child.read_line(), "two");
    EXPECT_EQ(child.read_line(), std::nullopt);  // It has no end, so it is not a line.
    EXPECT_EQ(child.wait(), (process_end{0, 0}));
    EXPECT_EQ(child.out(), "one\ntwo\nthree");
}

TEST(process, tells_the_exit_code_and_both_streams) {
    const auto result = run_process({"/bin/sh", "-c", "echo out; echo err >&2; exit 7"});
    EXPECT_EQ(result.end, (process_end{7, 0}));
    EXPECT_EQ(result.out, "out\n");
    EXPECT_EQ(result.err, "err\n");
}

TEST(process, tells_the_signal_that_ended_it) {
    auto child = shell("echo ready; exec sleep 1000");
    EXPECT_EQ(child.read_line(), "ready");
    child.send_signal(SIGTERM);
    EXPECT_EQ(child.wait(), (process_end{-1, SIGTERM}));
}

TEST(process, gives_up_at_the_deadline) {
    auto child = shell("exec sleep 1000");
    EXPECT_EQ(child.read_line(10ms), std::nullopt);
    EXPECT_EQ(child.wait(10ms), std::nullopt);
}

TEST(process, kills_and_reaps_what_still_runs) {
    pid_t id = 0;
    {
        auto child = shell("exec sleep 1000");
        id = child.id();
        EXPECT_EQ(::kill(id, 0), 0);
    }
    EXPECT_EQ(::kill(id, 0), -1);
}

TEST(process, never_blocks_the_child_on_a_full_pipe) {
    const auto result =
        run_process({"/bin/sh", "-c", "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero"});
    EXPECT_EQ(result.err.size(), 300000U);
    EXPECT_EQ(result.out.size(), 300000U);
}

TEST(process, passes_input_environment_and_folder) {
    const auto result = run_process({"/bin/sh", "-c", "cat; echo $POSTHORN_TEST; pwd"},
                                    {.environment = {{"POSTHORN_TEST", "value"}},
                                     .working_directory = "/",
                                     .input = "input\n"});
    EXPECT_EQ(result.out, "input\nvalue\n/\n");
}

TEST(process, says_that_a_program_is_missing) {
    EXPECT_THROW(process({"/nonexistent/program"}), std::system_error);
}

}  // namespace
}  // namespace posthorn::test
