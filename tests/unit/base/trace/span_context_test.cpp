#include "base/trace/span_context.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

constexpr std::string_view usual = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
constexpr span_context of_usual{
    .trace = {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736}, .span = {0x00f067aa0ba902b7}, .flags = 1};

TEST(span_context, is_read_and_written_as_the_standard_says) {
    EXPECT_EQ(parse_traceparent(usual), of_usual);
    EXPECT_EQ(to_traceparent(of_usual), usual);
    EXPECT_TRUE(of_usual.is_sampled());
    EXPECT_EQ(to_hex(of_usual.trace), "4bf92f3577b34da6a3ce929d0e0e4736");
    EXPECT_EQ(to_hex(of_usual.span), "00f067aa0ba902b7");
    const auto unsampled =
        parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00");
    ASSERT_TRUE(unsampled);
    EXPECT_FALSE(unsampled->is_sampled());
}

TEST(span_context, of_a_later_version_may_have_more_behind_it) {
    const std::string later = "cc" + std::string(usual.substr(2));
    EXPECT_EQ(parse_traceparent(later), of_usual);
    EXPECT_EQ(parse_traceparent(later + "-what-comes"), of_usual);
    EXPECT_FALSE(parse_traceparent(later + ".what-comes"));
    EXPECT_FALSE(parse_traceparent(std::string(usual) + "-what-comes"));
}

TEST(span_context, that_is_not_well_formed_is_none) {
    for (const std::string_view bad :
         {"", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
          "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "00-4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
          "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-x1"})
        EXPECT_FALSE(parse_traceparent(bad)) << bad;
}

TEST(trace_state, keeps_the_order_of_its_members) {
    const auto read = parse_tracestate(" rojo=00f067 , tenant@system=a b ,, x=1");
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, (trace_state{{"rojo", "00f067"}, {"tenant@system", "a b"}, {"x", "1"}}));
    EXPECT_EQ(to_tracestate(*read), "rojo=00f067,tenant@system=a b,x=1");
    EXPECT_EQ(parse_tracestate(""), trace_state{});
}

TEST(trace_state, that_is_not_well_formed_is_none) {
    std::string many;
    for (int i = 0; i < 33; ++i) many += "k" + std::to_string(i) + "=v,";
    for (const std::string& bad :
         {std::string("novalue"), std::string("=v"), std::string("K=v"), std::string("k="),
          std::string("k=a=b"), std::string("k=\x01"), std::string("k=1,k=2"), many,
          "k=" + std::string(257, 'v'), std::string(513, ',')})
        EXPECT_FALSE(parse_tracestate(bad)) << bad;
}

}  // namespace
}  // namespace posthorn
