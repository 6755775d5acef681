#include "nodes/ask_all.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include <gtest/gtest.h>

#include "base/async/virtual_loop.hpp"
#include "base/async/waiter.hpp"

namespace posthorn {
namespace {

TEST(ask_all, asks_each_once_and_few_at_the_same_time) {
    virtual_loop loop;
    std::vector<std::size_t> asked;
    std::size_t under_way = 0;
    std::size_t most = 0;
    std::vector<std::shared_ptr<waiter>> open;
    const auto ask = [&](std::size_t number) -> task<> {
        asked.push_back(number);
        most = std::max(most, ++under_way);
        const auto own = waiter::make();
        open.push_back(own);
        co_await own->wait_regardless();
        --under_way;
    };
    task_group running(loop.executor());
    running.spawn(ask_all(10, 3, ask));
    loop.settle();
    EXPECT_EQ(asked.size(), 3U);
    while (!open.empty()) {
        const auto first = open.front();
        open.erase(open.begin());
        first->wake();
        loop.settle();
    }
    loop.run(running.join());
    std::ranges::sort(asked);
    EXPECT_EQ(asked, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(most, 3U);
}

TEST(ask_all, ends_at_once_where_there_is_nothing_to_ask) {
    virtual_loop loop;
    bool asked = false;
    loop.run(ask_all(0, 3, [&](std::size_t) -> task<> {
        asked = true;
        co_return;
    }));
    EXPECT_FALSE(asked);
}

}  // namespace
}  // namespace posthorn
