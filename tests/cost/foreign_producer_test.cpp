// What a saturated node costs other processes that write the same file.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conformance/store/temporary_directory.hpp"
#include "posthorn/node.hpp"
#include "support/process.hpp"

namespace posthorn::cost {
namespace {

/// Keeps a node's writer busy: there is always a next group waiting.
class saturation {
public:
    static constexpr int in_flight = 500;

    explicit saturation(node& sender) : sender_(sender) {
        for (int i = 0; i < in_flight; ++i) submit();
    }
    ~saturation() {
        stopping_ = true;
        std::unique_lock lock(mutex_);
        ended_.wait(lock, [this] { return open_ == 0; });
    }
    saturation(const saturation&) = delete;
    saturation& operator=(const saturation&) = delete;

    [[nodiscard]] int committed() const { return committed_; }

private:
    void submit() {
        {
            const std::scoped_lock lock(mutex_);
            ++open_;
        }
        sender_.transact_then(
            [](transaction& tx) { tx.send("nowhere", "Charge", R"({"amount":1})"); },
            [this](const std::exception_ptr& failure) {
                EXPECT_FALSE(failure);
                ++committed_;
                if (!stopping_) submit();
                const std::scoped_lock lock(mutex_);
                if (--open_ == 0) ended_.notify_all();
            });
    }

    node& sender_;
    std::atomic<bool> stopping_ = false;
    std::atomic<int> committed_ = 0;
    std::mutex mutex_;
    std::condition_variable ended_;
    int open_ = 0;
};

struct waits {
    int commits = 0;
    double p50_ms = 0;
    double p99_ms = 0;
    double longest_ms = 0;
    int ours = 0;  // What the node committed meanwhile.
};

struct producer {
    int commits;
    int seconds;
    int pause_ms;  // After each commit.
};

waits produce_beside_a_saturated_node(bool shared, producer who) {
    const conformance::temporary_directory place;
    const auto path = (place.path() / "orders.db").string();
    node busy({.service = "orders",
               .store = {.database = path, .shared = shared},
               .log_level = "error",
               .log_sink = [](std::string_view) {}});
    busy.start();
    waits seen;
    {
        const saturation work(busy);
        const auto done =
            test::run_process({POSTHORN_SQLITE_CHILD, "produce", path, std::to_string(who.commits),
                               std::to_string(who.seconds), std::to_string(who.pause_ms)});
        EXPECT_EQ(done.end, (test::process_end{.exit_code = 0})) << done.err;
        std::istringstream(done.out) >> seen.commits >> seen.p50_ms >> seen.p99_ms >>
            seen.longest_ms;
        seen.ours = work.committed();
    }
    busy.stop();
    for (auto* us : {&seen.p50_ms, &seen.p99_ms, &seen.longest_ms}) *us /= 1000;
    fmt::print(
        "shared = {}, pauses of {} ms: {} foreign commits, p50 {:.2f} ms, p99 {:.2f} ms, longest "
        "{:.2f} ms; {} of ours\n",
        shared, who.pause_ms, seen.commits, seen.p50_ms, seen.p99_ms, seen.longest_ms, seen.ours);
    return seen;
}

constexpr int commits_wanted = 300;

// A commit that does not get the lock within five seconds fails, and the producer with it.
TEST(foreign_producer, commits_beside_a_saturated_shared_node) {
    const auto seen = produce_beside_a_saturated_node(
        true, {.commits = commits_wanted, .seconds = 60, .pause_ms = 2});
    EXPECT_EQ(seen.commits, commits_wanted);
    EXPECT_GT(seen.ours, 10 * commits_wanted);  // The node was busy.
}

TEST(foreign_producer, that_never_pauses_commits_and_lets_the_node_commit_too) {
    const auto seen = produce_beside_a_saturated_node(
        true, {.commits = 10 * commits_wanted, .seconds = 60, .pause_ms = 0});
    EXPECT_EQ(seen.commits, 10 * commits_wanted);
    EXPECT_GT(seen.ours, saturation::in_flight);  // More than what waited from the beginning.
}

// For comparison only: what becomes of it without the gaps depends on the machine.
TEST(foreign_producer, is_measured_beside_a_node_that_leaves_no_gaps) {
    const auto seen = produce_beside_a_saturated_node(
        false, {.commits = commits_wanted, .seconds = 3, .pause_ms = 2});
    EXPECT_GT(seen.ours, seen.commits);
}

}  // namespace
}  // namespace posthorn::cost
