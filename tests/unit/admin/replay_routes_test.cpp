#include "admin/replay_routes.hpp"

#include "operations/replay_operations.hpp"
#include "unit/admin/admin_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class replay_routes : public admin_fixture {
protected:
    uuid send(std::string destination = "stock") {
        const auto id = enqueue(std::move(destination));
        change(
            fmt::format("UPDATE outbox_messages SET status = 'Sent', sent_at = {}"
                        " WHERE message_id = '{}'",
                        now_ms(), id.to_string()));
        return id;
    }
    std::int64_t now_ms() { return loop.time().wall().time_since_epoch().count(); }
    std::string status_of(const uuid& id) {
        return text("SELECT status FROM outbox_messages WHERE message_id = '" + id.to_string() +
                    "'");
    }
    boost::json::object replay(const std::string& query) {
        const auto answer = ask("POST", "/_rf/outbox/replay?" + query, boss.key);
        EXPECT_EQ(answer.status, 200) << answer.body;
        return boost::json::parse(answer.body).as_object();
    }

    const std::string since = "since=" + to_iso8601(loop.time().wall());
};

TEST_F(replay_routes, count_what_would_be_sent_again_and_change_nothing) {
    const auto one = send();
    send("billing");
    loop.run_for(1h);
    const auto told = get_json("/_rf/outbox/replay?destination=stock&" + since).as_object();
    EXPECT_EQ(told.at("replayed"), 1);
    EXPECT_EQ(told.at("expired"), 0);
    EXPECT_EQ(told.at("until").as_string(), to_iso8601(loop.time().wall()));
    EXPECT_TRUE(told.at("next").is_null());
    EXPECT_EQ(status_of(one), "Sent");
    EXPECT_EQ(wakes, 0);
}

TEST_F(replay_routes, send_again_what_was_acknowledged_in_that_time_and_keep_who_did) {
    const auto one = send();
    const auto other = send("billing");
    loop.run_for(1h);
    const auto done = replay("destination=stock&" + since);
    EXPECT_EQ(done.at("replayed"), 1);
    EXPECT_TRUE(done.at("next").is_null());
    EXPECT_EQ(status_of(one), "Pending");
    EXPECT_EQ(status_of(other), "Sent");
    EXPECT_EQ(wakes, 1);
    EXPECT_EQ(text("SELECT who || ' ' || target || ' ' || outcome FROM posthorn_audit"),
              "desk-3 /_rf/outbox/replay done");
    EXPECT_EQ(replay("destination=nowhere&" + since).at("replayed"), 0);
    EXPECT_EQ(wakes, 1) << "nothing is to be looked for";
}

TEST_F(replay_routes, go_on_where_a_slice_ended_and_meet_none_twice) {
    change(fmt::format(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= {})"
        " INSERT INTO outbox_messages (destination, endpoint, payload, status, sent_at,"
        " created_at, expires_at) SELECT 'stock', 'Ship', '{{}}', 'Sent', {}, {}, {} FROM n",
        replay_slice_rows, now_ms(), now_ms(), now_ms() + 86'400'000));
    loop.run_for(1h);
    const auto first = replay(since);
    EXPECT_EQ(first.at("replayed"), std::int64_t{replay_slice_rows});
    const auto more = since + "&after=" + std::string(first.at("next").as_string());
    const auto until = "&until=" + std::string(first.at("until").as_string());
    EXPECT_EQ(ask("POST", "/_rf/outbox/replay?" + more, boss.key).status, 400);
    // The first slice was acknowledged anew meanwhile.
    loop.run_for(1min);
    change(fmt::format(
        "UPDATE outbox_messages SET status = 'Sent', sent_at = {} WHERE status = 'Pending'",
        now_ms()));
    const auto second = replay(more + until);
    EXPECT_EQ(second.at("replayed"), 1);
    EXPECT_TRUE(second.at("next").is_null());
    EXPECT_EQ(text("SELECT group_concat(seq) FROM outbox_messages WHERE status = 'Pending'"),
              std::to_string(replay_slice_rows + 1));
}

TEST_F(replay_routes, leave_what_is_past_its_time_and_count_it) {
    const auto old = send();
    loop.run_for(25h);
    EXPECT_EQ(get_json("/_rf/outbox/replay?" + since).at("expired"), 1);
    EXPECT_EQ(replay(since).at("expired"), 1);
    EXPECT_EQ(status_of(old), "Sent");
}

TEST_F(replay_routes, need_an_operator_for_the_change_and_a_time_for_both) {
    const auto one = send();
    EXPECT_EQ(ask("POST", "/_rf/outbox/replay?" + since, viewer.key).status, 403);
    EXPECT_EQ(ask("GET", "/_rf/outbox/replay?" + since).status, 401);
    for (const auto* const method : {"GET", "POST"}) {
        const auto answer = ask(method, "/_rf/outbox/replay", boss.key);
        EXPECT_EQ(answer.status, 400);
        EXPECT_THAT(answer.body, HasSubstr("say since when"));
    }
    EXPECT_EQ(status_of(one), "Sent");
}

}  // namespace
}  // namespace posthorn
