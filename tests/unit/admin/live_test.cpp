#include "admin/live.hpp"

#include "transport/http/body_source.hpp"
#include "unit/admin/admin_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

class live : public admin_fixture {
protected:
    live() {
        add_live_route(*surface, feed);
        describe();
    }
    ~live() override {
        for (const auto& each : watching_) each->end();
        loop.run(reading_.join());
    }

    std::shared_ptr<http_body_source> watch(const std::string& key) {
        const auto response = ask("GET", "/_rf/live", key);
        EXPECT_EQ(response.status, 200) << response.body;
        return response.pieces;
    }
    /// Reads beside the test for as long as something comes.
    void keep_reading(std::shared_ptr<http_body_source> from) {
        watching_.push_back(from);
        reading_.spawn(read(std::move(from)));
    }

    live_feed feed{*node, loop.time(), {.watchers_max = 100}};
    int events = 0;
    int ends = 0;

private:
    task<> read(std::shared_ptr<http_body_source> from) {
        while (co_await from->next()) ++events;
        ++ends;
    }

    task_group reading_{loop.executor()};
    std::vector<std::shared_ptr<http_body_source>> watching_;
};

TEST_F(live, costs_one_snapshot_a_second_however_many_watch) {
    for (int i = 0; i < 100; ++i) keep_reading(watch(viewer.key));
    loop.run_for(10s);
    EXPECT_EQ(events, 1100);  // One at once, and one each second.
    EXPECT_EQ(feed.snapshots(), 11U);
}

TEST_F(live, tells_with_a_stamp_whether_anything_was_written) {
    const auto from = watch(viewer.key);
    const auto stamp = [&] {
        const auto event = loop.run(from->next());
        return boost::json::parse(event->substr(event->find('{'))).at("stamp").to_number<int>();
    };
    const auto first = stamp();
    EXPECT_EQ(stamp(), first);
    const auto id = bury();
    const auto second = stamp();
    EXPECT_GT(second, first);
    change("UPDATE outbox_messages SET status = 'Pending' WHERE message_id = '" + id.to_string() +
           "'");
    EXPECT_GT(stamp(), second);
}

TEST_F(live, makes_no_snapshot_while_nobody_watches) {
    {
        const auto one = watch(viewer.key);
        EXPECT_EQ(feed.watchers(), 1U);
        EXPECT_TRUE(loop.run(one->next()));
    }
    EXPECT_EQ(feed.watchers(), 0U);
    loop.run_for(1min);
    EXPECT_EQ(feed.snapshots(), 1U);
}

TEST_F(live, tells_the_light_what_waits_and_the_lanes_in_a_few_kilobytes) {
    enqueue("billing");
    bury("billing");
    counters.sent = 5;
    counters.board.note({.destination = "billing", .mode = lane_mode::running});
    const auto event = loop.run(watch(viewer.key)->next());
    ASSERT_TRUE(event);
    EXPECT_THAT(*event, StartsWith("event: node\ndata: {"));
    EXPECT_TRUE(event->ends_with("}\n\n"));
    EXPECT_LT(event->size(), 4096U);
    const auto told = boost::json::parse(event->substr(event->find('{')));
    EXPECT_EQ(told.at("health").at("status"), "red");
    EXPECT_EQ(told.at("stats").at("pending"), 1);
    EXPECT_EQ(told.at("stats").at("failed"), 1);
    EXPECT_EQ(told.at("lanes").at(0).at("destination"), "billing");
    EXPECT_EQ(told.at("counters").at("sent"), 5);
}

TEST_F(live, is_the_same_as_what_is_answered_to_those_who_ask) {
    enqueue("billing");
    const auto event = loop.run(watch(viewer.key)->next());
    const auto told = boost::json::parse(event->substr(event->find('{')));
    EXPECT_EQ(told.at("health"), get_json("/_rf/health"));
    EXPECT_EQ(told.at("stats"), get_json("/_rf/outbox/stats"));
    EXPECT_EQ(told.at("lanes"), get_json("/_rf/outbox/lanes").at("lanes"));
}

TEST_F(live, ends_when_the_key_is_revoked) {
    keep_reading(watch(viewer.key));
    keep_reading(watch(boss.key));
    loop.run_for(3s);
    EXPECT_EQ(ends, 0);
    access.replace(
        {{"desk-3", admin_role::operator_, *parse_key_hash(boss.hash), {.payloads = true}}});
    loop.run_for(1s);
    EXPECT_EQ(ends, 1);
}

TEST_F(live, needs_a_key) { EXPECT_EQ(ask("GET", "/_rf/live", "phk_wrong").status, 401); }

TEST_F(live, lets_no_more_watch_than_it_may) {
    std::vector<std::shared_ptr<http_body_source>> all;
    for (int i = 0; i < 100; ++i) all.push_back(watch(viewer.key));
    const auto refused = ask("GET", "/_rf/live", viewer.key);
    EXPECT_EQ(refused.status, 503);
    EXPECT_THAT(refused.body, HasSubstr("100 pages watch this node already"));
    all.pop_back();
    EXPECT_TRUE(watch(viewer.key));
}

TEST_F(live, ends_at_once_when_the_server_stops) {
    const auto one = watch(viewer.key);
    keep_reading(one);
    loop.run_for(1500ms);
    one->end();
    loop.settle();  // No time passes.
    EXPECT_EQ(ends, 1);
}

TEST_F(live, counts_watchers_that_did_not_read) {
    watch(viewer.key)->gave_up();
    prometheus_text text;
    feed.write_metrics(text);
    const auto written = text.take();
    EXPECT_THAT(written, HasSubstr("posthorn_live_dropped_total 1"));
    EXPECT_THAT(written, HasSubstr("posthorn_live_watchers 0"));
}

}  // namespace
}  // namespace posthorn
