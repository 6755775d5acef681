#include "webhook/routes/hidden_headers.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(hidden_headers, are_those_of_the_subscriber_wherever_they_stand) {
    auto shown = boost::json::parse(
        R"json({"url": "https://a/", "headers": {"Authorization": "Basic x"}, "list": [
            {"headers": {"webhook-id": "1", "Content-Type": "t", "X-Key": "k"}, "body": "b"}]})json");
    hide_headers(shown);
    const auto hidden = boost::json::parse(
        R"json({"url": "https://a/", "headers": {"Authorization": "(hidden)"}, "list": [
            {"headers": {"webhook-id": "1", "Content-Type": "t", "X-Key": "(hidden)"}, "body": "b"}]})json");
    EXPECT_EQ(shown, hidden);
}

}  // namespace
}  // namespace posthorn
