#include "app/cli/contracts/contract_diff.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn::cli {
namespace {

using testing::HasSubstr;

boost::json::object metadata(std::string_view request, std::string_view response = "null",
                             std::string_view type = "Command") {
    return boost::json::parse(
               fmt::format(
                   R"({{"metadata":1,"interfaces":[{{"interface":"emp/v1","messages":[)"
                   R"({{"endpoint":"emp/v1/Hire","type":"{}","request":{},"response":{}}}]}}]}})",
                   type, request, response))
        .as_object();
}

constexpr std::string_view text = R"({"type":"string"})";

/// A schema of an object with a field `f`.
std::string with(std::string_view field, bool required = true) {
    return fmt::format(R"({{"type":"object","properties":{{"f":{}}},"required":[{}]}})", field,
                       required ? R"("f")" : "");
}

struct change_case {
    std::string_view name;
    std::string before;
    std::string after;
    bool breaks_request;
    bool breaks_response;
};

TEST(contract_diff, knows_which_changes_break_whom) {
    const std::string empty = R"({"type":"object","properties":{},"required":[]})";
    const auto nullable = [](std::string_view of) {
        return fmt::format(R"({{"anyOf":[{},{{"type":"null"}}]}})", of);
    };
    const auto range = [](std::int64_t min, std::uint64_t max) {
        return fmt::format(R"({{"type":"integer","minimum":{},"maximum":{}}})", min, max);
    };
    const auto list = [](std::string_view of) {
        return fmt::format(R"({{"type":"array","items":{}}})", of);
    };
    const auto map = [](std::string_view of) {
        return fmt::format(R"({{"type":"object","additionalProperties":{}}})", of);
    };
    const auto variant = [](std::string_view names) {
        return fmt::format(R"({{"type":"object","properties":{{{}}},"additionalProperties":false,)"
                           R"("minProperties":1,"maxProperties":1}})",
                           names);
    };
    const change_case cases[] = {
        {"a needed field more", empty, with(text), true, false},
        {"a needed field less", with(text), empty, false, true},
        {"a field more that may be missing", empty, with(nullable(text), false), false, false},
        {"may be missing now", with(text), with(nullable(text), false), false, true},
        {"needed now", with(nullable(text), false), with(text), true, false},
        {"text to number", with(text), with(range(0, 9)), true, true},
        {"wider", with(range(0, 255)), with(range(0, 65535)), false, true},
        {"lower", with(range(0, 255)), with(range(-128, 127)), true, true},
        {"widest", with(range(0, 255)), with(range(0, UINT64_MAX)), false, true},
        {"to a fraction", with(range(0, 255)), with(R"({"type":"number"})"), false, true},
        {"a word more", with(R"({"enum":["a"]})"), with(R"({"enum":["a","b"]})"), false, true},
        {"any word", with(R"({"enum":["a"]})"), with(text), false, true},
        {"an id", with(text), with(R"({"type":"string","format":"uuid"})"), true, false},
        {"anything", with(text), with("{}"), false, true},
        {"inside a list", with(list(range(0, 255))), with(list(range(0, 9))), true, false},
        {"inside a map", with(map(text)), with(map(range(0, 9))), true, true},
        {"an alternative more", with(variant(R"("a":{"type":"string"})")),
         with(variant(R"("a":{"type":"string"},"b":{"type":"string"})")), false, true},
        {"a map for a list of fields", map(text), with(text), true, true},
    };
    const auto breaks = [](const std::vector<contract_change>& changes) {
        return std::ranges::any_of(changes, &contract_change::is_breaking);
    };
    for (const auto& each : cases) {
        const auto request = compare_contracts(metadata(each.before), metadata(each.after));
        const auto response =
            compare_contracts(metadata(empty, each.before), metadata(empty, each.after));
        EXPECT_FALSE(request.empty()) << each.name;
        EXPECT_EQ(breaks(request), each.breaks_request) << "request: " << each.name;
        EXPECT_EQ(breaks(response), each.breaks_response) << "response: " << each.name;
        EXPECT_TRUE(compare_contracts(metadata(each.after), metadata(each.after)).empty());
    }
}

TEST(contract_diff, says_where) {
    const auto changes =
        compare_contracts(metadata(with(R"({"type":"array","items":{}})")),
                          metadata(with(R"({"type":"array","items":{"type":"string"}})")));
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].where, "emp/v1/Hire request.f[]");
    EXPECT_THAT(changes[0].what, HasSubstr("any JSON"));
}

TEST(contract_diff, sees_messages_and_interfaces_come_and_go) {
    const auto one = metadata("{}");
    const auto none = boost::json::parse(R"({"metadata":1,"interfaces":[]})").as_object();
    const auto bare =
        boost::json::parse(R"({"interfaces":[{"interface":"emp/v1","messages":[]}]})").as_object();
    EXPECT_EQ(compare_contracts(one, none),
              (std::vector<contract_change>{{true, "emp/v1", "is gone"}}));
    EXPECT_EQ(compare_contracts(none, one),
              (std::vector<contract_change>{{false, "emp/v1", "is new"}}));
    EXPECT_EQ(compare_contracts(one, bare),
              (std::vector<contract_change>{{true, "emp/v1/Hire", "is gone"}}));
    EXPECT_EQ(compare_contracts(bare, one),
              (std::vector<contract_change>{{false, "emp/v1/Hire", "is new"}}));
    EXPECT_TRUE(compare_contracts(one, metadata("{}", "null", "Signal"))[0].is_breaking);
    EXPECT_TRUE(compare_contracts(one, metadata("{}", "{}"))[0].is_breaking);
}

}  // namespace
}  // namespace posthorn::cli
