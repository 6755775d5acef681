// Several nodes that are started at once on a file that is not there yet.
#include <latch>
#include <thread>

#include <gtest/gtest.h>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn::sqlite {
namespace {

TEST(a_first_start, succeeds_for_all_that_start_at_once) {
    constexpr int stores = 4;
    for (int round = 0; round < 20; ++round) {
        const test::temporary_directory folder;
        std::latch ready(stores);
        std::vector<std::string> failures(stores);
        {
            std::vector<std::jthread> starts;
            for (int i = 0; i < stores; ++i)
                starts.emplace_back([&, i] {
                    real_clock time;
                    inline_executor writer;
                    logger log = logger::null();
                    ready.arrive_and_wait();
                    auto opened = open(
                        {.path = folder.file("orders.db"), .service = "orders", .shared = true},
                        {.time = time, .writer = writer, .log = log});
                    if (opened)
                        (*opened)->stop();
                    else
                        failures[static_cast<std::size_t>(i)] = opened.error().what();
                });
        }
        for (const auto& each : failures) ASSERT_EQ(each, "");
    }
}

}  // namespace
}  // namespace posthorn::sqlite
