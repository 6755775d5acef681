#include "message/validate.hpp"

#include <functional>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

message good() {
    message made;
    made.id = *uuid::parse("018f3b1c-0000-7000-8000-000000000001");
    made.source = "orders";
    made.destination = "billing";
    made.endpoint = "Charge";
    made.payload = R"({"a":1})";
    made.created_at = wall_time{1h};
    made.expires_at = wall_time{2h};
    return made;
}

struct validate_case {
    std::string name;
    std::function<void(message&)> change;
    std::optional<error_code> expected;
};

void PrintTo(const validate_case& one, std::ostream* out) { *out << one.name; }

class validate_table : public testing::TestWithParam<validate_case> {};

TEST_P(validate_table, judges_a_message) {
    auto what = good();
    GetParam().change(what);
    const auto checked = validate(what, {.payload_size_max = 1000, .headers_size_max = 100});
    if (!GetParam().expected) {
        EXPECT_TRUE(checked) << checked.error().what();
    } else {
        ASSERT_FALSE(checked);
        EXPECT_EQ(checked.error().code(), *GetParam().expected) << checked.error().what();
    }
}

const std::string long_json = '"' + std::string(998, 'x') + '"';
const std::string headers_json = R"({"a":")" + std::string(92, 'x') + R"("})";
constexpr auto bad = error_code::invalid_argument;

INSTANTIATE_TEST_SUITE_P(
    all, validate_table,
    testing::Values(
        validate_case{"good", [](message&) {}, {}},
        validate_case{"nil_id", [](message& m) { m.id = {}; }, bad},
        validate_case{"no_source", [](message& m) { m.source = ""; }, bad},
        validate_case{"no_destination", [](message& m) { m.destination = ""; }, bad},
        validate_case{"no_endpoint", [](message& m) { m.endpoint = ""; }, bad},
        validate_case{"longest_endpoint", [](message& m) { m.endpoint.assign(255, 'e'); }, {}},
        validate_case{"too_long_endpoint", [](message& m) { m.endpoint.assign(256, 'e'); }, bad},
        validate_case{"too_long_place", [](message& m) { m.destination.assign(256, 'e'); }, bad},
        validate_case{"line_end", [](message& m) { m.destination = "a\nb"; }, bad},
        validate_case{"delete", [](message& m) { m.endpoint = "a\x7f"; }, bad},
        validate_case{"nul_in_a_text", [](message& m) { m.tenant = std::string("a\0b", 3); }, bad},
        validate_case{"not_utf8", [](message& m) { m.order_key = "\xff"; }, bad},
        validate_case{"longest_text", [](message& m) { m.correlation_id.assign(1024, 'c'); }, {}},
        validate_case{"too_long_text", [](message& m) { m.correlation_id.assign(1025, 'c'); }, bad},
        validate_case{"too_long_dedupe_key", [](message& m) { m.dedupe_key.assign(1025, 'c'); },
                      bad},
        validate_case{"highest_priority", [](message& m) { m.priority = 9; }, {}},
        validate_case{"too_high_priority", [](message& m) { m.priority = 10; }, bad},
        validate_case{"negative_priority", [](message& m) { m.priority = -1; }, bad},
        validate_case{"no_content_type", [](message& m) { m.content_type = ""; }, bad},
        validate_case{"expires_at_once", [](message& m) { m.expires_at = m.created_at; },
                      error_code::message_expired},
        validate_case{"retry_for_ever", [](message& m) { m.max_retries = retry_for_ever; }, {}},
        validate_case{"negative_retries", [](message& m) { m.max_retries = -2; }, bad}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    content, validate_table,
    testing::Values(
        validate_case{"largest_payload", [](message& m) { m.payload = long_json; }, {}},
        validate_case{"too_large_payload", [](message& m) { m.payload = long_json + ' '; },
                      error_code::message_too_large},
        validate_case{"no_json", [](message& m) { m.payload = "{"; }, error_code::invalid_payload},
        validate_case{"empty", [](message& m) { m.payload = ""; }, error_code::invalid_payload},
        validate_case{"json_with_a_parameter",
                      [](message& m) {
                          m.content_type = "Application/JSON ; charset=utf-8";
                          m.payload = "{";
                      },
                      error_code::invalid_payload},
        validate_case{"anything_under_another_type",
                      [](message& m) {
                          m.content_type = "application/octet-stream";
                          m.payload = "\xff{";
                      },
                      {}},
        validate_case{"largest_headers", [](message& m) { m.headers = headers_json; }, {}},
        validate_case{"too_large_headers", [](message& m) { m.headers = headers_json + ' '; },
                      error_code::message_too_large},
        validate_case{"headers_no_object", [](message& m) { m.headers = "[]"; },
                      error_code::invalid_payload}),
    [](const auto& info) { return info.param.name; });

TEST(validate, quotes_no_content) {
    auto what = good();
    what.payload = "{\"canary\": }";
    const std::string text = validate(what, {}).error().what();
    EXPECT_EQ(text.find("canary"), text.npos) << text;
}

TEST(validate_limits, name_the_key_that_says_them) {
    const message_limits tight{.payload_size_max = 20,
                               .headers_size_max = 20,
                               .name_size_max = 20,
                               .text_size_max = 20,
                               .depth_max = 2};
    const auto complaint = [&](const std::function<void(message&)>& change) {
        auto what = good();
        change(what);
        const auto checked = validate(what, tight);
        return checked ? std::string("none") : std::string(checked.error().what());
    };
    const std::string longer(21, 'x');
    EXPECT_EQ(complaint([](message&) {}), "none");
    EXPECT_EQ(complaint([](message& m) { m.payload = "[[]]"; }), "none");
    EXPECT_EQ(complaint([&](message& m) { m.endpoint = longer; }),
              "the endpoint has 21 bytes; at most 20 are allowed (limits.name)");
    EXPECT_EQ(complaint([&](message& m) { m.tenant = longer; }),
              "the tenant has 21 bytes; at most 20 are allowed (limits.text)");
    EXPECT_NE(complaint([&](message& m) { m.payload = longer; }).find("(limits.payload)"),
              std::string::npos);
    EXPECT_NE(complaint([&](message& m) { m.headers = longer; }).find("(limits.message_headers)"),
              std::string::npos);
    EXPECT_NE(complaint([](message& m) {
                  m.payload = "[[[]]]";
              }).find("nested deeper than 2 levels (limits.depth)"),
              std::string::npos);
}

TEST(validate, tells_an_expiry_in_seconds) {
    auto in_seconds = good();
    in_seconds.created_at = wall_time{1'800'000'000s};
    in_seconds.expires_at = wall_time(
        std::chrono::milliseconds(in_seconds.created_at.time_since_epoch().count() / 1000 + 3600));
    EXPECT_THAT(validate(in_seconds, {}).error().what(), testing::HasSubstr("milliseconds"));
    auto earlier = good();
    earlier.created_at = in_seconds.created_at;
    earlier.expires_at = earlier.created_at - std::chrono::hours{1};
    EXPECT_THAT(validate(earlier, {}).error().what(), testing::HasSubstr("a longer time to live"));
}

}  // namespace
}  // namespace posthorn
