// What the admin endpoints ask with SQL of their own, on PostgreSQL.
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include "app/node/own_report.hpp"
#include "audit/audit.hpp"
#include "audit/audit_routes.hpp"
#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/async/virtual_loop.hpp"
#include "operations/links.hpp"
#include "postgres/node.hpp"
#include "support/test_environment.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

class looks_on_postgres : public on_postgres {
protected:
    void run(const std::string& sql) {
        EXPECT_EQ(test::postgres_client(place_.url()).run(sql), std::nullopt) << sql;
    }

    a_store own_{place_, "orders", {audit_tables()}};
};

TEST_F(looks_on_postgres, lead_from_a_cause_to_what_it_caused_and_back) {
    const auto order = sample();
    const auto first = sample();
    auto second = sample();
    second.causation_id = order.id;
    ASSERT_TRUE(succeeded(own_.run([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.inbox().insert({.key = {"shop", order.id},
                                        .endpoint = "Order",
                                        .processed_at = noon,
                                        .expires_at = noon + 48h}));
        return {};
    })));
    for (const auto& each : {first, second}) ASSERT_TRUE(succeeded(own_.put(each)));
    const auto forth = find_links({&own_.get()}, order.id);
    ASSERT_TRUE(succeeded(forth));
    ASSERT_EQ(forth->caused.size(), 1U);
    EXPECT_EQ(forth->caused[0].id, second.id.to_string());
    ASSERT_EQ(forth->taken.size(), 1U);
    EXPECT_EQ(forth->taken[0].source, "shop");
    const auto back = find_links({&own_.get()}, second.id);
    ASSERT_TRUE(succeeded(back));
    EXPECT_EQ(back->cause_id, order.id.to_string());
    ASSERT_TRUE(back->cause_taken);
}

TEST_F(looks_on_postgres, narrow_the_audit) {
    run("INSERT INTO posthorn_audit (at, who, what, target, outcome) VALUES"
        " (1000, 'wall', 'POST', '/_rf/dead/requeue', '403: no'),"
        " (2000, 'desk-3', 'POST', '/_rf/dead/x%y', 'done'),"
        " (3000, 'desk-3', 'POST', '/_rf/queue/retry', 'done')");
    virtual_loop loop;
    auto log = logger::null();
    const test::test_environment env{loop, log};
    const auto route = audit_route(own_.get(), env);
    const auto count = [&](std::string query) {
        http_request request;
        request.query = std::move(query);
        const auto told = loop.run(route.answer(std::move(request), {}));
        EXPECT_EQ(told.status, 200) << told.body;
        return boost::json::parse(told.body).at("entries").as_array().size();
    };
    EXPECT_EQ(count(""), 3U);
    EXPECT_EQ(count("who=desk-3"), 2U);
    EXPECT_EQ(count("target=%25"), 1U);
    EXPECT_EQ(count("outcome=403"), 1U);
    EXPECT_EQ(count("since=1970-01-01T00:00:02Z&until=1970-01-01T00:00:03Z"), 1U);
}

TEST_F(looks_on_postgres, write_a_change_down_though_a_program_took_the_next_numbers_of_the_audit) {
    run("INSERT INTO posthorn_audit (seq, at, who, what, target, outcome) OVERRIDING SYSTEM VALUE"
        " SELECT n, 1000, 'program', 'INSERT', 'x', 'done' FROM generate_series(1, 7) AS n");
    io_threads threads("audit");
    const real_clock time;
    auto log = logger::null();
    audit changes(own_.get(), time, log);
    const auto row =
        start(threads.executor(), changes.begin({"ann", "POST", "/_rf/dead/requeue", ""})).get();
    ASSERT_TRUE(succeeded(row));
    EXPECT_EQ(*row, 8);
}

TEST_F(looks_on_postgres, tell_the_size_of_our_tables) {
    config settings;
    settings.store.url = {.path = "postgresql://desk:s3cret@db/orders", .on_server = true};
    const auto report = report_on_store(settings, {&own_.get()}, {});
    ASSERT_EQ(report.databases.size(), 1U);
    const auto& one = report.databases[0];
    EXPECT_EQ(one.kind, "PostgreSQL");
    EXPECT_EQ(one.size_error, "");
    EXPECT_GT(one.bytes.value_or(0), 8192U);
    EXPECT_EQ(one.place.find("s3cret"), one.place.npos) << one.place;
    EXPECT_FALSE(one.disk);
}

}  // namespace
}  // namespace posthorn::conformance
