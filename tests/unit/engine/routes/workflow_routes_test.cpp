#include "engine/routes/workflow_routes.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/virtual_loop.hpp"
#include "engine/rows/engine_tables.hpp"
#include "engine/rows/workflow_rows.hpp"
#include "feature/shape.hpp"
#include "store/async.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_environment.hpp"

namespace posthorn {
namespace {

using ::testing::HasSubstr;

/// What a caller asks a route.
struct asked {
    std::string query{};
    std::string body{};
    std::string id = "o1";
    bool payloads = true;
};

class workflow_routes_test : public testing::Test {
protected:
    workflow_routes_test() {
        auto opened = sqlite::open(
            {.path = folder.file("shop.db"), .service = "shop", .above = {engine_tables()}},
            {.time = loop.time(), .writer = at_once, .log = log});
        if (!opened) throw error(opened.error());
        database = *std::move(opened);
        run("INSERT INTO workflow_instances (workflow, id, status, version, arguments)"
            " VALUES ('Approve', 'o1', 'running', 1, '[1]')");
        run("INSERT INTO workflow_history (instance, run, step, at, version, cause, command,"
            " payload, did, state) VALUES (1, 1, 1, 0, 1, 'start', 0, '', '{\"commands\":"
            "[{\"kind\":\"call\",\"name\":\"Charge\",\"sum\":1}],\"dropped\":[],\"status\":"
            "\"running\",\"result\":\"\"}', '{\"now\":\"new\"}')");
        run("INSERT INTO workflow_history (instance, run, step, at, version, cause, command,"
            " payload, did, state) VALUES (1, 1, 2, 0, 1, 'answered', 1, '7', '{\"commands\":[],"
            "\"dropped\":[],\"status\":\"running\",\"result\":\"\"}', '{\"now\":\"paid\"}')");
        run("INSERT INTO workflow_waits (instance, command, signal, shape, key, terms) VALUES"
            " (1, 2, 'Decided', '', '', '[[\"orderId\",\"==\",\"text\",\"o1\"]]')");
        run("INSERT INTO workflow_timers VALUES (1000, 1, 3)");
    }
    ~workflow_routes_test() override { database->stop(); }

    void run(const std::string& sql) {
        const auto done = loop.run(commit(*database, [&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(change(tx, sql));
            return {};
        }));
        if (!done) throw error(done.error());
    }
    std::string text(const std::string& sql) {
        std::string found;
        EXPECT_TRUE(database->read([&](store_reader& from) {
            return ask(from, sql, [&](const sql_row& row) { found = row.text(0); });
        }));
        return found;
    }
    boost::json::object answer(std::string_view method, std::string_view path, asked what = {}) {
        for (const auto& each : routes) {
            if (each.method != method || each.path != path) continue;
            http_request request;
            request.query = std::move(what.query);
            request.body = std::move(what.body);
            request.parameters = {{"workflow", "Approve"}, {"id", what.id}};
            const auto given = loop.run(each.answer(
                std::move(request), {.name = "ann", .rights = {.payloads = what.payloads}}));
            status = given.status;
            return boost::json::parse(given.body).as_object();
        }
        throw std::logic_error("there is no such route");
    }

    static constexpr std::string_view one = "/_rf/workflows/{workflow}/{id}";

    virtual_loop loop;
    logger log = logger::null();
    inline_executor at_once;
    test::temporary_directory folder;
    test::test_environment env{loop, log};
    std::unique_ptr<store> database;
    std::vector<admin_route> routes;
    int status = 0;

    void SetUp() override {
        desk.emplace(workflow_desk{.where = *database, .env = env});
        routes = workflow_routes(*desk);
    }
    std::optional<workflow_desk> desk;
};

TEST_F(workflow_routes_test, lists_those_that_are_asked_for) {
    run("INSERT INTO workflow_instances (workflow, id, status) VALUES ('Other', 'x', 'failed')");
    EXPECT_EQ(answer("GET", "/_rf/workflows").at("workflows").as_array().size(), 2U);
    const auto failed = answer("GET", "/_rf/workflows", {.query = "status=failed"});
    ASSERT_EQ(failed.at("workflows").as_array().size(), 1U);
    EXPECT_EQ(failed.at("workflows").at(0).at("id").as_string(), "x");
    const auto page = answer("GET", "/_rf/workflows", {.query = "limit=1"});
    EXPECT_EQ(page.at("next").as_int64(), 2);
    const auto last = answer("GET", "/_rf/workflows", {.query = "workflow=Approve&before=2"});
    EXPECT_EQ(last.at("workflows").at(0).at("id").as_string(), "o1");
    const auto named = answer("GET", "/_rf/workflows", {.query = "id=x"});
    ASSERT_EQ(named.at("workflows").as_array().size(), 1U);
    EXPECT_EQ(named.at("workflows").at(0).at("seq").as_int64(), 2);
    answer("GET", "/_rf/workflows", {.query = "status=odd"});
    EXPECT_EQ(status, 400);
    answer("GET", "/_rf/workflows", {.query = "limit=0"});
    EXPECT_EQ(status, 400);
}

TEST_F(workflow_routes_test, shows_what_one_waits_for_and_its_state_over_time) {
    const auto now = answer("GET", one);
    EXPECT_EQ(boost::json::serialize(now.at("waitsFor")),
              R"(["Decided where orderId == \"o1\"","the time 1970-01-01T00:00:01.000Z"])");
    EXPECT_EQ(boost::json::serialize(now.at("state")), R"({"now":"paid"})");
    EXPECT_EQ(now.at("steps").as_int64(), 2);
    const auto before = answer("GET", one, {.query = "at=1"});
    EXPECT_EQ(boost::json::serialize(before.at("state")), R"({"now":"new"})");
    const auto then = answer("GET", one, {.query = "at=2"});
    EXPECT_EQ(boost::json::serialize(then.at("before")), R"({"now":"new"})");
    answer("GET", one, {.query = "at=3"});
    EXPECT_EQ(status, 404);
    answer("GET", one, {.id = "other"});
    EXPECT_EQ(status, 404);
}

TEST_F(workflow_routes_test, tells_what_a_step_changed) {
    const auto changes = [this](std::string query) {
        return boost::json::serialize(answer("GET", one, {.query = std::move(query)})["changes"]);
    };
    const std::string of_2 = R"([{"path":"/now","before":"new","after":"paid"}])";
    EXPECT_EQ(changes("at=2&diff=true"), of_2);
    EXPECT_EQ(changes("diff=true"), of_2);
    EXPECT_EQ(changes("at=1&diff=true"), R"([{"path":"","after":{"now":"new"}}])");
    EXPECT_FALSE(answer("GET", one, {.query = "diff=false"}).contains("changes"));
    EXPECT_FALSE(answer("GET", one, {.query = "diff=true", .payloads = false}).contains("changes"));
    answer("GET", one, {.query = "diff=yes"});
    EXPECT_EQ(status, 400);
}

TEST_F(workflow_routes_test, tells_which_step_of_one_in_quarantine_differs) {
    run("UPDATE workflow_instances SET status = 'quarantined',"
        " reason = 'step 2: recorded call Charge, the code now sleeps'");
    EXPECT_EQ(boost::json::serialize(answer("GET", one).at("differs")),
              R"({"step":2,"recorded":"call Charge","found":"sleeps"})");
    run("UPDATE workflow_instances SET reason = 'step 2: its row is missing'");
    EXPECT_EQ(boost::json::serialize(answer("GET", one).at("differs")), R"({"step":2})");
    run("UPDATE workflow_instances SET reason = 'Release was given up'");
    EXPECT_FALSE(answer("GET", one).contains("differs"));
}

TEST_F(workflow_routes_test, counts_those_that_are_open) {
    run("INSERT INTO workflow_instances (workflow, id, status) VALUES ('Other', 'x', 'failed')");
    run("INSERT INTO workflow_instances (workflow, id, status) VALUES ('Other', 'y', 'paused')");
    EXPECT_EQ(boost::json::serialize(answer("GET", "/_rf/workflows/counts").at("open")),
              R"([{"workflow":"Approve","version":1,"status":"running","count":1},)"
              R"({"workflow":"Other","version":0,"status":"paused","count":1}])");
}

TEST_F(workflow_routes_test, shows_no_payload_to_those_who_may_not_see_any) {
    const auto seen = answer("GET", one, {.payloads = false});
    for (const auto* field : {"state", "arguments", "result"}) EXPECT_FALSE(seen.contains(field));
    const auto steps = answer("GET", std::string(one) + "/history", {.payloads = false});
    for (const auto* field : {"state", "payload", "result"})
        EXPECT_FALSE(steps.at("steps").at(1).as_object().contains(field)) << field;
}

TEST_F(workflow_routes_test, lists_the_steps_with_what_the_code_did) {
    const auto first = answer("GET", std::string(one) + "/history", {.query = "limit=1"});
    EXPECT_EQ(boost::json::serialize(first.at("steps").at(0).at("commands")), R"(["call Charge"])");
    EXPECT_EQ(first.at("next").as_int64(), 1);
    const auto rest = answer("GET", std::string(one) + "/history", {.query = "after=1"});
    EXPECT_EQ(rest.at("steps").at(0).at("cause").as_string(), "answered");
    EXPECT_FALSE(rest.contains("next"));
}

TEST_F(workflow_routes_test, lists_the_steps_before_one_that_is_damaged) {
    run("UPDATE workflow_history SET did = '{' WHERE step = 2");
    const auto seen = answer("GET", std::string(one) + "/history");
    EXPECT_EQ(seen.at("steps").as_array().size(), 1U);
    EXPECT_THAT(std::string(seen.at("damage").as_string()),
                HasSubstr("step 2: its row is damaged"));
    run("DELETE FROM workflow_history WHERE step = 1");
    EXPECT_EQ(answer("GET", std::string(one) + "/history").at("damage").as_string(),
              "step 1: its row is missing");
}

TEST_F(workflow_routes_test, pauses_and_resumes) {
    EXPECT_EQ(answer("POST", std::string(one) + "/pause").at("status").as_string(), "paused");
    answer("POST", std::string(one) + "/pause");
    EXPECT_EQ(status, 409);
    EXPECT_EQ(answer("POST", std::string(one) + "/resume").at("status").as_string(), "running");
    EXPECT_EQ(text("SELECT kind FROM workflow_mailbox"), "resume");
    run("UPDATE workflow_instances SET status = 'quarantined', reason = 'a bug'");
    EXPECT_FALSE(answer("POST", std::string(one) + "/resume").contains("reason"));
    run("DELETE FROM workflow_history");
    run("UPDATE workflow_instances SET status = 'paused'");
    EXPECT_EQ(answer("POST", std::string(one) + "/resume").at("status").as_string(), "starting");
}

TEST_F(workflow_routes_test, tells_a_signal_and_cancels_while_it_is_open) {
    const auto tell = [&](std::string body) {
        answer("POST", std::string(one) + "/signal", {.body = std::move(body)});
        return status;
    };
    EXPECT_EQ(tell(R"({"signal":"Decided","payload":{"a":1}})"), 200);
    EXPECT_EQ(text("SELECT signal || payload || workflow || id FROM workflow_signals"),
              R"(Decided{"a":1}Approveo1)");
    EXPECT_EQ(tell(R"({"signal":"Decided","payload":"{\"a\":1}"})"), 200);
    EXPECT_EQ(tell(R"({"signal":"Decided","payload":"a"})"), 400);
    EXPECT_EQ(tell(R"({"signal":"Decided","payload":7})"), 400);
    EXPECT_EQ(tell(R"({"payload":{}})"), 400);
    EXPECT_EQ(tell("nonsense"), 400);
    answer("POST", std::string(one) + "/cancel");
    EXPECT_EQ(text("SELECT payload FROM workflow_mailbox WHERE kind = 'cancel'"),
              "cancelled by ann");
    run("UPDATE workflow_instances SET status = 'failed'");
    EXPECT_EQ(tell(R"({"signal":"Decided","payload":{"a":1}})"), 409);
    answer("POST", std::string(one) + "/cancel");
    EXPECT_EQ(status, 409);
}

TEST_F(workflow_routes_test, are_described_so_that_others_can_read_it) {
    for (const auto& each : routes) {
        for (const auto shape : {each.doc.answer, each.doc.query, each.doc.body})
            if (!shape.empty()) EXPECT_TRUE(schema_of(shape)) << each.path << ": " << shape;
        for (const auto& named : each.doc.shapes) EXPECT_TRUE(schema_of(named.shape)) << named.name;
    }
}

}  // namespace
}  // namespace posthorn
