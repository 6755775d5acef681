#include "admin/health.hpp"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/task_group.hpp"

namespace posthorn {
namespace {

http_response ask(health_report report) {
    router routes;
    add_health_route(routes, [report] { return report; });
    boost::asio::io_context context;
    http_request request;
    request.method = "GET";
    request.path = "/_rf/health";
    auto response = start(context.get_executor(), routes.handle(std::move(request)));
    context.run();
    return response.get();
}

TEST(health, renders_status_service_and_version) {
    EXPECT_EQ(render_health({health_status::green, "orders", "0.1.0"}),
              R"({"status":"green","service":"orders","version":"0.1.0"})");
}

TEST(health, escapes_what_json_requires) {
    EXPECT_EQ(render_health({health_status::yellow, "a\"b\n", "1"}),
              R"({"status":"yellow","service":"a\"b\n","version":"1"})");
}

TEST(health, names_every_status) {
    EXPECT_EQ(to_string(health_status::green), "green");
    EXPECT_EQ(to_string(health_status::yellow), "yellow");
    EXPECT_EQ(to_string(health_status::red), "red");
}

TEST(health, answers_200_with_json_while_the_node_works) {
    for (const auto status : {health_status::green, health_status::yellow}) {
        const auto response = ask({status, "orders", "0.1.0"});
        EXPECT_EQ(response.status, 200);
        EXPECT_EQ(response.headers.find("content-type"), "application/json");
        EXPECT_THAT(response.body, testing::HasSubstr(to_string(status)));
    }
}

TEST(health, answers_503_when_it_is_red) {
    EXPECT_EQ(ask({health_status::red, "orders", "0.1.0"}).status, 503);
}

}  // namespace
}  // namespace posthorn
