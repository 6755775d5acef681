#include "base/async/run_on.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/async/virtual_loop.hpp"

namespace posthorn {
namespace {

TEST(run_on, gives_the_value_of_a_function_that_ran_on_another_thread) {
    io_threads network("network");
    worker_threads workers("worker");
    const auto ran_on =
        start(network.executor(), run_on(workers, [] { return std::this_thread::get_id(); })).get();
    EXPECT_NE(ran_on, std::this_thread::get_id());
}

TEST(run_on, runs_inline_in_a_virtual_world) {
    virtual_loop loop;
    inline_executor here;
    EXPECT_EQ(loop.run(run_on(here, [] { return 42; })), 42);
}

}  // namespace
}  // namespace posthorn
