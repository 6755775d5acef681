// How a store on PostgreSQL hears from others.
#include <future>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "postgres/node.hpp"
#include "store/postgres/commit/news_watcher.hpp"
#include "support/eventually.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

class postgres_news : public on_postgres {
protected:
    real_clock time_;
    real_timer timer_;
    worker_threads blocking_{"connect"};
    logger log_ = logger::null();
    boost::asio::io_context loop_;
    task_group watching_{loop_.get_executor()};
};

TEST_F(postgres_news, are_no_longer_waited_for_if_it_was_stopped_while_it_connected) {
    std::promise<void> may_connect;
    blocking_.post([&] { may_connect.get_future().wait(); });
    postgres::news_watcher watcher({.url = place_.url(), .schema = place_.schema()}, "me",
                                   {time_, timer_, blocking_, log_}, [] {});
    watching_.spawn(watcher.run());
    loop_.poll();
    watching_.cancel();
    may_connect.set_value();
    const auto ended = start(loop_.get_executor(), watching_.join());
    loop_.run_for(30s);
    ASSERT_EQ(ended.wait_for(0s), std::future_status::ready);
}

TEST_F(postgres_news, come_from_the_commits_of_others) {
    a_store other(place_);
    int heard = 0;
    postgres::news_watcher watcher({.url = place_.url(), .schema = place_.schema()}, "me",
                                   {time_, timer_, blocking_, log_}, [&] { ++heard; });
    watching_.spawn(watcher.run());
    const auto until = [&](int wanted) {
        return test::eventually([&] {
            loop_.poll();
            return heard >= wanted;
        });
    };
    EXPECT_TRUE(until(1)) << "of what came while nobody listened";
    ASSERT_TRUE(succeeded(other.put(sample())));
    EXPECT_TRUE(until(2));
    watching_.cancel();
    const auto ended = start(loop_.get_executor(), watching_.join());
    loop_.run_for(30s);
    ASSERT_EQ(ended.wait_for(0s), std::future_status::ready);
}

}  // namespace
}  // namespace posthorn::conformance
