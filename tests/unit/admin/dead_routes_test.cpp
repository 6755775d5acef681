#include "admin/dead_routes.hpp"

#include <fmt/format.h>

#include "unit/admin/admin_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class dead_routes : public admin_fixture {
protected:
    http_response post(const std::string& target, const std::string& body = {},
                       const std::string& state = {}) {
        http_request request;
        request.body = body;
        if (!state.empty()) request.headers.add("If-Match", state);
        return ask_with(std::move(request), "POST", target, boss.key);
    }
    static std::string path(const uuid& id, const std::string& verb = {}) {
        return "/_rf/dead/" + id.to_string() + (verb.empty() ? "" : "/" + verb);
    }
    std::string status(const uuid& id) {
        return text("SELECT status FROM outbox_messages WHERE message_id = '" + id.to_string() +
                    "'");
    }
    std::size_t count(const std::string& query) {
        return get_json("/_rf/dead?" + query).at("messages").as_array().size();
    }
};

TEST_F(dead_routes, list_by_filter_in_pages_with_states) {
    const auto first = bury("billing");
    bury("stock");
    bury("stock");
    enqueue("stock");
    const auto page = get_json("/_rf/dead?limit=2").as_object();
    ASSERT_EQ(page.at("messages").as_array().size(), 2U);
    const auto rest = get_json(fmt::format("/_rf/dead?before={}", page.at("next").as_int64()));
    EXPECT_EQ(rest.at("messages").at(0).at("messageId").as_string(), first.to_string());
    EXPECT_EQ(rest.at("messages").at(0).at("state").as_string().size(), 16U);
    EXPECT_TRUE(rest.at("next").is_null());
    EXPECT_EQ(count("destination=stock"), 2U);
    EXPECT_EQ(count("error=NO%20answer"), 3U);
    EXPECT_EQ(count("error=other"), 0U);
    EXPECT_EQ(count("status=Expired"), 0U);
    EXPECT_EQ(count("endpoint=Charge&tenant=north"), 0U);
}

TEST_F(dead_routes, refuse_a_question_that_they_do_not_know) {
    for (const auto* query : {"status=Pending", "status=dead", "cause=x", "cause=0", "limit=1001",
                              "since=today", "until=0001-01-01T00:00:00Z", "colour=red"}) {
        const auto refused = get(std::string("/_rf/dead?") + query);
        EXPECT_EQ(refused.status, 400) << query;
        EXPECT_THAT(refused.body, HasSubstr("invalid_argument")) << query;
    }
}

TEST_F(dead_routes, group_by_cause_and_list_one_group) {
    bury("billing");
    bury("stock");
    bury("stock");
    const auto groups = get_json("/_rf/dead/groups").at("groups").as_array();
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups.at(0).at("count").as_int64(), 2);
    EXPECT_EQ(groups.at(0).at("destination").as_string(), "stock");
    EXPECT_EQ(groups.at(0).at("text").as_string(), "no answer");
    EXPECT_EQ(count(fmt::format("cause={}", groups.at(0).at("cause").as_int64())), 2U);
    EXPECT_EQ(get_json("/_rf/dead/groups?destination=billing").at("groups").as_array().size(), 1U);
    for (const auto* const query : {"since=2020-01-01T00:00:00Z", "cause=1", "before=3"}) {
        const auto refused = get(std::string("/_rf/dead/groups?") + query);
        EXPECT_EQ(refused.status, 400) << "and not all groups for those of " << query;
        EXPECT_THAT(refused.body, HasSubstr("cannot be asked for of groups; use destination"));
    }
}

TEST_F(dead_routes, show_one_with_its_state_and_the_payload_to_whom_may_read_it) {
    const auto id = bury();
    const auto shown = get(path(id));
    EXPECT_EQ(shown.status, 200);
    const auto message = boost::json::parse(shown.body).as_object();
    EXPECT_EQ(shown.headers.find("ETag"),
              fmt::format("\"{}\"", std::string(message.at("state").as_string())));
    EXPECT_FALSE(message.contains("payload"));
    EXPECT_EQ(get(path(id) + "?payload=true").status, 403);
    const auto read = ask("GET", path(id) + "?payload=true", boss.key);
    EXPECT_EQ(boost::json::parse(read.body).at("payload").as_string(), R"({"secret":"x"})");
    EXPECT_EQ(get(path(ids.next())).status, 404);
    EXPECT_EQ(get("/_rf/dead/nonsense").status, 400);
}

TEST_F(dead_routes, reopen_what_was_resolved_one_or_many) {
    const auto a = bury(), b = bury();
    EXPECT_EQ(post(path(a, "reopen")).status, 409) << "it is dead already";
    for (const auto& each : {a, b})
        EXPECT_EQ(post(path(each, "resolve"), R"({"reason":"discarded"})").status, 200);
    EXPECT_EQ(post(path(a, "reopen"), R"({"reason":"x"})").status, 400);
    EXPECT_EQ(post(path(a, "reopen")).status, 200);
    EXPECT_EQ(get_json(path(a)).at("status").as_string(), "Dead");
    EXPECT_EQ(post("/_rf/dead/reopen?status=Resolved&destination=billing").status, 200);
    EXPECT_EQ(get_json(path(b)).at("status").as_string(), "Dead");
    EXPECT_EQ(count(""), 2U);
}

TEST_F(dead_routes, requeue_resolve_and_delete_one_and_keep_who_did) {
    const auto a = bury(), b = bury(), c = bury();
    EXPECT_EQ(post(path(a, "requeue")).status, 200);
    EXPECT_EQ(post(path(b, "resolve"), R"({"reason":"paid by hand"})").status, 200);
    EXPECT_EQ(post(path(c, "delete")).status, 200);
    EXPECT_EQ(wakes, 3);
    EXPECT_EQ(status(a), "Pending");
    EXPECT_EQ(status(b), "Resolved");
    EXPECT_EQ(status(c), "");
    EXPECT_EQ(text("SELECT resolution FROM outbox_messages WHERE status = 'Resolved'"),
              "paid by hand");
    EXPECT_EQ(text("SELECT who || ' ' || target || ' ' || outcome FROM posthorn_audit"
                   " ORDER BY seq DESC LIMIT 1"),
              "desk-3 " + path(c, "delete") + " done");
    const auto again = post(path(a, "requeue"));
    EXPECT_EQ(again.status, 409);
    EXPECT_THAT(again.body, HasSubstr("state_changed"));
    EXPECT_EQ(post(path(c, "requeue")).status, 404);
    EXPECT_EQ(wakes, 3);
}

TEST_F(dead_routes, change_nothing_for_a_viewer) {
    const auto id = bury();
    for (const auto* verb : {"requeue", "resolve", "reopen", "delete", "edit"})
        EXPECT_EQ(ask("POST", path(id, verb), viewer.key).status, 403) << verb;
    for (const auto* verb : {"requeue", "resolve", "reopen", "delete"})
        EXPECT_EQ(ask("POST", std::string("/_rf/dead/") + verb, viewer.key).status, 403) << verb;
    EXPECT_EQ(status(id), "Dead");
}

TEST_F(dead_routes, change_a_message_only_in_the_state_that_was_seen) {
    const auto id = bury();
    const auto seen = std::string(*get(path(id)).headers.find("ETag"));
    EXPECT_EQ(post(path(id, "edit"), R"({"payload":"{}"})", seen).status, 200);
    const auto late = post(path(id, "requeue"), "", seen);
    EXPECT_EQ(late.status, 409);
    EXPECT_THAT(late.body, HasSubstr("it is Dead now, in state"));
    EXPECT_THAT(late.body, HasSubstr("'desk-3' changed it last, at " +
                                     to_iso8601(loop.time().wall()) + ", by " + path(id, "edit")));
    EXPECT_EQ(post(path(id, "requeue"), "", "*").status, 200);
}

TEST_F(dead_routes, name_no_winner_where_the_audit_knows_none) {
    const auto id = bury();
    const auto seen = std::string(*get(path(id)).headers.find("ETag"));
    change("UPDATE outbox_messages SET endpoint = 'Other' WHERE message_id = '" + id.to_string() +
           "'");
    EXPECT_EQ(post(path(bury(), "resolve"), R"({"reason":"another"})").status, 200);
    for (int i = 0; i < 2; ++i) {  // What is refused is in the audit too.
        const auto late = post(path(id, "requeue"), "", seen);
        EXPECT_EQ(late.status, 409);
        EXPECT_THAT(late.body, Not(HasSubstr("changed it last")));
    }
}

TEST_F(dead_routes, edit_and_requeue_together_or_not_at_all) {
    const auto id = bury();
    const auto bad = post(path(id, "edit"), R"({"payload":"{", "requeue":true})");
    EXPECT_EQ(bad.status, 400);
    EXPECT_THAT(bad.body, HasSubstr("invalid_payload"));
    EXPECT_EQ(status(id), "Dead");
    const auto done =
        post(path(id, "edit"),
             R"({"payload":"{\"a\":1}", "endpoint":"Pay", "destination":"bank", "maxRetries":2,
            "headers":"{\"x\":\"y\"}", "contentType":"application/json", "requeue":true})");
    EXPECT_EQ(done.status, 200) << done.body;
    EXPECT_EQ(text("SELECT status || payload || endpoint || destination || max_retries || headers"
                   " FROM outbox_messages"),
              R"(Pending{"a":1}Paybank2{"x":"y"})");
    EXPECT_EQ(text("SELECT outcome FROM posthorn_audit ORDER BY seq DESC LIMIT 1"),
              "done: payload, endpoint, destination, maxRetries, headers, contentType, requeue");
    // The requeue fails: so does the edit.
    const auto late = bury();
    loop.run_for(25h);
    EXPECT_EQ(post(path(late, "edit"), R"({"payload":"7", "requeue":true})").status, 409);
    EXPECT_EQ(
        text("SELECT payload FROM outbox_messages WHERE message_id = '" + late.to_string() + "'"),
        R"({"secret":"x"})");
}

TEST_F(dead_routes, say_what_a_body_lacks) {
    const auto id = bury();
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"resolve", ""},
        {"resolve", R"({"reason":""})"},
        {"edit", "{}"},
        {"edit", R"({"payload":"1","newId":true})"},
        {"edit", R"({"id":"x"})"},
        {"requeue", R"({"reason":"x"})"},
        {"requeue", "no JSON"},
        {"requeue", R"({"newId":"yes"})"},
        {"requeue", R"({"expiresInMs":60000})"},
        {"requeue", R"({"newId":true,"expiresInMs":999})"},
        {"edit", R"({"payload":"1","requeue":true,"expiresInMs":60000})"},
        {"delete", R"({"newId":true})"}};
    for (const auto& [verb, body] : wrong)
        EXPECT_EQ(post(path(id, verb), body).status, 400) << verb << ' ' << body;
    EXPECT_EQ(status(id), "Dead");
}

TEST_F(dead_routes, past_its_time_a_message_goes_under_a_new_id_alone) {
    const auto id = bury();
    loop.run_for(25h);
    const auto refused = post(path(id, "requeue"));
    EXPECT_EQ(refused.status, 409);
    EXPECT_THAT(refused.body, HasSubstr("message_expired"));
    EXPECT_EQ(ask("POST", "/_rf/outbox/" + id.to_string() + "/retry", boss.key).status, 409);
    const auto done = post(path(id, "requeue"), R"({"newId":true})");
    EXPECT_EQ(done.status, 200) << done.body;
    EXPECT_NE(boost::json::parse(done.body).at("messageId").as_string(), id.to_string());
    EXPECT_EQ(text("SELECT status FROM outbox_messages"), "Pending");
}

TEST_F(dead_routes, a_new_id_has_the_time_to_live_that_was_asked_for) {
    const auto id = bury();
    const auto edited = bury();
    loop.run_for(25h);
    EXPECT_EQ(post(path(id, "requeue"), R"({"newId":true,"expiresInMs":60000})").status, 200);
    EXPECT_EQ(post(path(edited, "edit"),
                   R"({"payload":"1","requeue":true,"newId":true,"expiresInMs":60000})")
                  .status,
              200);
    EXPECT_EQ(text("SELECT count(*) FROM outbox_messages WHERE status = 'Pending' AND "
                   "expires_at - created_at = 60000"),
              "2");
}

TEST_F(dead_routes, change_many_in_slices_until_none_is_left) {
    for (int i = 0; i < 101; ++i) bury("stock");
    const auto other = bury("billing");
    const auto first = boost::json::parse(post("/_rf/dead/requeue?destination=stock").body);
    EXPECT_EQ(first.at("changed").as_int64(), 100);
    const auto second =
        boost::json::parse(post(fmt::format("/_rf/dead/requeue?destination=stock&after={}",
                                            first.at("next").as_int64()))
                               .body);
    EXPECT_EQ(second.at("changed").as_int64(), 1);
    EXPECT_TRUE(second.at("next").is_null());
    EXPECT_EQ(wakes, 2);
    EXPECT_EQ(status(other), "Dead");
    const auto none = boost::json::parse(post("/_rf/dead/delete?destination=nobody").body);
    EXPECT_EQ(none.at("changed").as_int64(), 0);
    EXPECT_EQ(post("/_rf/dead/resolve").status, 400);
    EXPECT_EQ(post("/_rf/dead/resolve?all=true", R"({"reason":"old"})").status, 200);
    EXPECT_EQ(status(other), "Resolved");
    EXPECT_EQ(post("/_rf/dead/edit").status, 405);
}

TEST_F(dead_routes, change_all_only_if_that_is_said) {
    const auto one = bury("stock");
    for (const auto* path : {"/_rf/dead/delete", "/_rf/dead/delete?status=Dead",
                             "/_rf/dead/delete?destination=", "/_rf/dead/delete?all=yes"})
        EXPECT_EQ(post(path).status, 400) << path;
    EXPECT_EQ(status(one), "Dead");
    EXPECT_EQ(post("/_rf/dead/delete?all=true").status, 200);
    EXPECT_EQ(text("SELECT count(*) FROM outbox_messages"), "0");
}

}  // namespace
}  // namespace posthorn
