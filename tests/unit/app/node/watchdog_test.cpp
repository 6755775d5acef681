#include "app/node/watchdog.hpp"

#include <vector>

#include <gmock/gmock.h>

#include "base/async/task_group.hpp"
#include "base/async/virtual_loop.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;

/// A store of which only the state is asked.
class fake_store final : public store {
public:
    void submit(unit) override {}
    void submit(std::vector<unit>) override {}
    void submit_and_wait(unit) override {}
    result<> read(const std::function<result<>(store_reader&)>&) override { return {}; }
    void hand_to(commit_taker*) override {}
    void listen(commit_listener&) override {}
    void forget(commit_listener&) override {}
    result<bool> changed_by_others() override { return false; }
    void barrier(unit::done_type) override {}
    [[nodiscard]] shared_dispatch* sharing() override { return nullptr; }
    [[nodiscard]] file_upkeep* upkeep() override { return nullptr; }
    [[nodiscard]] bool has_failed() const override { return failed; }
    [[nodiscard]] std::optional<error> write_trouble() const override { return std::nullopt; }
    [[nodiscard]] std::uint64_t units_done() const override { return 0; }
    [[nodiscard]] std::chrono::nanoseconds longest_wait() const override { return age; }
    [[nodiscard]] std::chrono::nanoseconds unit_age() const override { return age; }
    result<> check_integrity() override { return {}; }
    void stop() override {}

    bool failed = false;
    std::chrono::nanoseconds age{};
};

class watchdog_test : public ::testing::Test {
protected:
    watchdog_test() { running_.spawn(subject_.run()); }
    ~watchdog_test() override {
        running_.cancel();
        loop.run(running_.join());
    }

    virtual_loop loop;
    fake_store watched;
    std::vector<std::string> events;  // What was logged and what was called, in order.

private:
    logger log_{{.level = log_level::error,
                 .sink = [this](std::string_view line) { events.emplace_back(line); }},
                [this] { return loop.time().wall(); }};
    watchdog subject_{watched, loop.time(), log_, {}, [this](const std::string& why) {
                          events.push_back("stop: " + why);
                      }};
    task_group running_{loop.executor()};
};

TEST_F(watchdog_test, says_why_in_the_log_before_it_stops_over_a_failed_store) {
    loop.run_for(5s);
    EXPECT_TRUE(events.empty());
    watched.failed = true;
    loop.run_for(1s);
    ASSERT_EQ(events.size(), 2U);
    EXPECT_THAT(events[0], HasSubstr("[ERR] Node: stops at once"));
    EXPECT_THAT(events[0], HasSubstr("a commit is in doubt"));
    EXPECT_THAT(events[1], HasSubstr("stop: a commit is in doubt"));
}

TEST_F(watchdog_test, says_why_in_the_log_before_it_stops_over_a_stuck_unit) {
    watched.age = 61s;
    loop.run_for(1s);
    EXPECT_THAT(events, Contains(HasSubstr("[ERR] Node: stops at once")));
    ASSERT_FALSE(events.empty());
    EXPECT_THAT(events.back(), HasSubstr("stop: a handler or transaction has been stuck for"));
}

}  // namespace
}  // namespace posthorn
