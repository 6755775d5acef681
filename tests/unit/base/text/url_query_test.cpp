#include "base/text/url_query.hpp"

#include <array>
#include <cstdint>

#include <gmock/gmock.h>

namespace posthorn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr std::array<std::string_view, 2> known{"limit", "name"};

TEST(url_query, is_decoded_and_given_by_name) {
    EXPECT_THAT(*read_query_fields("name=a%26b&limit=3", known),
                ElementsAre(Pair("limit", "3"), Pair("name", "a&b")));
    EXPECT_THAT(*read_query_fields("name&&limit=a=b", known),
                ElementsAre(Pair("limit", "a=b"), Pair("name", "")));
    EXPECT_TRUE(read_query_fields("", known)->empty());
}

TEST(url_query, is_refused_with_what_is_unknown_twice_or_not_encoded) {
    EXPECT_THAT(read_query_fields("size=1", known).error().what(),
                HasSubstr("'size' cannot be asked for; once each there are limit, name"));
    EXPECT_THAT(read_query_fields("name=a&name=b", known).error().what(),
                HasSubstr("'name' is given twice"));
    EXPECT_THAT(read_query_fields("name=%zz", known).error().what(),
                HasSubstr("'name=%zz' is not percent-encoded"));
    EXPECT_THAT(read_query_fields("%z=1", known).error().what(), HasSubstr("percent-encoded"));
}

TEST(url_query, has_each_parameter_once_however_it_is_written) {
    EXPECT_TRUE(check_query(""));
    EXPECT_TRUE(check_query("a=1&b=1&&c"));
    for (const auto* const twice : {"a=1&a=1", "a=1&b=2&a=3", "a&a", "a=1&%61=2", "=1&=2"})
        EXPECT_THAT(check_query(twice).error().what(), HasSubstr("is given twice; give it once"))
            << twice;
    EXPECT_EQ(check_query("a=1&a=2").error().code(), error_code::invalid_argument);
}

TEST(url_query, ends_with_the_first_that_is_not_taken) {
    int seen = 0;
    const auto told = for_each_parameter("a=1&b=2&c=3", [&](std::string_view name, auto&) {
        ++seen;
        return name == "b" ? result<>(fail(error_code::invalid_argument, "no b")) : result<>{};
    });
    EXPECT_EQ(told.error().what(), std::string_view("no b"));
    EXPECT_EQ(seen, 2);
}

TEST(url_query, has_numbers_within_their_limits) {
    const auto limit_of = [](std::string_view query) {
        return number_in(*read_query_fields(query, known), {"limit", 10, 7});
    };
    EXPECT_EQ(*limit_of(""), 7);
    EXPECT_EQ(*limit_of("limit=1"), 1);
    EXPECT_EQ(*limit_of("limit=10"), 10);
    for (const auto* const wrong : {"limit=0", "limit=11", "limit=-1", "limit=1x", "limit="})
        EXPECT_THAT(limit_of(wrong).error().what(), HasSubstr("write 1 to 10")) << wrong;
}

}  // namespace
}  // namespace posthorn
