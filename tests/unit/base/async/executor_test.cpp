#include "base/async/executor.hpp"

#include <atomic>
#include <future>
#include <latch>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(worker_threads, one_thread_runs_jobs_in_the_order_of_posting) {
    std::vector<int> seen;
    {
        worker_threads threads("test");
        for (int i = 0; i < 1000; ++i) threads.post([&seen, i] { seen.push_back(i); });
    }
    std::vector<int> expected(1000);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(seen, expected);
}

TEST(worker_threads, several_threads_run_jobs_at_the_same_time) {
    std::latch both(2);
    std::promise<void> done;
    worker_threads threads("test", 2);
    threads.post([&] { both.arrive_and_wait(); });
    threads.post([&] {
        both.arrive_and_wait();
        done.set_value();
    });
    done.get_future().get();
}

TEST(worker_threads, the_destructor_runs_what_was_posted) {
    std::atomic<int> ran = 0;
    {
        worker_threads threads("test", 3);
        for (int i = 0; i < 500; ++i) threads.post([&ran] { ++ran; });
    }
    EXPECT_EQ(ran, 500);
}

TEST(worker_threads, a_job_may_post_another) {
    std::promise<void> done;
    worker_threads threads("test");
    threads.post([&] { threads.post([&] { done.set_value(); }); });
    done.get_future().get();
}

TEST(inline_executor, runs_a_job_before_post_returns) {
    inline_executor here;
    bool ran = false;
    here.post([&] { ran = true; });
    EXPECT_TRUE(ran);
}

TEST(inline_executor, a_job_posted_from_inside_a_job_runs_after_it) {
    inline_executor here;
    std::vector<int> order;
    here.post([&] {
        here.post([&] { order.push_back(2); });
        order.push_back(1);
    });
    EXPECT_EQ(order, (std::vector{1, 2}));
}

}  // namespace
}  // namespace posthorn
