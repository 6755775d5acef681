#include "message/trace.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

const std::string parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const std::string traced = fmt::format(R"({{"traceparent":"{}","tracestate":"v=1"}})", parent);
constexpr std::size_t much = 16384;

TEST(trace, is_found_among_the_headers) {
    EXPECT_EQ(trace_of(R"({"a":[[1]],"tracestate":"v=1","traceparent":")" + parent + R"("})"),
              (trace_context{parent, "v=1"}));
    EXPECT_EQ(trace_of(R"({"traceparent":")" + parent + R"(","tracestate":"a\r\nb"})"),
              (trace_context{parent, ""}));
}

TEST(trace, is_none_if_it_is_not_well_formed) {
    for (const std::string_view bad :
         {"", "00-t", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
          "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"})
        EXPECT_EQ(trace_of(fmt::format(R"({{"traceparent":"{}","tracestate":"v"}})", bad)),
                  trace_context{})
            << bad;
    for (const std::string_view bad : {"", "{", "[]", R"({"traceparent":7})"})
        EXPECT_EQ(trace_of(bad), trace_context{}) << bad;
}

TEST(trace, is_carried_on_where_there_is_none) {
    EXPECT_EQ(carry_trace("", traced, much), traced);
    EXPECT_EQ(carry_trace(" { } ", traced, much), traced);
    EXPECT_EQ(carry_trace(R"({"a b": {"c" : 1} })", R"({"traceparent":")" + parent + "\"}", much),
              R"({"a b":{"c" : 1},"traceparent":")" + parent + "\"}");
}

TEST(trace, gives_way_to_one_of_the_senders_own) {
    const std::string own = R"({"traceparent":"mine"})";
    EXPECT_EQ(carry_trace(own, traced, much), own);
    EXPECT_EQ(carry_trace(R"({"a":1})", "{}", much), R"({"a":1})");
}

TEST(trace, leaves_headers_alone_that_are_wrong_or_would_be_too_long) {
    for (const std::string bad : {"{", "[1]", R"({"a":})", "{} x"})
        EXPECT_EQ(carry_trace(bad, traced, much), bad);
    EXPECT_EQ(carry_trace(R"({"a":1})", traced, 20), R"({"a":1})");
}

constexpr span_context own{.trace = {1, 2}, .span = {3}, .flags = 1};
constexpr std::string_view own_text = "00-00000000000000010000000000000002-0000000000000003-01";

TEST(trace, is_put_first_and_found_again) {
    const auto made =
        put_trace(R"( {"a" : 1,"traceparent":"old","tracestate":"v=0"} )", own, "v=1", much);
    ASSERT_TRUE(made);
    EXPECT_EQ(*made, fmt::format(R"({{"traceparent":"{}","tracestate":"v=1","a":1}})", own_text));
    EXPECT_EQ(span_of(*made), own);
    EXPECT_EQ(put_trace("", own, "", much), fmt::format(R"({{"traceparent":"{}"}})", own_text));
    EXPECT_EQ(
        span_of(R"({"x":{"traceparent":"no"},"traceparent":")" + std::string(own_text) + "\"}"),
        own);
}

TEST(trace, is_not_put_where_it_cannot_be) {
    EXPECT_FALSE(put_trace("[]", own, "", much));
    EXPECT_FALSE(put_trace("{", own, "", much));
    EXPECT_FALSE(put_trace(R"({"a":1})", own, "", 60));
    for (const std::string_view none : {"", "{}", R"({"traceparent":"x"})", R"({"traceparent":")"})
        EXPECT_FALSE(span_of(none)) << none;
}

TEST(trace, has_its_span_changed_in_place) {
    auto quick = *put_trace(R"({"a":1})", own, "v=1", much);
    auto to = own;
    to.span.value = 0xfe;
    EXPECT_TRUE(change_span(quick, to));
    EXPECT_EQ(quick, *put_trace(R"({"a":1})", to, "v=1", much));
    auto slow = R"({"a":1, "traceparent":")" + std::string(own_text) + "\"}";
    EXPECT_TRUE(change_span(slow, to));
    EXPECT_EQ(span_of(slow), to);
    std::string bad = "[";
    EXPECT_FALSE(change_span(bad, to));
    EXPECT_EQ(bad, "[");
}

}  // namespace
}  // namespace posthorn
