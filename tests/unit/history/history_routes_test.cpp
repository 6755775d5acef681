#include "history/history_routes.hpp"

#include <boost/json/parse.hpp>

#include "unit/history/history_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
namespace json = boost::json;

TEST(history_query, reads_what_is_asked_for) {
    const auto asked = parse_history_query("range=6h&destination=big%20crm&node=a%2F1");
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->range.name, "6h");
    EXPECT_EQ(asked->destination, "big crm");
    EXPECT_EQ(asked->node, "a/1");
    EXPECT_EQ(parse_history_query("")->range.name, "15m");
}

TEST(history_query, says_what_is_wrong_with_it) {
    EXPECT_THAT(parse_history_query("range=1y").error().what(), HasSubstr("15m, 6h or 7d"));
    EXPECT_THAT(parse_history_query("rang=6h").error().what(), HasSubstr("'rang' cannot be asked"));
    EXPECT_THAT(parse_history_query("node=%zz").error().what(), HasSubstr("percent-encoded"));
    EXPECT_THAT(parse_history_query("destination=a&endpoint=b").error().what(),
                HasSubstr("not both"));
}

class history_over_http : public history_fixture {
protected:
    json::object ask(std::string query) {
        const auto route = history_route(*with, *keeper);
        http_request request;
        request.query = std::move(query);
        const auto response = loop.run(route.answer(std::move(request), {}));
        EXPECT_EQ(response.status, 200) << response.body;
        return json::parse(response.body).as_object();
    }
    /// Of a field, all values together; those not known are nothing.
    static double sum(const json::object& chart, std::string_view box, std::string_view field) {
        double all = 0;
        for (const auto& one : chart.at(box).as_object().at(field).as_array())
            if (!one.is_null()) all += one.to_number<double>();
        return all;
    }
    static std::int64_t known(const json::object& chart) {
        return std::ranges::count_if(chart.at("outbox").as_object().at("sent").as_array(),
                                     [](const json::value& one) { return !one.is_null(); });
    }
};

TEST_F(history_over_http, shows_each_range_in_as_many_points_as_a_chart_can_show) {
    start();
    sent("billing", 600);
    loop.run_for(10min + 30s);
    struct expectation {
        std::string range;
        std::int64_t step;
        std::size_t points;
    };
    for (const auto& [range, step, points] :
         {expectation{"15m", 1, 900}, {"6h", 30, 720}, {"7d", 600, 1008}}) {
        const auto chart = ask("range=" + range);
        EXPECT_EQ(chart.at("stepSeconds").as_int64(), step);
        EXPECT_EQ(chart.at("outbox").at("sent").as_array().size(), points);
        EXPECT_NEAR(sum(chart, "outbox", "sent") * static_cast<double>(step), 600, 1) << range;
    }
}

TEST_F(history_over_http, shows_after_a_restart_what_was_before) {
    start("one/17");
    loop.run_for(20s);
    sent("billing", 50);
    loop.run_for(40s);
    stop();
    loop.run_for(30s);
    start("one/18");
    sent("billing", 8);
    loop.run_for(1min);
    const auto chart = ask("range=15m");
    EXPECT_NEAR(sum(chart, "outbox", "sent"), 58, 0.1);
    EXPECT_EQ(known(chart), 120);  // Not the half minute in which no node ran.
    EXPECT_EQ(chart.at("nodes"), (json::array{"one/17", "one/18"}));
    EXPECT_NEAR(sum(ask("range=15m&node=one%2F17"), "outbox", "sent"), 50, 0.1);
}

TEST_F(history_over_http, shows_one_destination_and_that_it_was_idle) {
    start();
    loop.run_for(10s);
    sent("billing", 10);
    sent("crm", 5);
    loop.run_for(2min + 50s);
    const auto chart = ask("range=6h&destination=crm");
    EXPECT_NEAR(sum(chart, "outbox", "sent") * 30, 5, 0.01);
    EXPECT_EQ(known(chart), 6);
    EXPECT_FALSE(chart.contains("inbox"));
    EXPECT_EQ(known(ask("range=15m&destination=crm")), 180);
}

TEST_F(history_over_http, shows_what_arrived_though_another_process_has_put_it_there) {
    start();
    loop.run_for(1min);
    for (int i = 0; i < 60; ++i) enqueue("billing");
    loop.run_for(2min);
    EXPECT_NEAR(sum(ask("range=6h"), "outbox", "arrived") * 30, 60, 0.1);
}

TEST_F(history_over_http, has_no_latency_where_nothing_was_sent) {
    start();
    sent("billing", 3);
    loop.run_for(31s);
    const auto chart = ask("range=15m");
    const auto& p50 = chart.at("outbox").at("p50Ms").as_array();
    EXPECT_TRUE(p50.back().is_null());
    double highest = 0;
    for (const auto& one : p50)
        if (!one.is_null()) highest = std::max(highest, one.to_number<double>());
    EXPECT_NEAR(highest, 0.175, 0.01);
}

TEST_F(history_over_http, refuses_what_it_does_not_understand) {
    start();
    const auto route = history_route(*with, *keeper);
    http_request request;
    request.query = "range=forever";
    EXPECT_EQ(loop.run(route.answer(std::move(request), {})).status, 400);
    EXPECT_EQ(route.needs, admin_role::viewer);
}

}  // namespace
}  // namespace posthorn
