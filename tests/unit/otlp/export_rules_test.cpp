#include "otlp/export_rules.hpp"

#include <gtest/gtest.h>

#include "otlp/protobuf_writer.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using kind = export_verdict::kind;

result<http_response> answered(std::uint16_t status, http_headers headers = {},
                               std::string body = {}) {
    return http_response{.status = status, .headers = std::move(headers), .body = std::move(body)};
}

std::string partial(std::int64_t rejected, std::string_view why) {
    std::string body;
    protobuf_writer to(body);
    to.message(1, [&] {
        to.varint(1, static_cast<std::uint64_t>(rejected));
        to.bytes(2, why);
    });
    return body;
}

TEST(export_rules, follow_the_specification) {
    struct row {
        std::uint16_t status;
        kind what;
    };
    for (const auto& [status, what] :
         {row{200, kind::taken}, row{202, kind::taken}, row{400, kind::lost}, row{401, kind::lost},
          row{404, kind::lost}, row{413, kind::halve}, row{429, kind::again}, row{500, kind::lost},
          row{502, kind::again}, row{503, kind::again}, row{504, kind::again},
          row{301, kind::lost}})
        EXPECT_EQ(judge_export(answered(status)).what, what) << status;
    for (const auto code : {error_code::unreachable, error_code::timed_out})
        EXPECT_EQ(judge_export(std::unexpected(error(code, "no"))).what, kind::again);
    EXPECT_EQ(judge_export(std::unexpected(error(error_code::invalid_argument, "no"))).what,
              kind::lost);
}

TEST(export_rules, wait_as_long_as_the_collector_asks) {
    EXPECT_EQ(judge_export(answered(429, {{"Retry-After", "7"}})).pause, 7s);
    EXPECT_FALSE(judge_export(answered(429, {{"Retry-After", "soon"}})).pause);
    EXPECT_FALSE(judge_export(answered(503)).pause);
    EXPECT_EQ(export_pause(0, 1), 1s);
    EXPECT_EQ(export_pause(2, 1), 4s);
    EXPECT_EQ(export_pause(2, 0), 2s);
    EXPECT_EQ(export_pause(99, 1), 30s);
}

TEST(export_rules, read_what_was_rejected_of_what_was_taken) {
    const auto seen = judge_export(answered(200, {}, partial(3, "too old")));
    EXPECT_EQ(seen.what, kind::taken);
    EXPECT_EQ(seen.rejected, 3);
    EXPECT_EQ(seen.why, "too old");
    EXPECT_EQ(read_partial_success(partial(-1, "")).rejected, 0);
}

TEST(export_rules, take_what_is_no_such_message_as_taken) {
    for (const std::string& body :
         {std::string(), std::string("{}"), std::string("\x0a\xff\xff\xff"), std::string("\x0a"),
          std::string(20, '\xff'), std::string("\x0b"), partial(2, "x").substr(0, 4)})
        EXPECT_EQ(judge_export(answered(200, {}, body)).what, kind::taken);
}

}  // namespace
}  // namespace posthorn
