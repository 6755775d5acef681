#include "admin/admin_api.hpp"

#include "unit/admin/admin_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class admin_api : public admin_fixture {};

TEST_F(admin_api, knows_only_callers_that_have_shown_a_key) {
    EXPECT_TRUE(ask("GET", "/_rf/health", boss.key).known_caller);
    EXPECT_FALSE(ask("GET", "/_rf/health", "").known_caller);
}

TEST_F(admin_api, refuses_a_parameter_that_is_given_twice_wherever_it_is) {
    for (const auto* const path :
         {"/_rf/outbox?limit=1&limit=2", "/_rf/health?x=1&x=1", "/_rf/inbox?source=a&source=b",
          "/_rf/dead?destination=stock&destination=billing", "/_rf/inbox/handlers?a&a"}) {
        const auto answer = get(path);
        EXPECT_EQ(answer.status, 400) << path;
        EXPECT_THAT(answer.body, HasSubstr("is given twice; give it once")) << path;
        EXPECT_THAT(answer.body, HasSubstr("invalid_argument")) << path;
    }
    const auto id = bury("stock").to_string();
    EXPECT_EQ(
        ask("POST", "/_rf/dead/delete?destination=billing&destination=stock", boss.key).status,
        400);
    EXPECT_EQ(get_json("/_rf/outbox/" + id).at("status"), "Dead");
}

TEST_F(admin_api, tells_the_statistics_of_the_outbox) {
    enqueue();
    bury("stock");
    loop.run_for(5s);
    enqueue();
    const auto shown = get_json("/_rf/outbox/stats").as_object();
    EXPECT_EQ(shown.at("pending").as_int64(), 2);
    EXPECT_EQ(shown.at("failed").as_int64(), 1);
    EXPECT_EQ(shown.at("expired").as_int64(), 0);
    EXPECT_EQ(shown.at("oldestAgeMs").as_int64(), 5'000);
    EXPECT_EQ(shown.at("undeliverable").at("count").as_int64(), 0);
    ASSERT_EQ(shown.at("backlog").as_array().size(), 1U);
    EXPECT_EQ(shown.at("backlog").at(0).at("destination").as_string(), "billing");
    EXPECT_EQ(shown.at("backlog").at(0).at("pending").as_int64(), 2);
}

TEST_F(admin_api, tells_what_waits_behind_a_message_that_was_given_up) {
    const auto first = enqueue("stock", "{}", "acct-7").to_string();
    const auto second = enqueue("stock", "{}", "acct-7").to_string();
    enqueue("stock", "{}", "acct-8");
    EXPECT_EQ(get_json("/_rf/outbox/" + second).at("waitsBehind").at("status"), "Pending");
    EXPECT_EQ(get_json("/_rf/health").at("status"), "green") << "that is how order works";
    change("UPDATE outbox_messages SET status = 'Dead' WHERE message_id = '" + first + "'");
    wait_a_second();

    const auto stats = get_json("/_rf/outbox/stats").at("blocked").as_object();
    EXPECT_EQ(stats.at("messages"), 1);
    ASSERT_EQ(stats.at("keys").as_array().size(), 1U);
    const auto& key = stats.at("keys").at(0);
    EXPECT_EQ(key.at("orderKey"), "acct-7");
    EXPECT_EQ(key.at("destination"), "stock");
    EXPECT_EQ(key.at("waiting"), 1);
    EXPECT_EQ(key.at("behind").at("messageId").as_string(), first);
    EXPECT_EQ(key.at("behind").at("status"), "Dead");
    EXPECT_TRUE(key.at("behind").as_object().contains("since"));

    const auto shown = get_json("/_rf/outbox/" + second).as_object();
    EXPECT_EQ(shown.at("waitsBehind").at("messageId").as_string(), first);
    EXPECT_FALSE(shown.contains("nextRetryAt")) << "it is not tried before it expires";
    const auto health = get_json("/_rf/health").as_object();
    EXPECT_EQ(health.at("outbox").at("blocked"), 1);
    EXPECT_THAT(get("/_rf/health").body, HasSubstr("behind " + first + " (Dead since "));
    EXPECT_THAT(get("/metrics").body, HasSubstr("\nposthorn_outbox_blocked_messages 1\n"));

    const auto page = get_json("/_rf/outbox?orderKey=acct-7&status=Pending").at("messages");
    ASSERT_EQ(page.as_array().size(), 1U);
    EXPECT_EQ(page.at(0).at("messageId").as_string(), second);
    EXPECT_EQ(page.at(0).at("parked"), true);
}

TEST_F(admin_api, health_is_yellow_for_what_expired_until_a_person_has_seen_to_it) {
    const auto id = enqueue().to_string();
    change("UPDATE outbox_messages SET status = 'Expired' WHERE message_id = '" + id + "'");
    const auto shown = get_json("/_rf/health").as_object();
    EXPECT_EQ(shown.at("status"), "yellow");
    EXPECT_EQ(shown.at("working"), true);
    EXPECT_EQ(shown.at("outbox").at("expired"), 1);
    EXPECT_THAT(std::string(shown.at("reasons").at(0).as_string()),
                HasSubstr("1 message expired before it was delivered"));
    http_request reason;
    reason.body = R"({"reason":"sold by phone"})";
    EXPECT_EQ(ask_with(reason, "POST", "/_rf/dead/" + id + "/resolve", boss.key).status, 200);
    wait_a_second();
    EXPECT_EQ(get_json("/_rf/health").at("status"), "green");
}

TEST_F(admin_api, tells_which_peers_answer_and_since_when) {
    counters.peers.note("stock", true, loop.time().wall());
    counters.peers.note("billing", false, loop.time().wall());
    const auto peers = get_json("/_rf/outbox/stats").at("peers").as_array();
    ASSERT_EQ(peers.size(), 2U);
    EXPECT_EQ(peers.at(0).at("destination").as_string(), "billing");
    EXPECT_FALSE(peers.at(0).at("reachable").as_bool());
    EXPECT_TRUE(peers.at(1).at("reachable").as_bool());
    EXPECT_EQ(peers.at(1).at("since").as_string(), to_iso8601(loop.time().wall()));
}

TEST_F(admin_api, lists_the_failed_in_pages) {
    std::vector<std::string> ids_of_dead;
    for (int i = 0; i < 3; ++i) ids_of_dead.push_back(bury().to_string());
    enqueue();
    const auto first = get_json("/_rf/outbox/failed?limit=2").as_object();
    ASSERT_EQ(first.at("messages").as_array().size(), 2U);
    EXPECT_EQ(first.at("messages").at(0).at("messageId").as_string(), ids_of_dead[2]);
    EXPECT_EQ(first.at("messages").at(0).at("lastError").as_string(), "no answer");
    const auto next = std::to_string(first.at("next").as_int64());
    const auto second = get_json("/_rf/outbox/failed?limit=2&before=" + next).as_object();
    ASSERT_EQ(second.at("messages").as_array().size(), 1U);
    EXPECT_TRUE(second.at("next").is_null());
}

TEST_F(admin_api, lists_messages_by_filter) {
    enqueue("billing");
    enqueue("stock");
    bury("stock");
    const auto count = [&](const std::string& query) {
        return get_json("/_rf/outbox" + query).at("messages").as_array().size();
    };
    EXPECT_EQ(count(""), 3U);
    EXPECT_EQ(count("?destination=stock"), 2U);
    EXPECT_EQ(count("?destination=stock&status=Pending"), 1U);
    EXPECT_EQ(get("/_rf/outbox?status=dead").status, 400);
    EXPECT_EQ(get("/_rf/outbox/failed?status=Dead").status, 200);
    EXPECT_THAT(get("/_rf/outbox/failed?status=Sent").body,
                HasSubstr("these are dead ones; ask /_rf/outbox for other states"));
    const auto first = to_iso8601(loop.time().wall());
    loop.run_for(1min);
    const auto second = to_iso8601(loop.time().wall());
    enqueue("billing");
    EXPECT_EQ(count("?until=" + second), 3U);
    EXPECT_EQ(count("?since=" + first + "&until=" + second + "&destination=stock"), 2U);
    EXPECT_EQ(count("?until=" + first), 0U);
    EXPECT_EQ(get_json("/_rf/outbox/failed?until=" + second).at("messages").as_array().size(), 1U);
}

TEST_F(admin_api, refuses_times_between_which_nothing_can_lie) {
    const auto now = to_iso8601(loop.time().wall());
    const auto refused = [&](const std::string& query) {
        const auto told = get("/_rf/outbox?" + query);
        EXPECT_EQ(told.status, 400) << query;
        return std::string(boost::json::parse(told.body).at("message").as_string());
    };
    EXPECT_EQ(refused("until=soon"), "until is 'soon'; give a time like 2026-02-14T12:00:00Z");
    EXPECT_EQ(refused("since=" + now + "&until=" + now),
              "since (" + now + ") is not before until (" + now +
                  "), so nothing lies between; give an earlier since, or a later until");
    EXPECT_THAT(refused("until=9000-01-01T00:00:00Z"), HasSubstr("more than a year from now"));
    EXPECT_THAT(refused("since=0009-01-01T00:00:00Z"), HasSubstr("which is before 1970"));
}

TEST_F(admin_api, shows_a_message_but_its_payload_only_to_whom_may_read_it) {
    const auto path = "/_rf/outbox/" + enqueue().to_string();
    const auto shown = get_json(path).as_object();
    EXPECT_EQ(shown.at("payloadBytes").as_int64(), 14);
    EXPECT_EQ(shown.at("status").as_string(), "Pending");
    EXPECT_FALSE(shown.contains("payload"));
    const auto refused = get(path + "?payload=true");
    EXPECT_EQ(refused.status, 403);
    EXPECT_THAT(refused.body, HasSubstr("access_denied"));
    EXPECT_EQ(text("SELECT who FROM posthorn_audit ORDER BY seq DESC"), "wall");
    const auto allowed = ask("GET", path + "?payload=true", boss.key);
    EXPECT_EQ(boost::json::parse(allowed.body).at("payload").as_string(), R"({"secret":"x"})");
}

TEST_F(admin_api, knows_no_message_that_is_not_there) {
    EXPECT_EQ(get("/_rf/outbox/" + ids.next().to_string()).status, 404);
    EXPECT_EQ(get("/_rf/outbox/nonsense").status, 400);
}

TEST_F(admin_api, requeues_a_dead_message_once_and_keeps_who_did) {
    const auto id = bury().to_string();
    const auto path = "/_rf/outbox/" + id + "/retry";
    const auto done = ask("POST", path, boss.key);
    EXPECT_EQ(done.status, 200) << done.body;
    EXPECT_EQ(wakes, 1);
    EXPECT_EQ(text("SELECT status FROM outbox_messages"), "Pending");
    EXPECT_EQ(text("SELECT who || ' ' || what || ' ' || target || ' ' || outcome FROM"
                   " posthorn_audit"),
              "desk-3 POST " + path + " done");
    const auto again = ask("POST", path, boss.key);
    EXPECT_EQ(again.status, 409);
    EXPECT_THAT(again.body, HasSubstr("state_changed"));
    EXPECT_EQ(text("SELECT outcome FROM posthorn_audit ORDER BY seq DESC LIMIT 1"), "answered 409");
    EXPECT_EQ(ask("POST", "/_rf/outbox/" + ids.next().to_string() + "/retry", boss.key).status,
              404);
    EXPECT_EQ(wakes, 1);
}

TEST_F(admin_api, refuses_a_change_by_a_viewer_and_keeps_that) {
    const auto id = bury().to_string();
    const auto refused = ask("POST", "/_rf/outbox/" + id + "/retry", viewer.key);
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(text("SELECT status FROM outbox_messages"), "Dead");
    EXPECT_THAT(text("SELECT who || ' ' || outcome FROM posthorn_audit"),
                HasSubstr("wall 403: this needs a key with the role operator"));
    const auto nobody = ask("POST", "/_rf/outbox/" + id + "/retry");
    EXPECT_EQ(nobody.status, 401);
    EXPECT_EQ(nobody.headers.find("WWW-Authenticate"), "Bearer");
    EXPECT_EQ(text("SELECT who FROM posthorn_audit ORDER BY seq DESC LIMIT 1"), "127.0.0.1");
    EXPECT_THAT(lines, testing::Contains(HasSubstr("[WRN] Admin: wall was refused POST on")));
}

TEST_F(admin_api, a_change_that_cannot_be_audited_is_not_made) {
    const auto id = bury().to_string();
    change("DROP TABLE posthorn_audit");
    EXPECT_EQ(ask("POST", "/_rf/outbox/" + id + "/retry", boss.key).status, 503);
    EXPECT_EQ(text("SELECT status FROM outbox_messages"), "Dead");
}

TEST_F(admin_api, keeps_sixty_refusals_a_minute_and_counts_the_rest) {
    for (int i = 0; i < 100; ++i) EXPECT_EQ(ask("GET", "/metrics").status, 401);
    EXPECT_EQ(text("SELECT count(*) FROM posthorn_audit"), "60");
    EXPECT_EQ(kept->refusals(), 100U);
    loop.run_for(1min);
    (void)ask("GET", "/metrics");
    EXPECT_THAT(text("SELECT outcome FROM posthorn_audit ORDER BY seq DESC LIMIT 1"),
                HasSubstr("(and 40 more not kept)"));
}

TEST_F(admin_api, cuts_what_a_stranger_wrote_before_it_is_kept) {
    (void)ask("GET", "/_rf/outbox/" + std::string(5'000, 'x') + "\xff?key=hidden");
    EXPECT_EQ(text("SELECT length(target) FROM posthorn_audit"), "200");
    EXPECT_EQ(text("SELECT count(*) FROM posthorn_audit WHERE target LIKE '%hidden%'"), "0");
}

TEST_F(admin_api, every_route_but_none_beside_needs_a_key) {
    const auto id = enqueue().to_string();
    for (const auto& path : std::vector<std::string>{
             "/_rf/health", "/metrics", "/_rf/outbox/stats", "/_rf/outbox", "/_rf/outbox/failed",
             "/_rf/outbox/" + id, "/_rf/inbox/stats", "/_rf/inbox"}) {
        EXPECT_EQ(ask("GET", path).status, 401) << path;
        EXPECT_EQ(get(path).status, 200) << path;
    }
}

TEST_F(admin_api, tells_the_size_of_the_inbox_and_lists_it) {
    run([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.inbox().insert({.key = {"shop", ids.next()},
                                        .endpoint = "Charge",
                                        .processed_at = loop.time().wall(),
                                        .expires_at = loop.time().wall() + 48h}));
        return {};
    });
    const auto stats = get_json("/_rf/inbox/stats").as_object();
    EXPECT_EQ(stats.at("size").as_int64(), 1);
    EXPECT_EQ(stats.at("duplicateRate").as_int64(), 0);
    const auto rows = get_json("/_rf/inbox?source=shop").at("messages").as_array();
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows.at(0).at("endpoint").as_string(), "Charge");
}

TEST_F(admin_api, health_says_why_it_is_not_green) {
    EXPECT_EQ(get_json("/_rf/health").at("status").as_string(), "green");
    bury();
    change(
        "INSERT INTO outbox_messages (destination, endpoint, payload, last_error)"
        " VALUES ('nowhere', 'x', '{}', 'no route to ''nowhere''; add it')");
    EXPECT_EQ(get_json("/_rf/health").at("status").as_string(), "green");  // Of this second.
    wait_a_second();
    const auto shown = get_json("/_rf/health").as_object();
    EXPECT_EQ(shown.at("status").as_string(), "red");
    EXPECT_TRUE(shown.at("working").as_bool());
    EXPECT_EQ(shown.at("undeliverable").at("count").as_int64(), 1);
    EXPECT_EQ(shown.at("undeliverable").at("destination").as_string(), "nowhere");
    const auto& cause = shown.at("undeliverable").at("causes").at(0);
    EXPECT_EQ(cause.at("destination").as_string(), "nowhere");
    EXPECT_EQ(cause.at("count").as_int64(), 1);
    EXPECT_THAT(std::string(cause.at("error").as_string()), HasSubstr("no route"));
    EXPECT_EQ(shown.at("reasons").as_array().size(), 2U);
    wait_a_second();
    broken = {"a handler is stuck"};
    EXPECT_EQ(get("/_rf/health").status, 503);
}

TEST_F(admin_api, strangers_learn_the_colour_alone) {
    bury();
    http_request request;
    request.method = "GET";
    request.path = "/_rf/health";
    const auto response = loop.run(public_routes.handle(request));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, R"({"status":"red","service":"orders","version":"9.8.7"})");
}

TEST_F(admin_api, metrics_come_as_prometheus_text) {
    enqueue();
    bury();
    counters.sent = 7;
    const auto response = get("/metrics");
    EXPECT_THAT(*response.headers.find("Content-Type"), HasSubstr("text/plain; version=0.0.4"));
    for (const auto* line :
         {"rf_outbox_pending_count 1\n", "rf_outbox_failed_count 1\n", "rf_inbox_size 0\n",
          "posthorn_outbox_sent_total 7\n", "posthorn_bad_signatures_total 4\n",
          "posthorn_outbox_destination_pending{destination=\"billing\"} 1\n"})
        EXPECT_THAT(response.body, HasSubstr(line));
}

TEST_F(admin_api, no_answer_quotes_a_key) {
    const std::string secret = boss.key;
    for (const auto& response :
         {ask("GET", "/metrics", secret), ask("GET", "/_rf/health", secret),
          ask("POST", "/_rf/outbox/x/retry", secret), ask("GET", "/metrics", secret + "x")})
        EXPECT_THAT(response.body, Not(HasSubstr(secret)));
    for (const auto& line : lines) EXPECT_THAT(line, Not(HasSubstr(secret)));
}

}  // namespace
}  // namespace posthorn
