// The sandbox of deployed workflows, attacked from inside and looked at from outside. Without Landlock
// or seccomp in the kernel these tests fail: nothing may run there.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time/clock.hpp"
#include "workflow/runner/runner_process.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr auto long_enough = 10min;  // What ends does so much earlier, on whatever machine.
constexpr auto a_moment = 500ms;     // What never ends is waited for so long.
const std::filesystem::path mark = "/tmp/posthorn-attack-mark";
constexpr std::uint64_t memory_max = 256UL << 20U;

const clock& time_here() {
    static const real_clock one;
    return one;
}

std::vector<std::byte> bytes_of(const char* path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

result<std::unique_ptr<runner_link>> start(const char* binary,
                                           std::chrono::milliseconds ready = long_enough) {
    return start_runner(
        bytes_of(binary),
        {.program = POSTHORN_RUNNER, .memory_bytes_max = memory_max, .ready_within = ready},
        time_here());
}

std::unique_ptr<runner_link> attacker() {
    std::filesystem::remove(mark);
    auto started = start(POSTHORN_ATTACKER);
    EXPECT_TRUE(started) << started.error().what();
    return started ? *std::move(started) : nullptr;
}

std::string ask(runner_link& runner, std::string_view what) {
    const auto answer = runner.exchange(what, long_enough);
    return answer ? *answer : std::string("lost: ") + answer.error().what();
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream from(text);
    for (std::string line; std::getline(from, line);) lines.push_back(line);
    return lines;
}

/// Processes whose parent is this one.
std::vector<std::string> children() {
    std::vector<std::string> found;
    const auto self = std::filesystem::read_symlink("/proc/self").string();
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream status(entry.path() / "status");
        for (std::string line; std::getline(status, line);)
            if (line == "PPid:\t" + self) found.push_back(entry.path().filename());
    }
    return found;
}

std::string status_of(const std::string& process, std::string_view field) {
    std::ifstream status("/proc/" + process + "/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(field))
            return line.substr(line.find_first_not_of(" \t", field.size()));
    return "";
}

class sandbox : public testing::Test {
protected:
    void TearDown() override { EXPECT_FALSE(std::filesystem::exists(mark)); }
};

TEST_F(sandbox, refuses_every_attempt_of_what_runs_in_it) {
    const auto runner = attacker();
    ASSERT_NE(runner, nullptr);
    const auto names = lines_of(ask(*runner, "names"));
    ASSERT_GE(names.size(), 70U);
    for (const auto& each : names)
        EXPECT_THAT(ask(*runner, each.substr(1)), testing::StartsWith("refused")) << each;
    EXPECT_EQ(ask(*runner, "unknown"), "unknown");  // It lives, and has nothing.
}

TEST_F(sandbox, refuses_every_attempt_of_its_constructors) {
    const auto runner = attacker();
    ASSERT_NE(runner, nullptr);
    const auto seen = lines_of(ask(*runner, "loading"));
    ASSERT_GE(seen.size(), 70U);
    for (const auto& each : seen)
        if (each.starts_with('-')) EXPECT_THAT(each, HasSubstr(": refused ")) << each;
}

TEST_F(sandbox, is_as_the_kernel_tells_from_outside) {
    const auto runner = attacker();
    ASSERT_NE(runner, nullptr);
    const auto mine = children();
    ASSERT_EQ(mine.size(), 1U);
    EXPECT_EQ(status_of(mine[0], "NoNewPrivs:"), "1");
    EXPECT_EQ(status_of(mine[0], "Seccomp:"), "2");
    EXPECT_EQ(status_of(mine[0], "Threads:"), "1");
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + mine[0] + "/fd"))
        files.push_back(entry.path().filename().string() + " " +
                        std::filesystem::read_symlink(entry.path()).string().substr(0, 5));
    EXPECT_THAT(files, testing::UnorderedElementsAre("0 /dev/", "1 /dev/", "2 /dev/",
                                                     "3 pipe:", "4 /memf", "5 pipe:"));
    std::ifstream environment("/proc/" + mine[0] + "/environ");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(environment), {}), "");
    std::ifstream maps("/proc/" + mine[0] + "/maps");
    for (std::string line; std::getline(maps, line);)
        EXPECT_THAT(line, testing::Not(HasSubstr(" rwx"))) << "written and run";
}

TEST_F(sandbox, leaves_no_process_behind) {
    {
        const auto runner = attacker();
    }
    EXPECT_THAT(children(), testing::IsEmpty());
}

TEST_F(sandbox, gives_no_more_memory_than_is_said) {
    const auto runner = attacker();
    ASSERT_NE(runner, nullptr);
    const auto taken = std::stoull(ask(*runner, "memory"));
    EXPECT_GT(taken, 0U);
    EXPECT_LT(taken, memory_max);
    const auto mine = children();
    ASSERT_EQ(mine.size(), 1U);
    EXPECT_LE(std::stoull(status_of(mine[0], "VmPeak:")) * 1024, memory_max);
}

TEST_F(sandbox, ends_what_does_not_answer) {
    const auto runner = attacker();
    ASSERT_NE(runner, nullptr);
    const auto answer = runner->exchange("spin", a_moment);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), error_code::timed_out);
    EXPECT_THAT(children(), testing::IsEmpty());
    EXPECT_EQ(runner->exchange("names", long_enough).error().code(), error_code::closed);
}

TEST_F(sandbox, tells_how_a_runner_died) {
    for (const std::string what : {"crash", "stack", "leave", "silence"}) {
        const auto runner = attacker();
        ASSERT_NE(runner, nullptr);
        const auto answer = runner->exchange(what, long_enough);
        ASSERT_FALSE(answer) << what;
        EXPECT_EQ(answer.error().code(), error_code::closed) << what;
        EXPECT_THAT(children(), testing::IsEmpty()) << what;
    }
}

TEST_F(sandbox, ends_what_calls_as_another_machine) {
#if defined(__x86_64__)
    for (const std::string what : {"32 bits", "x32"}) {
        const auto runner = attacker();
        ASSERT_NE(runner, nullptr);
        const auto answer = runner->exchange(what, long_enough);
        ASSERT_FALSE(answer) << what << " gave " << *answer;
        EXPECT_EQ(answer.error().code(), error_code::closed) << what;
    }
#endif
}

TEST_F(sandbox, believes_no_frame) {
    for (const std::string what : {"garbage", "huge", "another frame", "a long refusal"}) {
        const auto runner = attacker();
        ASSERT_NE(runner, nullptr);
        const auto answer = runner->exchange(what, long_enough);
        ASSERT_FALSE(answer) << what;
        EXPECT_EQ(answer.error().code(), error_code::malformed_request) << what;
        EXPECT_THAT(children(), testing::IsEmpty()) << what;
    }
}

TEST_F(sandbox, ends_a_constructor_that_hangs_or_crashes) {
    const auto hung = start(POSTHORN_ATTACKER_HANGS, a_moment);
    ASSERT_FALSE(hung);
    EXPECT_EQ(hung.error().code(), error_code::timed_out);
    const auto crashed = start(POSTHORN_ATTACKER_CRASHES);
    ASSERT_FALSE(crashed);
    EXPECT_EQ(crashed.error().code(), error_code::closed);
    EXPECT_THAT(children(), testing::IsEmpty());
}

TEST_F(sandbox, says_why_a_binary_cannot_be_loaded) {
    const auto refused = start("/etc/hostname");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::invalid_configuration);
    EXPECT_THAT(refused.error().what(), HasSubstr("cannot be loaded"));
    const auto missing = start_runner({}, {.program = "/nowhere/posthorn-runner"}, time_here());
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().what(), HasSubstr("/nowhere/posthorn-runner"));
}

}  // namespace
}  // namespace posthorn
