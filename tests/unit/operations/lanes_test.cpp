#include "operations/lanes.hpp"

#include "unit/admin/admin_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

lane_state running(std::string destination) {
    return {.destination = std::move(destination), .queued = 3, .in_flight = 1, .window = 8};
}
lane_state open(std::string destination) {
    auto state = running(std::move(destination));
    state.mode = lane_mode::open;
    state.breaker = breaker::state::open;
    state.cause = "its clock is off";
    state.is_fault = true;
    return state;
}

TEST(lanes, of_two_dispatchers_are_one_and_the_shut_one_shows) {
    const auto merged = merge_lanes({running("stock"), open("stock"), running("billing")}, {});
    ASSERT_EQ(merged.size(), 2U);
    EXPECT_EQ(merged[0].lane.destination, "billing");
    EXPECT_EQ(merged[1].lane.mode, lane_mode::open);
    EXPECT_EQ(merged[1].lane.queued, 6U);
    EXPECT_EQ(merged[1].lane.in_flight, 2U);
}

TEST(lanes, that_are_paused_show_though_nobody_serves_them) {
    const auto merged =
        merge_lanes({running("stock")}, {{.destination = "billing", .reason = "audit"}});
    ASSERT_EQ(merged.size(), 2U);
    EXPECT_EQ(merged[0].lane.mode, lane_mode::paused);
    EXPECT_FALSE(merged[0].runs);
    EXPECT_EQ(merged[0].pause->reason, "audit");
    EXPECT_FALSE(merged[1].pause);
}

TEST(lanes, show_what_waits_in_the_table_whether_or_not_a_lane_holds_it) {
    destination_backlog many, few;
    many.destination = "stock";
    many.pending.value = 19'500;
    few.destination = "billing";
    few.pending.value = 2;
    const auto merged = merge_lanes({running("stock")}, {}, {many, few});
    ASSERT_EQ(merged.size(), 2U);
    EXPECT_EQ(merged[0].lane.destination, "billing");
    EXPECT_EQ(merged[0].pending, 2);
    EXPECT_FALSE(merged[0].runs);
    EXPECT_EQ(merged[1].pending, 19'500);
    EXPECT_EQ(merged[1].lane.queued, 3U);
}

TEST(lanes, that_are_shut_are_a_reason_to_look_and_others_are_not) {
    EXPECT_TRUE(reasons_of(merge_lanes({running("stock")}, {})).empty());
    EXPECT_THAT(
        reasons_of(merge_lanes({open("stock")}, {{.destination = "billing", .reason = "audit"}})),
        ElementsAre(HasSubstr("'billing' is paused: audit"),
                    HasSubstr("'stock' gives no answer that counts: its clock is off; ")));
    auto shut = open("stock");
    shut.since = parse_iso8601("2026-02-14T12:00:00Z").value();
    EXPECT_THAT(reasons_of(merge_lanes({shut}, {})),
                ElementsAre(HasSubstr("its messages wait since 2026-02-14T12:00:00.000Z, and")));
    auto held_up = running("stock");
    held_up.cause = "its web service is away";
    EXPECT_TRUE(reasons_of(merge_lanes({held_up}, {})).empty()) << "it asks for patience";
    held_up.is_fault = true;
    EXPECT_THAT(reasons_of(merge_lanes({held_up}, {})),
                ElementsAre("messages to 'stock' wait: its web service is away"));
    std::vector<lane_state> many;
    for (char name = 'a'; name < 'k'; ++name) many.push_back(open(std::string(1, name)));
    const auto reasons = reasons_of(merge_lanes(std::move(many), {}));
    EXPECT_EQ(reasons.size(), 6U);
    EXPECT_EQ(reasons.back(), "5 more destinations are shut");
}

class lane_routes : public admin_fixture {
protected:
    std::string pause(const std::string& what) {
        const auto response = ask("POST", "/_rf/outbox/lanes/" + what, boss.key);
        EXPECT_EQ(response.status, 200) << response.body;
        return response.body;
    }
};

TEST_F(lane_routes, pause_and_resume_a_destination_and_wake_the_dispatcher) {
    EXPECT_EQ(pause("stock/pause?reason=stock%20taking"),
              R"({"destination":"stock","paused":true,"changed":true})");
    EXPECT_EQ(wakes, 1);
    EXPECT_EQ(pause("stock/pause"), R"({"destination":"stock","paused":true,"changed":false})");
    EXPECT_EQ(text("SELECT reason FROM outbox_paused"), "stock taking");
    const auto lanes = get_json("/_rf/outbox/lanes").at("lanes").as_array();
    ASSERT_EQ(lanes.size(), 1U);
    EXPECT_EQ(lanes[0].at("destination").as_string(), "stock");
    EXPECT_EQ(lanes[0].at("state").as_string(), "paused");
    EXPECT_EQ(lanes[0].at("reason").as_string(), "stock taking");
    EXPECT_EQ(lanes[0].at("pausedSince").as_string(), to_iso8601(loop.time().wall()));
    EXPECT_EQ(pause("stock/resume"), R"({"destination":"stock","paused":false,"changed":true})");
    EXPECT_TRUE(get_json("/_rf/outbox/lanes").at("lanes").as_array().empty());
}

TEST_F(lane_routes, are_for_operators_and_every_change_is_kept) {
    EXPECT_EQ(ask("POST", "/_rf/outbox/lanes/stock/pause", viewer.key).status, 403);
    EXPECT_EQ(text("SELECT count(*) FROM outbox_paused"), "0");
    pause("stock/pause");
    EXPECT_EQ(text("SELECT target FROM posthorn_audit WHERE outcome = 'done'"),
              "/_rf/outbox/lanes/stock/pause");
}

TEST_F(lane_routes, refuse_what_they_do_not_know) {
    EXPECT_EQ(ask("POST", "/_rf/outbox/lanes/stock/pause?why=x", boss.key).status, 400);
    const std::string name(256, 'x');
    EXPECT_EQ(ask("POST", "/_rf/outbox/lanes/" + name + "/pause", boss.key).status, 400);
}

TEST_F(lane_routes, try_a_destination_only_where_a_node_runs_and_for_operators) {
    EXPECT_EQ(ask("POST", "/_rf/outbox/lanes/stock/try", viewer.key).status, 403);
    const auto unknown = ask("POST", "/_rf/outbox/lanes/stock/try", boss.key);
    EXPECT_EQ(unknown.status, 404);
    EXPECT_THAT(unknown.body, HasSubstr("there is no destination 'stock'"));
    EXPECT_TRUE(tried.empty());
    counters.board.note(open("stock"));
    EXPECT_EQ(ask("POST", "/_rf/outbox/lanes/stock/try", boss.key).body,
              R"({"destination":"stock","tried":true})");
    EXPECT_THAT(tried, ElementsAre("stock"));
}

TEST_F(lane_routes, show_what_lanes_do) {
    auto state = open("stock");
    state.since = loop.time().wall() - 60s;
    state.until = loop.time().wall() + 4s;
    state.batch = 12;
    state.batch_max = 50;
    state.rate = 100;
    counters.board.note(state);
    const auto lane = get_json("/_rf/outbox/lanes").at("lanes").at(0).as_object();
    EXPECT_EQ(lane.at("state").as_string(), "open");
    EXPECT_EQ(lane.at("breaker").as_string(), "open");
    EXPECT_EQ(lane.at("since").as_string(), to_iso8601(loop.time().wall() - 60s));
    EXPECT_EQ(lane.at("until").as_string(), to_iso8601(loop.time().wall() + 4s));
    EXPECT_EQ(lane.at("queued").to_number<int>(), 3);
    EXPECT_EQ(lane.at("batch").to_number<int>(), 12);
    EXPECT_EQ(lane.at("batchMax").to_number<int>(), 50);
    EXPECT_EQ(lane.at("rate").to_number<int>(), 100);
}

TEST_F(lane_routes, make_health_yellow_while_one_does_not_answer) {
    EXPECT_EQ(get_json("/_rf/health").at("status").as_string(), "green");
    counters.board.note(open("stock"));
    wait_a_second();
    const auto shown = get_json("/_rf/health").as_object();
    EXPECT_EQ(shown.at("status").as_string(), "yellow");
    EXPECT_TRUE(shown.at("working").as_bool());
    EXPECT_THAT(std::string(shown.at("reasons").at(0).as_string()),
                HasSubstr("'stock' gives no answer that counts"));
    counters.board.note(running("stock"));
    wait_a_second();
    EXPECT_EQ(get_json("/_rf/health").at("status").as_string(), "green");
}

TEST_F(lane_routes, show_in_the_metrics) {
    counters.board.note(open("stock"));
    counters.board.note(running("billing"));
    counters.spared = 7;
    const auto body = get("/metrics").body;
    EXPECT_THAT(body, HasSubstr("posthorn_outbox_lanes_in_state{state=\"open\"} 1\n"));
    EXPECT_THAT(body, HasSubstr("posthorn_outbox_lanes_in_state{state=\"paused\"} 0\n"));
    EXPECT_THAT(body, HasSubstr("posthorn_outbox_lane_shut{destination=\"stock\"} 1\n"));
    EXPECT_THAT(body, HasSubstr("posthorn_outbox_lane_shut{destination=\"billing\"} 0\n"));
    EXPECT_THAT(body, HasSubstr("posthorn_outbox_lane_queued{destination=\"billing\"} 3\n"));
    EXPECT_THAT(body, HasSubstr("posthorn_outbox_spared_total 7\n"));
}

}  // namespace
}  // namespace posthorn
