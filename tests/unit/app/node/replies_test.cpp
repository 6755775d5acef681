#include "app/node/replies.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

TEST(replies, an_answer_of_another_service_is_none_and_does_not_end_the_waiting) {
    const auto all = std::make_shared<replies>([](const reply_limit&) {});
    const auto waiting = all->expect("order-17", "payments");
    ASSERT_TRUE(waiting) << waiting.error().what();
    EXPECT_FALSE(all->complete("order-17", "crm", "paid"));
    EXPECT_FALSE((*waiting)->is_ready());
    EXPECT_TRUE(all->complete("order-17", "payments", "refused"));
    EXPECT_EQ((*waiting)->take(0ms), "refused");
}

TEST(replies, a_response_that_nobody_waits_for_is_no_forgery) {
    const auto all = std::make_shared<replies>([](const reply_limit&) {});
    EXPECT_TRUE(all->complete("order-17", "crm", "late"));
}

}  // namespace
}  // namespace posthorn
