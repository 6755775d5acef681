#include "app/cli/top/overview.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn::cli {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

boost::json::object object(std::string_view text) { return boost::json::parse(text).as_object(); }

TEST(overview, is_put_together_from_the_answers_of_a_node) {
    const auto before = parse_samples(
        "posthorn_outbox_sent_total 10\n"
        "posthorn_outbox_destination_sent_total{destination=\"stock\"} 10\n",
        steady_time{1s});
    const node_answers now{
        .health = object(R"({"service":"orders","status":"red","reasons":["1 message is dead"],
                             "outbox":{"pending":7,"failed":1,"expired":2,"blocked":3}})"),
        .stats = object(R"({"backlog":[{"destination":"stock","oldestAgeMs":1500}]})"),
        .lanes = object(R"({"lanes":[{"destination":"stock","state":"open","waiting":7,
                                      "cause":"refused"},
                                     {"destination":"mail","state":"paused","waiting":0,
                                      "cause":"x","reason":"stocktaking"}]})"),
        .queues = object(R"({"queues":[{"endpoint":"Ship","waiting":4,"taken":1,"givenUp":2,
                                        "oldestWaitingSeconds":90}]})"),
        .samples =
            parse_samples("posthorn_outbox_sent_total 30\n"
                          "posthorn_outbox_destination_sent_total{destination=\"stock\"} 30\n",
                          steady_time{3s})};
    const auto seen = to_overview(now, before);
    EXPECT_EQ(seen.service, "orders");
    EXPECT_EQ(seen.light, "red");
    EXPECT_THAT(seen.reasons, ElementsAre("1 message is dead"));
    EXPECT_EQ(seen.pending, 7);
    EXPECT_EQ(seen.dead, 1);
    EXPECT_EQ(seen.expired, 2);
    EXPECT_EQ(seen.blocked, 3);
    EXPECT_EQ(seen.sent_per_second, 10);
    EXPECT_EQ(seen.received_per_second, std::nullopt);
    EXPECT_THAT(seen.lanes,
                ElementsAre(overview::lane{.destination = "stock",
                                           .state = "open",
                                           .why = "refused",
                                           .waiting = 7,
                                           .oldest = 1500ms,
                                           .sent_per_second = 10},
                            overview::lane{
                                .destination = "mail", .state = "paused", .why = "stocktaking"}));
    EXPECT_THAT(seen.queues,
                ElementsAre(overview::queue{
                    .name = "Ship", .waiting = 4, .taken = 1, .given_up = 2, .oldest = 90s}));
}

TEST(overview, takes_answers_of_another_version_and_what_strangers_wrote) {
    const node_answers now{.health = object(R"({"status":5,"reasons":[1,"a\u001b[2Jb"]})"),
                           .stats = object(R"({"backlog":{}})"),
                           .lanes = object(R"({"lanes":[1,{"destination":"x\ny"}]})"),
                           .queues = object("{}")};
    const auto seen = to_overview(now, {});
    EXPECT_EQ(seen.light, "");
    EXPECT_THAT(seen.reasons, ElementsAre("a [2Jb"));
    ASSERT_EQ(seen.lanes.size(), 1U);
    EXPECT_EQ(seen.lanes[0].destination, "x y");
}

}  // namespace
}  // namespace posthorn::cli
