#include "engine/rows/state_changes.hpp"

#include <string>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

/// The changes as lines: `path before after`, with a dash for nothing.
std::string between(std::string_view before, std::string_view after) {
    const auto read = [](std::string_view text) -> std::optional<boost::json::value> {
        if (text.empty()) return {};
        return boost::json::parse(text);
    };
    std::string lines;
    for (const auto& each : find_changes(read(before), read(after))) {
        lines += each.path;
        for (const auto* side : {&each.before, &each.after})
            lines += " " + (*side ? boost::json::serialize(**side) : "-");
        lines += "\n";
    }
    return lines;
}

TEST(state_changes, are_told_at_the_place_that_changed) {
    EXPECT_EQ(between(R"({"a":1,"b":{"c":"x","d":2}})", R"({"a":1,"b":{"c":"y","d":2}})"),
              "/b/c \"x\" \"y\"\n");
    EXPECT_EQ(between(R"({"a":1})", R"({"b":null})"), "/b - null\n/a 1 -\n");
    EXPECT_EQ(between("[1,2]", "[1,3,4]"), "/1 2 3\n/2 - 4\n");
    EXPECT_EQ(between("[1,2]", "[]"), "/0 1 -\n/1 2 -\n");
    EXPECT_EQ(between(R"({"a/b~c":1})", R"({"a/b~c":2})"), "/a~1b~0c 1 2\n");
    EXPECT_EQ(between(R"({"a":[1]})", R"({"a":{"0":1}})"), "/a [1] {\"0\":1}\n");
    EXPECT_EQ(between("1", "2"), " 1 2\n");
}

TEST(state_changes, of_the_first_state_are_all_of_it) {
    EXPECT_EQ(between("", R"({"a":1})"), " - {\"a\":1}\n");
    EXPECT_EQ(between("", ""), "");
}

TEST(state_changes, are_none_between_states_that_are_alike) {
    EXPECT_EQ(between(R"({"a":1,"b":[2]})", R"({"b":[2],"a":1})"), "");
}

}  // namespace
}  // namespace posthorn
