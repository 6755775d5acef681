#include "lease/shared_job.hpp"

#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "base/async/virtual_loop.hpp"
#include "support/test_environment.hpp"
#include "unit/outbox/memory_store.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::memory_store;

/// A node that has the job, or would.
class worker {
public:
    worker(virtual_loop& loop, std::string owner, memory_store& store)
        : env_(loop, log_),
          job_({env_, store, {}}, {.owner = std::move(owner)}, "tidying",
               [this, &loop] { return work(loop.time()); }),
          group_(std::make_unique<task_group>(loop.executor())) {
        group_->spawn(job_.run());
        loop.settle();
    }

    void stop(virtual_loop& loop) {
        group_->cancel();
        loop.run(group_->join());
    }
    int begun = 0;
    bool at_work = false;

private:
    task<> work(timer& time) {
        ++begun;
        at_work = true;
        while (co_await time.sleep_for(1s)) {
        }
        at_work = false;
    }

    logger log_ = logger::null();
    test::test_environment env_;
    shared_job job_;
    std::unique_ptr<task_group> group_;
};

TEST(shared_job, is_done_by_one_node_and_by_the_next_when_that_stops) {
    virtual_loop loop;
    memory_store ours(loop.time());
    memory_store theirs(loop.time(), ours.share());
    worker first(loop, "first", ours);
    worker second(loop, "second", theirs);
    loop.run_for(1min);
    EXPECT_TRUE(first.at_work);
    EXPECT_EQ(second.begun, 0);
    first.stop(loop);
    EXPECT_FALSE(first.at_work);
    loop.run_for(2s);
    EXPECT_TRUE(second.at_work) << "it need not wait for the lease, which was given back";
    second.stop(loop);
    EXPECT_EQ(first.begun + second.begun, 2);
}

TEST(shared_job, is_left_when_the_lease_is_lost) {
    virtual_loop loop;
    memory_store ours(loop.time());
    worker node(loop, "first", ours);
    EXPECT_TRUE(node.at_work);
    ours.tables.holder = lease{.owner = "another", .epoch = ++ours.tables.epoch, .beat = 1};
    loop.run_for(4s);
    EXPECT_FALSE(node.at_work);
    node.stop(loop);
}

}  // namespace
}  // namespace posthorn
