#include <set>
#include <string>

#include <gtest/gtest.h>

#include <posthorn/error.hpp>

#include "base/assert.hpp"
#include "base/result.hpp"

namespace posthorn {
namespace {

TEST(error, carries_its_code_and_a_sentence) {
    const error e(error_code::timed_out, "no answer; try again");
    EXPECT_EQ(e.code(), error_code::timed_out);
    EXPECT_EQ(e.name(), "timed_out");
    EXPECT_STREQ(e.what(), "no answer; try again");
    EXPECT_TRUE(e.is_transient());
    EXPECT_FALSE(e.is_in_doubt());
}

TEST(error, every_code_of_the_catalogue_has_its_own_name_and_a_summary) {
    std::set<std::string_view> names;
    for (const auto& entry : error_catalogue()) {
        EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
        EXPECT_FALSE(entry.summary.empty()) << entry.name;
        EXPECT_EQ(&describe(entry.code), &entry);
    }
}

result<int> half(int number) {
    if (number % 2 != 0)
        return fail(error_code::invalid_argument, "{} is odd; give an even", number);
    return number / 2;
}

result<int> quarter(int number) {
    POSTHORN_TRY(half(number));
    return half(number / 2);
}

TEST(result, try_leaves_the_function_with_the_error) {
    EXPECT_EQ(quarter(8).value(), 2);
    ASSERT_FALSE(quarter(3));
    EXPECT_STREQ(quarter(3).error().what(), "3 is odd; give an even");
}

TEST(result, value_or_throw_throws_the_same_error) {
    EXPECT_EQ(value_or_throw(half(4)), 2);
    try {
        value_or_throw(half(5));
        FAIL() << "nothing was thrown";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::invalid_argument);
    }
}

TEST(assert_death, says_what_was_violated_and_where) {
    const int balance = -1;
    EXPECT_DEATH(POSTHORN_ASSERT(balance >= 0), "assertion failed: balance >= 0\n.*error_test.cpp");
}

}  // namespace
}  // namespace posthorn
