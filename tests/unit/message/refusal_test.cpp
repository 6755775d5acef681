#include "message/refusal.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(refusal, says_why_in_the_headers_of_a_response) {
    EXPECT_EQ(refusal_in(refusal_headers("it is \"late\"")), "it is \"late\"");
    EXPECT_EQ(refusal_in(R"({"traceparent":"00-1","posthorn-refused":"no"})"), "no");
}

TEST(refusal, is_none_where_headers_are_missing_broken_or_of_another_type) {
    for (const auto* const headers :
         {"", "{}", R"({"posthorn-refused":7})", R"({"posthorn-refused")",
          R"(["posthorn-refused"])", R"({"other":"posthorn-refused"})"})
        EXPECT_EQ(refusal_in(headers), std::nullopt) << headers;
}

}  // namespace
}  // namespace posthorn
