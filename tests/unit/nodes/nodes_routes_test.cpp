#include <boost/json/serialize.hpp>

#include "unit/nodes/nodes_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class nodes_routes_test : public nodes_fixture {
protected:
    static constexpr std::string_view id = "01890a5d-ac96-774b-bcce-b302099a8057";

    static http_response has(std::string_view field, std::string_view value) {
        return {.status = 200,
                .headers = {},
                .body = fmt::format(R"({{"messages":[{{"messageId":"{}","destination":"d",)"
                                    R"("endpoint":"e","status":"Dead","createdAt":"t",)"
                                    R"("{}":"{}"}}],"next":null}})",
                                    id, field, value)};
    }
    boost::json::object search(std::string query) {
        http_request request;
        request.query = std::move(query);
        return ask("/_rf/search", std::move(request));
    }
    boost::json::object of_node(std::string_view path, std::string node, std::string query = "") {
        http_request request;
        request.query = std::move(query);
        request.parameters = {{"node", std::move(node)}, {"messageId", std::string(id)}};
        return ask(path, std::move(request));
    }
};

TEST_F(nodes_routes_test, every_node_of_the_list_is_there_before_it_was_asked) {
    const auto all = ask(nodes_route(*with)).at("nodes").as_array();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(boost::json::serialize(all[0]),
              R"({"name":"stock","url":"http://stock:1","light":"unknown",)"
              R"("reasons":["was not asked yet"]})");
}

TEST_F(nodes_routes_test, no_answer_shows_a_key) {
    start();
    EXPECT_THAT(boost::json::serialize(ask(nodes_route(*with))), Not(HasSubstr("phk_")));
    EXPECT_THAT(boost::json::serialize(of_node("/_rf/nodes/{node}", "stock")),
                Not(HasSubstr("phk_")));
}

TEST_F(nodes_routes_test, the_history_of_one_comes_newest_first_and_in_pages) {
    start();
    answers.at("http://stock:1") = told("red", R"(["a"])");
    loop.run_for(1min);
    const auto whole = of_node("/_rf/nodes/{node}", "stock").at("history").as_array();
    ASSERT_EQ(whole.size(), 2U);
    EXPECT_EQ(whole[0].at("light"), "red");
    EXPECT_EQ(whole[1].at("light"), "green");
    const auto first = of_node("/_rf/nodes/{node}", "stock", "limit=1");
    EXPECT_EQ(first.at("history").as_array().size(), 1U);
    const auto next = std::to_string(first.at("next").as_int64());
    const auto second = of_node("/_rf/nodes/{node}", "stock", "limit=1&before=" + next);
    EXPECT_EQ(second.at("history").as_array().at(0).at("light"), "green");
}

TEST_F(nodes_routes_test, what_is_not_known_or_asked_wrongly_is_refused) {
    of_node("/_rf/nodes/{node}", "nobody");
    EXPECT_EQ(last_status, 404);
    of_node("/_rf/nodes/{node}", "stock", "limit=0");
    EXPECT_EQ(last_status, 400);
    of_node("/_rf/nodes/{node}/outbox/{messageId}", "stock", "payload=true");
    EXPECT_EQ(last_status, 400);
    search("payload=true");
    EXPECT_EQ(last_status, 400);
    EXPECT_TRUE(asked.empty());
}

TEST_F(nodes_routes_test, a_search_has_the_hits_of_all_and_names_who_did_not_answer) {
    answers.at("http://stock:1") = has("orderKey", "k");
    answers.at("http://crm:2") = fail(error_code::unreachable, "refused");
    const auto found = search("orderKey=k");
    EXPECT_EQ(last_status, 200);
    ASSERT_EQ(found.at("hits").as_array().size(), 1U);
    EXPECT_EQ(found.at("hits").as_array().at(0).at("node"), "stock");
    EXPECT_EQ(boost::json::serialize(found.at("nodes")),
              R"([{"node":"stock","answered":true,"more":false},)"
              R"({"node":"crm","answered":false,"more":false,"why":"refused"}])");
    ASSERT_EQ(asked.size(), 2U);
    EXPECT_EQ(asked[0].url, "http://stock:1/_rf/outbox?limit=20&orderKey=k");
    EXPECT_LE(asked[0].limits.reply_bytes_max, std::size_t{1} << 20);
}

TEST_F(nodes_routes_test, a_message_of_another_is_shown_without_its_payload) {
    answers.at("http://stock:1") = http_response{
        .status = 200,
        .headers = {},
        .body = R"({"messageId":"m","destination":"d","endpoint":"e","status":"Dead",)"
                R"("createdAt":"t","payload":"secret"})"};
    const auto shown = of_node("/_rf/nodes/{node}/outbox/{messageId}", "stock");
    EXPECT_EQ(last_status, 200);
    EXPECT_EQ(shown.at("node"), "stock");
    EXPECT_FALSE(shown.at("message").as_object().contains("payload"));
    EXPECT_EQ(asked.back().url, fmt::format("http://stock:1/_rf/outbox/{}", id));
    answers.at("http://stock:1") = fail(error_code::unreachable, "refused");
    of_node("/_rf/nodes/{node}/outbox/{messageId}", "stock");
    EXPECT_EQ(last_status, 503);
}

TEST_F(nodes_routes_test, a_life_has_the_traces_of_all_and_names_who_did_not_answer) {
    answers.at("http://stock:1") = http_response{
        .status = 200,
        .headers = {},
        .body = R"({"taken":[{"sourceServiceId":"orders","endpoint":"Ship","processedAt":"t"}],)"
                R"("caused":[],"more":true})"};
    answers.at("http://crm:2") = fail(error_code::unreachable, "refused");
    const auto told = of_node("/_rf/life/{messageId}", "");
    EXPECT_EQ(last_status, 200);
    ASSERT_EQ(told.at("traces").as_array().size(), 1U);
    EXPECT_EQ(told.at("traces").at(0).at("what"), "taken");
    EXPECT_EQ(boost::json::serialize(told.at("nodes")),
              R"([{"node":"stock","url":"http://stock:1","answered":true,"more":true},)"
              R"({"node":"crm","url":"http://crm:2","answered":false,"more":false,)"
              R"("why":"refused"}])");
    ASSERT_EQ(asked.size(), 2U);
    EXPECT_EQ(asked[0].url, fmt::format("http://stock:1/_rf/links/{}", id));
    EXPECT_LE(asked[0].limits.reply_bytes_max, std::size_t{1} << 20);
}

TEST_F(nodes_routes_test, a_cause_is_asked_for_of_nodes_that_answer) {
    answers.at("http://stock:1") = fail(error_code::unreachable, "refused");
    answers.at("http://crm:2") = http_response{
        .status = 200, .headers = {}, .body = R"({"taken":[],"caused":[],"more":false})"};
    of_node("/_rf/life/{messageId}", "", fmt::format("cause={}", id));
    ASSERT_EQ(asked.size(), 3U);
    EXPECT_EQ(asked[2].url, fmt::format("http://crm:2/_rf/outbox/{}", id));
    for (const auto* const wrong : {"cause=x", "payload=true"}) {
        of_node("/_rf/life/{messageId}", "", wrong);
        EXPECT_EQ(last_status, 400) << wrong;
    }
    EXPECT_EQ(asked.size(), 3U);
}

TEST_F(nodes_routes_test, on_a_file_what_is_known_is_shown_and_none_is_asked) {
    start();
    stop();
    const node_asker deaf(watch, {});
    const nodes_deps of_file{.env = env, .where = with->where, .asker = deaf};
    EXPECT_EQ(ask(nodes_route(of_file)).at("nodes").as_array().at(0).at("light"), "green");
    for (const auto& each : node_routes(of_file))
        if (each.path == "/_rf/search")
            EXPECT_THAT(std::string(ask(each).at("message").as_string()), HasSubstr("--url"));
    EXPECT_EQ(last_status, 404);
}

TEST_F(nodes_routes_test, nodes_are_counted_by_their_light) {
    answers.at("http://crm:2") = told("yellow", R"(["a"])");
    auto counts = count_lights(*with);
    ASSERT_TRUE(counts);
    EXPECT_EQ(counts->unknown, 2);
    start();
    counts = count_lights(*with);
    ASSERT_TRUE(counts);
    EXPECT_EQ(counts->green + counts->red * 10, 1);
    EXPECT_EQ(counts->yellow, 1);
}

}  // namespace
}  // namespace posthorn
