#include "transport/kafka/kafka_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <posthorn/error.hpp>

#include "transport/kafka/kafka_address.hpp"

namespace posthorn {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(kafka_rules, say_what_each_word_means) {
    struct {
        kafka_word word;
        outcome becomes;
    } cases[]{{kafka_word::persisted, outcome::delivered},
              {kafka_word::no_topic, outcome::undeliverable},
              {kafka_word::too_large, outcome::permanent},
              {kafka_word::refused, outcome::permanent},
              {kafka_word::no_room, outcome::throttled},
              {kafka_word::not_answered, outcome::unanswered}};
    for (const auto& [word, becomes] : cases)
        EXPECT_EQ(judge_kafka(word, "why", "lake").what, becomes);
    EXPECT_EQ(judge_kafka(kafka_word::no_topic, "why", "lake").code, error_code::unroutable);
    EXPECT_THAT(judge_kafka(kafka_word::no_topic, "why", "lake").error, HasSubstr("'lake'"));
}

TEST(kafka_rules, take_a_refusal_for_a_messages_own_only_where_it_went_alone) {
    EXPECT_TRUE(may_mean_another(kafka_word::too_large));
    EXPECT_TRUE(may_mean_another(kafka_word::refused));
    for (const auto word : {kafka_word::persisted, kafka_word::no_topic, kafka_word::no_room,
                            kafka_word::not_answered})
        EXPECT_FALSE(may_mean_another(word));
}

TEST(kafka_address, has_brokers_and_a_topic) {
    EXPECT_EQ(parse_kafka_url("kafka://b1,b2:9094/orders"),
              (kafka_url{.brokers = "b1:9092,b2:9094", .topic = "orders"}));
    EXPECT_EQ(
        parse_kafka_url("kafkas://me@b1/a.{endpoint}"),
        (kafka_url{.tls = true, .user = "me", .brokers = "b1:9093", .topic = "a.{endpoint}"}));
}

TEST(kafka_address, refuses_what_it_cannot_read_and_repeats_no_password) {
    for (const auto* const text :
         {"kafka://", "kafka://b1", "kafka://b1/", "kafka://b1/a b", "kafka://b1/..",
          "kafka://b1/{what}", "kafka://b1,me@b2/t", "http://b1/t"})
        EXPECT_FALSE(parse_kafka_url(text)) << text;
    const auto told = parse_kafka_url("kafka://me:hunter2@b1/orders");
    ASSERT_FALSE(told);
    EXPECT_THAT(told.error().what(), Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace posthorn
