#include "operations/health.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

health_facts waiting(std::int64_t pending, std::chrono::milliseconds age = {}) {
    health_facts facts;
    facts.outbox.pending.value = pending;
    facts.outbox.oldest_age = age;
    return facts;
}

TEST(health, renders_status_service_and_version) {
    EXPECT_EQ(render_health({health_level::green, "orders", "9.8.7"}),
              R"({"status":"green","service":"orders","version":"9.8.7"})");
}

TEST(health, escapes_what_json_requires) {
    EXPECT_EQ(render_health({health_level::yellow, "a\"b\n", "1"}),
              R"({"status":"yellow","service":"a\"b\n","version":"1"})");
}

TEST(health, names_every_status) {
    EXPECT_EQ(to_string(health_level::green), "green");
    EXPECT_EQ(to_string(health_level::yellow), "yellow");
    EXPECT_EQ(to_string(health_level::red), "red");
}

TEST(traffic_light, has_the_colours_of_the_document_and_yellow_between_them) {
    struct row {
        std::int64_t pending;
        std::chrono::milliseconds age;
        health_level colour;
    };
    for (const auto& [pending, age, colour] : {
             row{0, 0s, health_level::green},
             row{49, 29'999ms, health_level::green},
             row{50, 0s, health_level::yellow},
             row{0, 30s, health_level::yellow},
             row{200, 60s, health_level::yellow},
             row{500, 2min, health_level::yellow},
             row{501, 0s, health_level::yellow},
             row{0, 2min + 1ms, health_level::yellow},
             row{1'000'000, 24h, health_level::yellow},
         }) {
        const auto verdict = judge_health(waiting(pending, age));
        EXPECT_EQ(verdict.status, colour) << pending << " waiting for " << age.count() << " ms";
        EXPECT_TRUE(verdict.working);
        EXPECT_EQ(verdict.reasons.empty(), colour == health_level::green);
    }
}

TEST(traffic_light, is_red_with_a_dead_message_though_the_node_works) {
    health_facts facts;
    facts.outbox.dead.value = facts.outbox.dead_messages.value = 1;
    const auto verdict = judge_health(facts);
    EXPECT_EQ(verdict.status, health_level::red);
    EXPECT_TRUE(verdict.working);
    EXPECT_THAT(verdict.reasons, ElementsAre("1 message is dead and waits for a person"));
}

TEST(traffic_light, is_yellow_with_deliveries_to_subscribers_that_were_given_up) {
    health_facts facts;
    facts.outbox.dead.value = 3;
    auto verdict = judge_health(facts);
    EXPECT_EQ(verdict.status, health_level::yellow);
    EXPECT_THAT(verdict.reasons,
                ElementsAre(HasSubstr("3 deliveries to subscribers were given up")));
    facts.outbox.dead_messages.value = 1;
    verdict = judge_health(facts);
    EXPECT_EQ(verdict.status, health_level::red);
    EXPECT_THAT(verdict.reasons,
                ElementsAre("1 message is dead and waits for a person",
                            HasSubstr("2 deliveries to subscribers were given up")));
}

TEST(traffic_light, is_red_when_the_node_cannot_work) {
    health_facts facts;
    facts.broken = {"the store has stopped"};
    const auto verdict = judge_health(facts);
    EXPECT_EQ(verdict.status, health_level::red);
    EXPECT_FALSE(verdict.working);
    EXPECT_THAT(verdict.reasons, ElementsAre("the store has stopped"));
}

TEST(traffic_light, has_the_colour_of_a_worry_though_the_node_works) {
    const auto yellow = judge_health({.worries = {{health_level::yellow, "the disk is scarce"}}});
    EXPECT_EQ(yellow.status, health_level::yellow);
    EXPECT_TRUE(yellow.working);
    EXPECT_EQ(yellow.reasons, std::vector<std::string>{"the disk is scarce"});
    const auto red = judge_health({.worries = {{health_level::red, "the disk is full"}}});
    EXPECT_EQ(red.status, health_level::red);
    EXPECT_TRUE(red.working);
}

TEST(traffic_light, names_the_setting_that_messages_to_a_url_wait_for) {
    health_facts facts;
    facts.outbox.undeliverable = {1, false};
    facts.outbox.undeliverable_destination = "https://stock.example";
    facts.outbox.undeliverable_error = "no route to 'https://stock.example'; add it";
    EXPECT_THAT(judge_health(facts).reasons, ElementsAre(HasSubstr("urls.enabled = true")));
    facts.outbox.undeliverable_error = "secret_unavailable: there is no secret";
    EXPECT_THAT(judge_health(facts).reasons, ElementsAre(Not(HasSubstr("urls.enabled"))));
    const auto wait_for = [&](std::string destination) {
        facts.outbox.backlog.push_back({.destination = std::move(destination),
                                        .pending = {},
                                        .undeliverable = {1, false},
                                        .undeliverable_error = "no route to it"});
    };
    facts.outbox.undeliverable = {2, false};
    wait_for("billing");
    wait_for("http://10.0.0.1:7400/a");
    EXPECT_THAT(judge_health(facts).reasons, ElementsAre(HasSubstr("urls.enabled = true")));
    facts.outbox.backlog.back().destination = "archive";
    EXPECT_THAT(judge_health(facts).reasons, ElementsAre(Not(HasSubstr("urls.enabled"))));
}

TEST(traffic_light, raises_an_alarm_of_its_own_for_what_is_undeliverable) {
    health_facts facts;
    facts.outbox.undeliverable = {2, false};
    facts.outbox.undeliverable_destination = "billing";
    auto verdict = judge_health(facts);
    EXPECT_TRUE(verdict.undeliverable);
    EXPECT_EQ(verdict.status, health_level::yellow);
    EXPECT_THAT(verdict.reasons, ElementsAre(HasSubstr("2 messages are undeliverable: 'billing'")));
    const auto wait_for = [&](std::string destination, std::int64_t messages) {
        facts.outbox.backlog.push_back({.destination = std::move(destination),
                                        .pending = {},
                                        .undeliverable = {messages, false},
                                        .undeliverable_error = "no_route: none"});
    };
    wait_for("archive", 1);
    wait_for("billing", 5);
    wait_for("crm", 0);
    facts.outbox.undeliverable = {6, false};
    EXPECT_THAT(judge_health(facts).reasons,
                ElementsAre("6 messages are undeliverable: 'billing' (5), 'archive' (1) have no "
                            "route, no secret or no handler for them"));
    wait_for("depot", 3);
    wait_for("exports", 2);
    facts.outbox.undeliverable = {11, false};
    EXPECT_THAT(judge_health(facts).reasons,
                ElementsAre("11 messages are undeliverable: 'billing' (5), 'depot' (3), 'exports' "
                            "(2) and others have no route, no secret or no handler for them"));
    facts.outbox.dead.value = facts.outbox.dead_messages.value = 1;
    verdict = judge_health(facts);
    EXPECT_EQ(verdict.status, health_level::red);
    EXPECT_TRUE(verdict.undeliverable);
    EXPECT_FALSE(judge_health({}).undeliverable);
}

TEST(traffic_light, is_yellow_for_work_that_expired_and_was_not_looked_at) {
    health_facts facts;
    facts.outbox.expired.value = 120;
    const auto verdict = judge_health(facts);
    EXPECT_EQ(verdict.status, health_level::yellow);
    EXPECT_TRUE(verdict.working);
    EXPECT_THAT(verdict.reasons, ElementsAre(testing::AllOf(
                                     HasSubstr("120 messages expired before they were delivered"),
                                     HasSubstr("posthorn dead list --status Expired"))));
}

TEST(traffic_light, names_the_message_that_others_of_its_order_key_wait_behind) {
    health_facts facts;
    facts.outbox.blocked.keys = {
        {{"stock", "acct-7", ""}, {"01a1", outbox_status::dead, wall_time{}}, {7, false}},
        {{"stock", "acct-8", ""}, {"01a2", outbox_status::expired, std::nullopt}, {2, true}}};
    const auto verdict = judge_health(facts);
    EXPECT_EQ(verdict.status, health_level::yellow);
    EXPECT_THAT(
        verdict.reasons,
        ElementsAre("more than 9 messages wait behind one of their order key that was given "
                    "up, such as 7 for 'stock' behind 01a1 (Dead since " +
                    to_iso8601(wall_time{}) +
                    ") of order key 'acct-7'; requeue, resolve or delete that one"));
}

TEST(traffic_light, gives_every_reason_the_worst_first) {
    auto facts = waiting(1'000, 5min);
    facts.broken = {"stuck"};
    facts.outbox.dead = facts.outbox.dead_messages = {7, true};
    facts.outbox.undeliverable.value = 1;
    EXPECT_THAT(
        judge_health(facts).reasons,
        ElementsAre("stuck", HasSubstr("more than 7 messages are dead"), HasSubstr("undeliverable"),
                    HasSubstr("1000 messages wait; "), "the oldest message has waited for 300 s"));
    auto some = waiting(60, 31s);
    for (const auto& [destination, oldest] : std::map<std::string, std::optional<wall_time>>{
             {"crm", wall_time{} + 1s}, {"later", std::nullopt}, {"stock", wall_time{}}}) {
        auto& one = some.outbox.backlog.emplace_back();
        one.destination = destination;
        one.oldest = oldest;
    }
    EXPECT_THAT(judge_health(some).reasons,
                ElementsAre("60 messages wait",
                            "the oldest message has waited for 31 s; it is for 'stock'"));
    EXPECT_THAT(judge_health({}).reasons, IsEmpty());
}

}  // namespace
}  // namespace posthorn
