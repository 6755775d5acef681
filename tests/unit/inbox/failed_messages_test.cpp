#include "inbox/failed_messages.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

class failed_messages_test : public testing::Test {
protected:
    static uuid id_of(std::uint64_t number) {
        return *uuid::parse(fmt::format("0199f3a0-5b7c-7d11-8a4e-{:012x}", number));
    }
    void fail(std::uint64_t number, std::string source = "shop", std::string why = "no") {
        now += 1s;
        seen.failed({.id = id_of(number), .source = std::move(source), .why = std::move(why)}, now);
    }

    failed_messages seen;
    wall_time now{1000s};
};

TEST_F(failed_messages_test, one_that_comes_again_is_listed_once_with_what_it_failed_for_last) {
    fail(1, "shop", "out of paper");
    fail(2);
    fail(1, "shop", "out of ink");
    const auto all = seen.list();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].id, id_of(1));
    EXPECT_EQ(all[0].why, "out of ink");
    EXPECT_EQ(all[0].times, 2U);
    EXPECT_EQ(all[0].first, wall_time{1001s});
    EXPECT_EQ(all[0].last, wall_time{1003s});
    EXPECT_EQ(all[1].times, 1U);
}

TEST_F(failed_messages_test, ids_are_the_senders_own) {
    fail(1, "shop");
    fail(1, "web");
    EXPECT_EQ(seen.list().size(), 2U);
    seen.succeeded("web", id_of(1));
    ASSERT_EQ(seen.list().size(), 1U);
    EXPECT_EQ(seen.list()[0].source, "shop");
}

TEST_F(failed_messages_test, one_that_was_taken_in_is_forgotten) {
    seen.succeeded("shop", id_of(1));
    fail(1);
    seen.succeeded("shop", id_of(2));
    EXPECT_EQ(seen.list().size(), 1U);
    seen.succeeded("shop", id_of(1));
    EXPECT_TRUE(seen.list().empty());
    fail(1);
    EXPECT_EQ(seen.list().at(0).times, 1U);
}

TEST_F(failed_messages_test, of_many_the_newest_are_kept) {
    for (std::uint64_t i = 0; i < 2 * failed_messages::messages_max; ++i) fail(i);
    const auto all = seen.list();
    ASSERT_EQ(all.size(), failed_messages::messages_max);
    EXPECT_EQ(all.front().id, id_of(2 * failed_messages::messages_max - 1));
    EXPECT_EQ(all.back().id, id_of(failed_messages::messages_max));
}

}  // namespace
}  // namespace posthorn
