#include "transport/http/router.hpp"

#include <array>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/task_group.hpp"

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

http_response ask(const router& routes, std::string method, std::string path) {
    boost::asio::io_context context;
    http_request request;
    request.method = std::move(method);
    request.path = std::move(path);
    auto response = start(context.get_executor(), routes.handle(std::move(request)));
    context.run();
    return response.get();
}

http_response ask(std::string method, std::string path) {
    return ask(some_routes(), std::move(method), std::move(path));
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

task<http_response> tell_parameters(http_request request) {
    std::string text;
    for (const auto& [name, value] : request.parameters) text += name + "=" + value + ";";
    co_return http_response{200, {}, text};
}

router routes_with_parameters() {
    router routes;
    routes.add("GET", "/outbox/{id}", tell_parameters);
    routes.add("GET", "/outbox/dead", answer_with("dead"));
    routes.add("POST", "/outbox/{id}/retry", tell_parameters);
    routes.add("DELETE", "/outbox/{name}", tell_parameters);
    routes.add("GET", "/a/{x}/b/{y}", tell_parameters);
    return routes;
}

TEST(router, gives_the_handler_what_stood_for_each_parameter) {
    const std::array cases{
        route_case{"GET", "/outbox/17", 200, "id=17;"},
        route_case{"DELETE", "/outbox/17", 200, "name=17;"},
        route_case{"POST", "/outbox/17/retry", 200, "id=17;"},
        route_case{"GET", "/a/1/b/2", 200, "x=1;y=2;"},
        route_case{"GET", "/outbox/a%20b%2Fc", 200, "id=a b/c;"},  // No segment ends at %2F.
        route_case{"GET", "/outbox/dead", 200, "dead"},            // Spelled out goes first,
        route_case{"DELETE", "/outbox/dead", 200, "name=dead;"},   // but for its methods only.
        route_case{"POST", "/outbox/17", 405, "GET, HEAD, DELETE"},
        route_case{"GET", "/outbox/17/retry", 405, "POST"},
        route_case{"PUT", "/outbox/dead", 405, "GET, HEAD, DELETE"},
        route_case{"GET", "/outbox/", 404, ""},
        route_case{"POST", "/outbox//retry", 404, ""},
        route_case{"GET", "/outbox/17/", 404, ""},
        route_case{"GET", "/outbox/17/retry/more", 404, ""},
        route_case{"GET", "/outbox/%2", 404, ""},
        route_case{"GET", "/outbox/%zz", 404, ""},
        route_case{"GET", "*", 404, ""},
    };
    const router routes = routes_with_parameters();
    for (const auto& each : cases) {
        const auto response = ask(routes, std::string(each.method), std::string(each.path));
        SCOPED_TRACE(std::string(each.method) + " " + std::string(each.path));
        EXPECT_EQ(response.status, each.status);
        if (each.status == 200) EXPECT_EQ(response.body, each.body_or_allow);
        if (each.status == 405) EXPECT_EQ(response.headers.find("Allow"), each.body_or_allow);
    }
}

TEST(router, takes_parameters_of_other_names_for_the_same_route) {
    router routes = routes_with_parameters();
    EXPECT_DEATH(routes.add("GET", "/outbox/{other}", answer_with("again")), "assertion failed");
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
