#include "transport/http/router.hpp"

#include <array>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/task_group.hpp"

namespace posthorn {
namespace {

task<http_response> answer(std::string body) { co_return http_response{200, {}, body}; }

http_handler answer_with(std::string body) {
    return [body](const http_request&) { return answer(body); };
}

router some_routes() {
    router routes;
    routes.add("GET", "/_rf/health", answer_with("health"));
    routes.add("POST", "/_rf/receive", answer_with("receive"));
    routes.add("GET", "/both", answer_with("get"));
    routes.add("DELETE", "/both", answer_with("delete"));
    return routes;
}

http_response ask(std::string method, std::string path) {
    const router routes = some_routes();
    boost::asio::io_context context;
    http_request request;
    request.method = std::move(method);
    request.path = std::move(path);
    auto response = start(context.get_executor(), routes.handle(std::move(request)));
    context.run();
    return response.get();
}

struct route_case {
    std::string_view method;
    std::string_view path;
    std::uint16_t status;
    std::string_view body_or_allow;
};

TEST(router, finds_the_route_or_says_what_is_missing) {
    const std::array cases{
        route_case{"GET", "/_rf/health", 200, "health"},
        route_case{"HEAD", "/_rf/health", 200, "health"},
        route_case{"POST", "/_rf/receive", 200, "receive"},
        route_case{"DELETE", "/both", 200, "delete"},
        route_case{"GET", "/both", 200, "get"},
        route_case{"POST", "/_rf/health", 405, "GET, HEAD"},
        route_case{"HEAD", "/_rf/receive", 405, "POST"},
        route_case{"PUT", "/both", 405, "GET, HEAD, DELETE"},
        route_case{"get", "/_rf/health", 405, "GET, HEAD"},  // Methods are case-sensitive.
        route_case{"GET", "/_rf/healt", 404, ""},
        route_case{"GET", "/_rf/health/", 404, ""},
        route_case{"GET", "/", 404, ""},
    };
    for (const auto& each : cases) {
        const auto response = ask(std::string(each.method), std::string(each.path));
        SCOPED_TRACE(std::string(each.method) + " " + std::string(each.path));
        EXPECT_EQ(response.status, each.status);
        if (each.status == 200) EXPECT_EQ(response.body, each.body_or_allow);
        if (each.status == 405) EXPECT_EQ(response.headers.find("Allow"), each.body_or_allow);
        if (each.status == 404) EXPECT_EQ(response.headers.find("Allow"), std::nullopt);
    }
}

TEST(router, explains_a_refusal_in_json) {
    EXPECT_EQ(ask("GET", "/no\"pe").body,
              R"({"error":"not_found","message":"nothing is at /no\"pe"})");
    EXPECT_THAT(ask("PUT", "/both").body, testing::HasSubstr(R"("error":"method_not_allowed")"));
}

TEST(router, takes_a_route_only_once) {
    router routes = some_routes();
    EXPECT_DEATH(routes.add("GET", "/both", answer_with("again")), "assertion failed");
}

}  // namespace
}  // namespace posthorn
