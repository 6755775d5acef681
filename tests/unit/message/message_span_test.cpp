#include "message/message_span.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

std::string told_of(std::string_view destination) {
    trace_span made;
    describe_destination(made, destination);
    if (made.attributes.empty()) return "nothing";
    EXPECT_EQ(made.attributes.size(), 1U);
    EXPECT_EQ(made.attributes[0].first, span_key::destination);
    return std::get<std::string>(made.attributes[0].second);
}

TEST(message_span, says_the_name_of_a_service_and_of_a_url_its_server_alone) {
    EXPECT_EQ(told_of("stock"), "stock");
    EXPECT_EQ(told_of("webhook:01900000"), "webhook:01900000");
    EXPECT_EQ(told_of("https://stock.example:7400/s3cret"), "https://stock.example:7400");
    EXPECT_EQ(told_of("http://stock.example/a?key=s3cret"), "http://stock.example");
    EXPECT_EQ(told_of("https://user:s3cret@stock.example"), "nothing");
    EXPECT_EQ(told_of("ftp://stock.example/s3cret"), "nothing");
}

}  // namespace
}  // namespace posthorn
