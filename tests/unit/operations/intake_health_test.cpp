#include "operations/intake_health.hpp"

#include <gmock/gmock.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr wall_time noon{1'800'000'000'000ms};

std::vector<standing_failure> failed(failure_board& board, std::string name,
                                     std::optional<error_code> code, int times = 1) {
    for (int i = 0; i < times; ++i)
        board.failed({.name = name, .with = "shop", .why = "it did not", .code = code}, noon);
    return board.list(noon);
}

TEST(intake_health, what_has_no_handler_or_no_answer_is_told_at_once) {
    failure_board board;
    failed(board, "Order", error_code::no_handler);
    EXPECT_THAT(
        judge_intake(failed(board, "Ship", error_code::handler_unreachable), {}),
        ElementsAre(
            Field(&health_worry::what, AllOf(HasSubstr("of 'shop' for endpoint 'Order'"),
                                             HasSubstr("(once since 2027"))),
            Field(&health_worry::what, HasSubstr("behind endpoint 'Ship' does not answer"))));
}

TEST(intake_health, a_poison_message_is_not_the_handlers_failure) {
    failure_board board;
    EXPECT_THAT(judge_intake(failed(board, "Order", std::nullopt, 2), {}), IsEmpty());
    EXPECT_THAT(judge_intake(failed(board, "Order", std::nullopt), {}),
                ElementsAre(Field(&health_worry::what, HasSubstr("'Order' fails (3 times since"))));
    board.succeeded("Order");
    EXPECT_THAT(board.list(noon), IsEmpty());
}

TEST(intake_health, a_table_that_refuses_messages_is_told_with_its_reason) {
    failure_board board;
    EXPECT_THAT(judge_intake(failed(board, "Order", error_code::store_busy, 2), {}), IsEmpty())
        << "others have written for a moment";
    EXPECT_THAT(judge_intake(failed(board, "Order", error_code::store_busy), {}),
                ElementsAre(Field(&health_worry::what,
                                  AllOf(HasSubstr("for endpoint 'Order' cannot be stored (3 times"),
                                        HasSubstr("it did not")))));
}

TEST(intake_health, a_few_are_named_and_the_rest_counted) {
    failure_board board;
    for (int i = 0; i < 300; ++i) failed(board, std::to_string(i), error_code::no_handler);
    const auto said = judge_intake(board.list(noon), {});
    ASSERT_EQ(said.size(), 4U);
    EXPECT_EQ(said.back().what, "the same of 97 more endpoints");
}

TEST(intake_health, what_failed_long_ago_says_nothing_of_now) {
    failure_board board;
    failed(board, "Order", error_code::no_handler);
    EXPECT_THAT(board.list(noon + 1ms), IsEmpty());
}

TEST(intake_health, a_senders_name_is_shortened) {
    failure_board board;
    const auto said =
        judge_intake({}, failed(board, "shop" + std::string(5000, 'x'), std::nullopt));
    ASSERT_EQ(said.size(), 1U);
    EXPECT_LT(said[0].what.size(), 300U);
}

}  // namespace
}  // namespace posthorn
