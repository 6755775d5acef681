#include "base/log/log_render.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <boost/json/src.hpp>
#include <boost/nowide/utf/utf.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr wall_time at = wall_time(1'771'070'400'123ms);  // 2026-02-14T12:00:00.123Z
const std::string head = "2026-02-14T12:00:00.123Z [INF] ";

std::string text(std::string_view message, std::vector<log_field> fields = {}) {
    return render_text({.time = at, .message_template = message, .fields = fields});
}

std::string message_of(std::string_view message, std::vector<log_field> fields = {}) {
    return text(message, std::move(fields)).substr(head.size());
}

std::string json_line(std::string_view message, std::vector<log_field> fields = {}) {
    return render_json({.time = at, .message_template = message, .fields = fields});
}

/// Throws if the line is not one JSON object.
json::object parsed(std::string_view message, std::vector<log_field> fields = {}) {
    return json::parse(json_line(message, std::move(fields))).as_object();
}

const uuid id = *uuid::parse("018f3b1c-abcd-7ef0-9234-56789abcdeff");

TEST(log_text, shows_time_level_and_the_filled_template) {
    EXPECT_EQ(
        text("Outbox: Message {MessageId} enqueued for {Destination}/{Endpoint}",
             {{"MessageId", id}, {"Destination", "billing"}, {"Endpoint", "Charge"}}),
        head + "Outbox: Message 018f3b1c-abcd-7ef0-9234-56789abcdeff enqueued for billing/Charge");
}

TEST(log_text, tags_every_level_with_three_letters) {
    const std::pair<log_level, const char*> cases[] = {{log_level::trace, "[TRC]"},
                                                       {log_level::debug, "[DBG]"},
                                                       {log_level::info, "[INF]"},
                                                       {log_level::warn, "[WRN]"},
                                                       {log_level::error, "[ERR]"}};
    for (const auto& [level, tag] : cases)
        EXPECT_EQ(render_text({.time = at, .level = level, .message_template = "x", .fields = {}}),
                  "2026-02-14T12:00:00.123Z " + std::string(tag) + " x");
}

TEST(log_text, renders_every_kind_of_value) {
    const std::string owned = "owned";
    EXPECT_EQ(
        message_of("{a} {b} {c} {d} {e} {f} {g} {h}", {{"a", owned},
                                                       {"b", -5},
                                                       {"c", std::uint64_t{1} << 63},
                                                       {"d", 0.1},
                                                       {"e", true},
                                                       {"f", 250ms},
                                                       {"g", id},
                                                       {"h", std::string_view("view")}}),
        "owned -5 9223372036854775808 0.1 true 250ms 018f3b1c-abcd-7ef0-9234-56789abcdeff view");
    EXPECT_EQ(message_of("{a} {b}", {{"a", 2s}, {"b", std::nan("")}}), "2000ms nan");
}

TEST(log_text, appends_fields_that_the_template_does_not_name) {
    EXPECT_EQ(message_of("Sent {A}", {{"B", 2}, {"A", 1}, {"C", "see"}}), "Sent 1 B=2 C=see");
}

TEST(log_text, quotes_appended_values_that_would_run_together) {
    EXPECT_EQ(message_of("x", {{"r", "no answer"}}), R"(x r="no answer")");
    EXPECT_EQ(message_of("x", {{"r", ""}}), R"(x r="")");
    EXPECT_EQ(message_of("x", {{"r", R"(a" b=")"}}), R"(x r="a\" b=\"")");
    EXPECT_EQ(message_of("x", {{"r", R"(end \)"}}), R"(x r="end \\")");
    EXPECT_EQ(message_of("x", {{"my name", 1}}), R"(x "my name"=1)");
    EXPECT_EQ(message_of("x {r}", {{"r", "no answer"}}), "x no answer");
}

TEST(log_template, leaves_a_placeholder_without_a_field_as_it_is) {
    EXPECT_EQ(message_of("a {Name} b", {{"Other", 1}}), "a {Name} b Other=1");
    EXPECT_EQ(message_of("{name}", {{"Name", 1}}), "{name} Name=1");
    EXPECT_EQ(message_of("{Name}}}"), "{Name}}");
}

TEST(log_template, writes_doubled_braces_as_one) {
    EXPECT_EQ(message_of("{{}}"), "{}");
    EXPECT_EQ(message_of("{{A}}", {{"A", 1}}), "{A} A=1");
    EXPECT_EQ(message_of("{{{A}}}", {{"A", 1}}), "{1}");
    EXPECT_EQ(message_of("{{{{{A}}}}}", {{"A", 1}}), "{{1}}");
}

TEST(log_template, survives_braces_that_do_not_pair) {
    for (const char* same :
         {"{", "}", "{}", "a{", "a}", "{A", "A}", "}{", "{ {", "{a{b", "{\"k\":1}"})
        EXPECT_EQ(message_of(same), same);
    EXPECT_EQ(message_of("{x{A}", {{"A", 1}}), "{x1");
    EXPECT_EQ(message_of("{ {A} }", {{"A", 1}}), "{ 1 }");
    EXPECT_EQ(message_of("{A}{A}", {{"A", 1}}), "11");
    EXPECT_EQ(message_of("{}", {{"", 1}}), R"({} ""=1)");
}

TEST(log_template, never_reads_a_value_as_a_template) {
    EXPECT_EQ(message_of("{A} {B}", {{"A", "{B} {{"}, {"B", "secret"}}), "{B} {{ secret");
}

TEST(log_template, uses_the_first_of_two_fields_with_one_name) {
    EXPECT_EQ(message_of("{A}", {{"A", 1}, {"A", 2}}), "1 A=2");
}

const std::string forged = "ok\n2026-02-14T12:00:00.123Z [ERR] forged\r\n\x1b[2J\x1b]0;title\a";

TEST(log_injection, cannot_start_a_line_in_text) {
    const std::string escaped =
        R"(ok\n2026-02-14T12:00:00.123Z [ERR] forged\r\n\u001b[2J\u001b]0;title\u0007)";
    EXPECT_EQ(message_of("{A}", {{"A", forged}}), escaped);
    EXPECT_EQ(message_of(forged), escaped) << "the template itself is made safe too";
    EXPECT_EQ(message_of("x", {{"A", forged}}), "x A=\"" + escaped + "\"");
    EXPECT_EQ(message_of("x", {{forged, 1}}), "x \"" + escaped + "\"=1");
}

TEST(log_injection, cannot_leave_its_string_in_json) {
    const std::string attack = R"(","level":"error","x":")" + forged + "\\";
    const std::string line = json_line("{A}", {{"A", attack}, {attack, 1}});
    for (const char c : line) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
    const json::object object = json::parse(line).as_object();
    EXPECT_EQ(object.size(), 5u);
    EXPECT_EQ(object.at("level"), "info");
    EXPECT_EQ(object.at("message").as_string(), attack);
    EXPECT_EQ(object.at("A").as_string(), attack);
    EXPECT_EQ(object.at(attack), 1);
}

TEST(log_injection, escapes_every_control_character_in_both_forms) {
    std::vector<unsigned> controls{0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069};
    for (unsigned c = 0; c < 0x20; ++c) controls.push_back(c);
    for (unsigned c = 0x7f; c < 0xa0; ++c) controls.push_back(c);
    for (const unsigned c : controls) {
        std::string raw = "a";
        boost::nowide::utf::utf_traits<char>::encode(c, std::back_inserter(raw));
        raw += 'b';
        std::string escape = fmt::format("a\\u{:04x}b", c);
        if (c == '\n') escape = "a\\nb";
        if (c == '\r') escape = "a\\rb";
        if (c == '\t') escape = "a\\tb";
        EXPECT_EQ(message_of("{A}", {{"A", raw}}), escape) << c;
        const std::string line = json_line("m", {{"A", raw}});
        EXPECT_NE(line.find("\"A\":\"" + escape + "\""), line.npos) << line;
        EXPECT_EQ(json::parse(line).at("A").as_string(), raw) << "and JSON readers get it back";
    }
}

TEST(log_injection, keeps_other_characters) {
    for (const char* kept : {"ä ö ü", "日本語", "🎺", "\u00a0", "\u2027\u202f", "~ !", "a\\b"}) {
        EXPECT_EQ(message_of("{A}", {{"A", kept}}), kept);
        EXPECT_EQ(parsed("{A}", {{"A", kept}}).at("message").as_string(), kept);
    }
}

TEST(log_utf8, replaces_what_is_broken_and_keeps_what_follows) {
    const std::string fffd = "\ufffd";
    const std::pair<std::string, std::string> cases[] = {
        {"\xff", fffd},
        {"a\x80z", "a" + fffd + "z"},
        {"\x9b[31m", fffd + "[31m"},                      // A C1 byte without its UTF-8.
        {"\xc3", fffd},                                   // Ends too early.
        {"\xc3z", fffd + "z"},                            // The z is not swallowed.
        {"\xe2\x82\nz", fffd + fffd + "\\nz"},            // Neither is a line end.
        {"\xc0\x8a", fffd + fffd},                        // An overlong line end.
        {"\xed\xa0\x80", fffd + fffd + fffd},             // Half of a surrogate pair.
        {"\xf4\x90\x80\x80", fffd + fffd + fffd + fffd},  // Past U+10FFFF.
        {"\xf0\x9f\x8e", fffd + fffd + fffd},
    };
    for (const auto& [raw, shown] : cases) {
        EXPECT_EQ(message_of("{A}", {{"A", raw}}), shown);
        std::string unescaped = shown;
        if (const auto found = unescaped.find("\\n"); found != unescaped.npos)
            unescaped.replace(found, 2, "\n");
        const json::object object = parsed("{A}", {{"A", raw}});
        EXPECT_EQ(object.at("A").as_string(), unescaped);
        EXPECT_EQ(object.at("message").as_string(), unescaped);
        EXPECT_NO_THROW(parsed(raw, {{raw, raw}}));
    }
}

TEST(log_utf8, makes_valid_json_of_any_bytes) {
    std::string every;
    for (int first = 0; first < 256; ++first)
        for (int second = 0; second < 256; second += 5) {
            every += static_cast<char>(first);
            every += static_cast<char>(second);
        }
    for (std::size_t from = 0; from < every.size(); from += 97) {
        const std::string_view part = std::string_view(every).substr(from, 97);
        EXPECT_NO_THROW(parsed("{A}", {{"A", part}, {part, part}})) << from;
    }
}

TEST(log_json, holds_the_line_and_its_fields_in_order) {
    EXPECT_EQ(
        json_line("Sent {A}", {{"A", "x"}, {"B", 2}}),
        R"({"time":"2026-02-14T12:00:00.123Z","level":"info","message":"Sent x","A":"x","B":2})");
}

TEST(log_json, names_every_level) {
    const std::pair<log_level, const char*> cases[] = {{log_level::trace, "trace"},
                                                       {log_level::debug, "debug"},
                                                       {log_level::info, "info"},
                                                       {log_level::warn, "warn"},
                                                       {log_level::error, "error"}};
    for (const auto& [level, name] : cases) {
        const auto line =
            render_json({.time = at, .level = level, .message_template = "x", .fields = {}});
        EXPECT_EQ(json::parse(line).at("level"), name);
    }
}

TEST(log_json, keeps_the_types_of_values) {
    const json::object object = parsed("m", {{"text", "5"},
                                             {"int", std::numeric_limits<std::int64_t>::min()},
                                             {"uint", std::numeric_limits<std::uint64_t>::max()},
                                             {"double", 0.25},
                                             {"bool", false},
                                             {"span", 250ms},
                                             {"id", id}});
    EXPECT_EQ(object.at("text").as_string(), "5");
    EXPECT_EQ(object.at("int").as_int64(), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(object.at("uint").as_uint64(), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(object.at("double").as_double(), 0.25);
    EXPECT_FALSE(object.at("bool").as_bool());
    EXPECT_EQ(object.at("span").as_int64(), 250);
    EXPECT_EQ(object.at("id").as_string(), id.to_string());
}

TEST(log_json, writes_what_json_cannot_count_as_null) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const json::object object = parsed("m", {{"a", std::nan("")}, {"b", inf}, {"c", -inf}});
    for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(object.at(name).is_null()) << name;
}

TEST(log_json, writes_extreme_numbers_as_numbers) {
    for (const double number : {1e300, -1e-300, 5e-324, 1.7976931348623157e308, 0.1})
        EXPECT_EQ(parsed("m", {{"a", number}}).at("a").as_double(), number);
}

TEST(log_json, renames_fields_whose_names_are_taken) {
    const json::object object = parsed(
        "m",
        {{"time", 1}, {"level", 2}, {"message", 3}, {"time_", 4}, {"A", 5}, {"A", 6}, {"Time", 7}});
    EXPECT_EQ(object.size(), 10u);
    EXPECT_EQ(object.at("message"), "m");
    EXPECT_EQ(object.at("time_"), 1);
    EXPECT_EQ(object.at("level_"), 2);
    EXPECT_EQ(object.at("message_"), 3);
    EXPECT_EQ(object.at("time__"), 4);
    EXPECT_EQ(object.at("A"), 5);
    EXPECT_EQ(object.at("A_"), 6);
    EXPECT_EQ(object.at("Time"), 7);
}

TEST(log_limit, cuts_long_values_in_message_and_field) {
    const std::string just(2048, 'x'), over(2049, 'x');
    EXPECT_EQ(message_of("{A}", {{"A", just}}), just);
    EXPECT_EQ(message_of("{A}", {{"A", over}}), just + "…");
    EXPECT_EQ(message_of("m", {{"A", over}}), "m A=" + just + "…");
    EXPECT_EQ(parsed("{A}", {{"A", over}}).at("A").as_string(), just + "…");
    EXPECT_EQ(parsed("{A}", {{"A", over}}).at("message").as_string(), just + "…");
}

TEST(log_limit, cuts_between_characters) {
    const auto cut = [](std::string_view value, std::size_t size_max) {
        const log_field field{"A", value};
        return render_text({.time = at,
                            .message_template = "{A}",
                            .fields = {&field, 1},
                            .value_size_max = size_max})
            .substr(head.size());
    };
    EXPECT_EQ(cut("ab🎺c", 6), "ab🎺…");
    EXPECT_EQ(cut("ab🎺c", 5), "ab…");
    EXPECT_EQ(cut("ab🎺c", 3), "ab…");
    EXPECT_EQ(cut("🎺", 1), "…");
    EXPECT_EQ(cut("🎺", 0), "…");
    EXPECT_EQ(cut("", 0), "");
    const std::string trails(10, '\x80');  // No character anywhere: it still keeps most of them.
    EXPECT_EQ(cut(trails, 8).size(), 3 * 5 + 3u);
}

}  // namespace
}  // namespace posthorn
