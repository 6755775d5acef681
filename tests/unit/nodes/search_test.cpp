#include "nodes/search.hpp"

#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::HasSubstr;

constexpr std::string_view one =
    R"({"messageId":"m1","destination":"crm","endpoint":"Tell","status":"Dead",)"
    R"("createdAt":"2026-01-01T00:00:00Z","payload":"secret","headers":"{}","attempts":[]})";

result<http_response> answer(std::uint16_t status, std::string body) {
    return http_response{.status = status, .headers = {}, .body = std::move(body)};
}

constexpr wall_time now = std::chrono::sys_days(std::chrono::year(2026) / 11 / 19);

result<std::string> target_of(std::string_view query) { return search_target(query, now); }

std::string refusal_of(std::string_view query) {
    const auto target = target_of(query);
    return target ? "" : target.error().what();
}

TEST(search_target, hands_the_same_filters_to_every_node) {
    EXPECT_EQ(target_of(""), "/_rf/outbox?limit=20");
    EXPECT_EQ(target_of("status=Dead&orderKey=a%20b%26c&limit=100"),
              "/_rf/outbox?limit=100&status=Dead&orderKey=a%20b%26c");
    EXPECT_EQ(target_of("since=2026-02-14T12:00:00Z&until=2026-02-14T13:00:00Z"),
              "/_rf/outbox?limit=20&since=2026-02-14T12%3A00%3A00Z&until=2026-02-14T13%3A00%3A00Z");
}

TEST(search_target, asks_for_one_message_by_its_id) {
    EXPECT_EQ(target_of("messageId=01890a5d-ac96-774b-bcce-b302099a8057"),
              "/_rf/outbox/01890a5d-ac96-774b-bcce-b302099a8057");
    EXPECT_THAT(refusal_of("messageId=01890a5d-ac96-774b-bcce-b302099a8057&status=Dead"),
                HasSubstr("leave the other filters out"));
}

TEST(search_target, refuses_what_could_lead_elsewhere_or_be_too_much) {
    for (const std::string_view query :
         {"payload=true", "messageId=..%2Fdead", "limit=0", "limit=101", "limit=x", "before=7"})
        EXPECT_THAT(refusal_of(query), HasSubstr("cannot be asked for")) << query;
    EXPECT_THAT(refusal_of("status=%zz"), HasSubstr("percent-encoded"));
}

TEST(search_target, refuses_times_before_any_node_is_asked) {
    EXPECT_THAT(refusal_of("until=noon"), HasSubstr("until is 'noon'; give a time like"));
    EXPECT_THAT(refusal_of("until=2206-02-14T12:00:00Z"), HasSubstr("more than a year from now"));
    EXPECT_THAT(refusal_of("since=2026-02-14T12:00:00Z&until=2026-02-14T12:00:00Z"),
                HasSubstr("so nothing lies between"));
}

TEST(node_hits, are_messages_of_a_list_with_the_nodes_name) {
    const auto found =
        read_hits("stock", answer(200, R"({"messages":[)" + std::string(one) + R"(],"next":7})"));
    EXPECT_EQ(boost::json::serialize(found.messages),
              R"([{"node":"stock","messageId":"m1","destination":"crm","endpoint":"Tell",)"
              R"("status":"Dead","createdAt":"2026-01-01T00:00:00Z"}])");
    EXPECT_TRUE(found.more);
    EXPECT_EQ(found.why, "");
}

TEST(node_hits, are_one_message_or_none_where_an_id_was_asked_for) {
    EXPECT_EQ(read_hits("stock", answer(200, std::string(one))).messages.size(), 1U);
    const auto none = read_hits("stock", answer(404, R"({"error":"not_found","message":"no"})"));
    EXPECT_TRUE(none.messages.empty());
    EXPECT_EQ(none.why, "");
}

TEST(node_hits, say_why_a_node_did_not_answer) {
    EXPECT_EQ(read_hits("x", fail(error_code::unreachable, "refused")).why, "refused");
    EXPECT_THAT(read_hits("x", answer(401, "{}")).why, HasSubstr("refuses the key"));
    EXPECT_EQ(read_hits("x", answer(400, R"({"error":"e","message":"status cannot be X"})")).why,
              "status cannot be X");
    EXPECT_THAT(read_hits("x", answer(200, "<html>")).why, HasSubstr("not as a node does"));
    EXPECT_THAT(read_hits("x", answer(404, "<html>")).why, HasSubstr("not as a node does"));
    EXPECT_THAT(read_hits("x", answer(200, R"({"a":1})")).why, HasSubstr("not as a node does"));
}

TEST(node_hits, leave_out_what_is_no_message_and_stop_at_a_hundred) {
    std::string list = R"(1,"x",{},{"messageId":5})";
    for (int i = 0; i < 150; ++i) list += "," + std::string(one);
    const auto found = read_hits("x", answer(200, R"({"messages":[)" + list + R"(],"next":null})"));
    EXPECT_EQ(found.messages.size(), 100U);
    EXPECT_FALSE(found.more);
}

TEST(others_message, comes_without_its_payload) {
    const auto read = read_message("stock", answer(200, std::string(one)));
    ASSERT_TRUE(read) << read.error().what();
    EXPECT_FALSE(read->contains("payload"));
    EXPECT_FALSE(read->contains("headers"));
    EXPECT_TRUE(read->contains("attempts"));
}

TEST(others_message, is_not_found_or_cannot_be_read) {
    const auto code = [](const result<http_response>& answered) {
        return read_message("stock", answered).error().code();
    };
    EXPECT_EQ(code(answer(404, R"({"error":"not_found"})")), error_code::not_found);
    EXPECT_EQ(code(answer(404, "<html>")), error_code::unreachable);
    EXPECT_EQ(code(answer(200, "[]")), error_code::unreachable);
    EXPECT_EQ(code(answer(403, "{}")), error_code::unreachable);
    EXPECT_EQ(code(fail(error_code::unreachable, "gone")), error_code::unreachable);
}

}  // namespace
}  // namespace posthorn
