#include "admin/openapi.hpp"

#include "admin/session_routes.hpp"
#include "admin_fixture.hpp"

namespace posthorn {
namespace {

using testing::HasSubstr;

task<http_response> nothing(http_request, admin_caller) { co_return json_response(200, "{}"); }

class openapi : public admin_fixture {};

TEST_F(openapi, describes_every_route_that_was_added_and_no_other) {
    router all;
    admin_surface surface(all, *gate);
    add_admin_routes(surface, *node);
    surface.add({"POST",
                 "/_rf/of/{feature}",
                 admin_role::worker,
                 {.summary = "Of a feature.", .answer = "{}", .query = "{limit?: integer}"},
                 nothing});
    add_index(surface, "orders");
    const auto document = describe_routes(surface.all(), "9.8.7");
    std::set<std::string> described;
    for (const auto& path : document.at("paths").as_object())
        for (const auto& operation : path.value().as_object()) {
            auto method = std::string(operation.key());
            std::ranges::transform(method, method.begin(), ::toupper);
            described.insert(method + " " + std::string(path.key()));
            EXPECT_FALSE(operation.value().at("summary").as_string().empty()) << path.key();
            EXPECT_TRUE(operation.value().at("responses").as_object().contains("200"));
        }
    const auto known = all.known();
    EXPECT_EQ(described, std::set<std::string>(known.begin(), known.end()));
}

TEST_F(openapi, is_served_with_itself_in_it_and_so_is_the_list_of_routes) {
    admin_surface surface(routes, *gate);
    add_index(surface, "orders");
    const auto served =
        loop.run(routes.handle({.method = "GET",
                                .path = "/_rf/openapi.json",
                                .query = {},
                                .headers = {{"Authorization", "Bearer " + viewer.key}},
                                .body = {}}));
    ASSERT_EQ(served.status, 200);
    const auto document = boost::json::parse(served.body);
    EXPECT_EQ(document.at("openapi"), "3.1.0");
    EXPECT_TRUE(document.at("paths").as_object().contains("/_rf/openapi.json"));
    EXPECT_TRUE(document.at("paths").as_object().contains("/_rf"));
    EXPECT_EQ(loop.run(routes.handle({.method = "GET",
                                      .path = "/_rf/openapi.json",
                                      .query = {},
                                      .headers = {},
                                      .body = {}}))
                  .status,
              401);
}

TEST_F(openapi, says_how_a_route_is_asked) {
    const auto& operation =
        described.at("paths").at("/_rf/dead/{messageId}/edit").at("post").as_object();
    EXPECT_EQ(operation.at("operationId"), "postDeadByMessageIdEdit");
    EXPECT_EQ(operation.at("description"), "Needs the role operator.");
    EXPECT_EQ(operation.at("parameters"),
              boost::json::parse(
                  R"([{"name":"messageId","in":"path","required":true,"schema":{"type":"string"}},
                      {"name":"If-Match","in":"header","schema":{"type":"string"}}])"));
    EXPECT_EQ(operation.at("requestBody").at("required"), false);
}

// The check that all tests of the admin routes make of every answer.
TEST_F(openapi, an_answer_that_is_not_as_described_is_found) {
    const auto fault = [&](std::string path, std::uint16_t status, std::string body) {
        return test::unlike_description(described, "GET", path, json_response(status, body));
    };
    const std::string good = R"({"messages":[],"next":null})";
    EXPECT_EQ(fault("/_rf/outbox", 200, good), "");
    EXPECT_THAT(fault("/_rf/outbox", 200, R"({"messages":[]})"), HasSubstr("lacks next"));
    EXPECT_THAT(fault("/_rf/outbox", 200, R"({"messages":[],"next":"7"})"), HasSubstr("fits none"));
    EXPECT_THAT(fault("/_rf/outbox", 200, R"({"messages":[{}],"next":7})"), HasSubstr("lacks"));
    EXPECT_THAT(fault("/_rf/outbox", 200, R"({"messages":[],"next":7,"more":1})"),
                HasSubstr("more is not described"));
    EXPECT_THAT(fault("/_rf/outbox", 400, good), HasSubstr("lacks error"));
    EXPECT_THAT(fault("/_rf/new", 200, "{}"), HasSubstr("is not described"));
    EXPECT_EQ(fault("/_rf/new", 404, R"({"error":"not_found","message":""})"), "");
}

}  // namespace
}  // namespace posthorn
