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
    static constexpr int in_flight = 500;

    void submit() {
        {
            const std::scoped_lock lock(mutex_);
            ++open_;
        }
        sender_.transaction_then(
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

waits produce_beside_a_saturated_node(bool shared, int commits, int seconds) {
    const conformance::temporary_directory place;
    const auto path = (place.path() / "orders.db").string();
    node busy({.service = "orders",
               .database = path,
               .shared = shared,
               .log_level = "error",
               .log_sink = [](std::string_view) {}});
    busy.start();
    waits seen;
    {
        const saturation work(busy);
        const auto done = test::run_process({POSTHORN_SQLITE_CHILD, "produce", path,
                                             std::to_string(commits), std::to_string(seconds)});
        EXPECT_EQ(done.end, (test::process_end{.exit_code = 0})) << done.err;
        std::istringstream(done.out) >> seen.commits >> seen.p50_ms >> seen.p99_ms >>
            seen.longest_ms;
        seen.ours = work.committed();
    }
    busy.stop();
    for (auto* us : {&seen.p50_ms, &seen.p99_ms, &seen.longest_ms}) *us /= 1000;
    fmt::print(
        "shared = {}: {} foreign commits, p50 {:.2f} ms, p99 {:.2f} ms, longest {:.2f} ms; "
        "{} of ours\n",
        shared, seen.commits, seen.p50_ms, seen.p99_ms, seen.longest_ms, seen.ours);
    return seen;
}

TEST(foreign_producer, commits_in_time_beside_a_saturated_shared_node) {
    constexpr int commits = 300;
    const auto seen = produce_beside_a_saturated_node(true, commits, 20);
    EXPECT_EQ(seen.commits, commits);
    EXPECT_LT(seen.p99_ms, 50);
    EXPECT_GT(seen.ours, commits);  // The node was busy.
}

// For comparison only: what becomes of it without the gaps depends on the machine.
TEST(foreign_producer, is_measured_beside_a_node_that_leaves_no_gaps) {
    EXPECT_GT(produce_beside_a_saturated_node(false, 300, 3).ours, 300);
}

}  // namespace
}  // namespace posthorn::cost
