#include "transport/amqp/amqp_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/virtual_loop.hpp"
#include "transport/broker/broker_answers.hpp"

namespace posthorn {
namespace {

using testing::HasSubstr;

std::vector<outcome> outcomes_of(publication& batch) {
    virtual_loop loop;
    std::vector<outcome> all;
    for (const auto& each : loop.run(batch.answers())) all.push_back(each.what);
    return all;
}

std::shared_ptr<publication> three(confirm_ledger& into) {
    auto batch = std::make_shared<publication>(
        std::vector<broker_message>{{.id = "a"}, {.id = "b"}, {.id = "c"}});
    for (std::size_t i = 0; i < 3; ++i) into.sent(batch, i);
    return batch;
}

TEST(confirm_ledger, confirms_one_or_all_before) {
    confirm_ledger ledger;
    const auto batch = three(ledger);
    ledger.confirmed(2, false);
    EXPECT_EQ(ledger.out(), 2U);
    ledger.confirmed(3, true);
    EXPECT_EQ(ledger.out(), 0U);
    EXPECT_THAT(outcomes_of(*batch), testing::Each(outcome::delivered));
}

TEST(confirm_ledger, passes_over_numbers_that_are_not_out) {
    confirm_ledger ledger;
    const auto batch = three(ledger);
    ledger.confirmed(9, false);
    ledger.confirmed(0, true);
    EXPECT_EQ(ledger.out(), 3U);
    ledger.refused(1, false);
    ledger.confirmed(1, false);
    ledger.confirmed(3, true);
    EXPECT_THAT(outcomes_of(*batch),
                testing::ElementsAre(outcome::throttled, outcome::delivered, outcome::delivered));
}

TEST(confirm_ledger, takes_a_message_that_came_back_for_unroutable_though_it_is_confirmed) {
    confirm_ledger ledger;
    const auto batch = three(ledger);
    ledger.returned({.id = "b", .code = 312, .text = "NO_ROUTE", .exchange = "x", .key = "k"});
    ledger.confirmed(3, true);
    virtual_loop loop;
    const auto answers = loop.run(batch->answers());
    EXPECT_EQ(answers[0].what, outcome::delivered);
    EXPECT_EQ(answers[1].what, outcome::undeliverable);
    EXPECT_EQ(answers[1].code, error_code::unroutable);
    EXPECT_THAT(answers[1].error, HasSubstr("the exchange 'x' has no queue for the key 'k'"));
    EXPECT_EQ(answers[2].what, outcome::delivered);
}

TEST(confirm_ledger, counts_from_the_beginning_on_a_new_channel) {
    confirm_ledger ledger;
    const auto lost = three(ledger);
    ledger.lost(broker_is_silent("gone"));
    EXPECT_THAT(outcomes_of(*lost), testing::Each(outcome::unanswered));
    const auto again = three(ledger);
    ledger.confirmed(3, true);
    EXPECT_THAT(outcomes_of(*again), testing::Each(outcome::delivered));
}

TEST(amqp_rules, say_what_a_closed_channel_means) {
    struct {
        std::uint16_t code;
        std::size_t out;
        outcome becomes;
        error_code named;
    } cases[]{
        {404, 3, outcome::undeliverable, error_code::unroutable},
        {403, 3, outcome::undeliverable, error_code::unroutable},
        {406, 1, outcome::permanent, error_code::invalid_argument},
        {311, 1, outcome::permanent, error_code::message_too_large},
        {406, 2, outcome::unanswered, error_code::unreachable},
        {541, 1, outcome::unanswered, error_code::unreachable},
    };
    for (const auto& [code, out, becomes, named] : cases) {
        const auto answer = judge_channel_close({code, "WHY"}, out);
        EXPECT_EQ(answer.what, becomes) << code;
        EXPECT_EQ(answer.code, named) << code;
        EXPECT_THAT(answer.error, HasSubstr("WHY")) << code;
    }
    EXPECT_TRUE(blames_a_message({406}));
    EXPECT_TRUE(blames_a_message({311}));
    EXPECT_FALSE(blames_a_message({404}));
    EXPECT_EQ(judge_turn_of_others().what, outcome::throttled);
    EXPECT_EQ(judge_connection_close({320, "SHUTDOWN"}).what, outcome::unanswered);
    EXPECT_EQ(judge_nack().code, error_code::overloaded);
}

}  // namespace
}  // namespace posthorn
