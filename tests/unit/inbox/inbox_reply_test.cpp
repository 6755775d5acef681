#include <gtest/gtest.h>

#include "inbox_fixture.hpp"

namespace posthorn {
namespace {

/// Commands, whose responses go back as messages.
class replying_inbox : public inbox_fixture {
protected:
    message command(std::string correlation_id = {}) {
        auto made = from_orders("Charge", "1");
        made.type = message_type::command;
        made.correlation_id = std::move(correlation_id);
        return made;
    }
    /// How many of the rows in the outbox are this Response.
    std::int64_t responses(const std::string& correlation_id, const std::string& payload,
                           const std::string& content_type = "application/json") {
        return number(
            "SELECT count(*) FROM outbox_messages WHERE message_type = 'Response' AND "
            "destination = 'orders' AND endpoint = 'Charge' AND correlation_id = '" +
            correlation_id + "' AND payload = '" + payload + "' AND content_type = '" +
            content_type + "'");
    }
};

TEST_F(replying_inbox, sends_the_response_in_the_transaction_of_the_handler) {
    handle_by_writing("Charge", "{}");
    const auto one = command("file 7");
    EXPECT_EQ(receive(one).what, outcome::delivered);
    EXPECT_EQ(responses("file 7", "{}"), 1);
    EXPECT_TRUE(receive(one).duplicate);
    EXPECT_EQ(outbox_rows(), 1);  // A repeat sends nothing more.
}

TEST_F(replying_inbox, sends_the_response_of_an_external_handler_with_its_record) {
    handle("Charge", {.run = blocking_handler([](const message&) { return "{}"; })});
    const auto one = command();
    EXPECT_EQ(receive(one).what, outcome::delivered);
    EXPECT_EQ(responses(one.id.to_string(), "{}"), 1);
    EXPECT_TRUE(receive(one).duplicate);
    EXPECT_EQ(outbox_rows(), 1);
}

TEST_F(replying_inbox, names_text_that_is_not_json_for_what_it_is) {
    handle_by_writing("Charge", "done");
    EXPECT_EQ(receive(command("c")).what, outcome::delivered);
    EXPECT_EQ(responses("c", "done", "text/plain"), 1);
}

TEST_F(replying_inbox, answers_null_where_there_is_nothing_to_say) {
    handle_by_writing("Charge", "");
    const auto one = command();
    EXPECT_EQ(receive(one).payload, "");
    EXPECT_EQ(responses(one.id.to_string(), "null"), 1);
    EXPECT_TRUE(receive(one).duplicate);
    EXPECT_EQ(outbox_rows(), 1);
}

TEST_F(replying_inbox, answers_null_where_an_external_handler_has_nothing_to_say) {
    handle("Charge", {.run = blocking_handler([](const message&) { return ""; })});
    const auto one = command();
    EXPECT_EQ(receive(one).what, outcome::delivered);
    EXPECT_EQ(responses(one.id.to_string(), "null"), 1);
}

TEST_F(replying_inbox, sends_nothing_back_where_nothing_was_asked) {
    handle("Told", {.run = transactional_handler([](context&, const message&) { return "{}"; })});
    EXPECT_EQ(receive(from_orders("Told", "2")).what, outcome::delivered);
    EXPECT_EQ(outbox_rows(), 0);
}

TEST_F(replying_inbox, leaves_the_answer_to_what_is_finished_elsewhere) {
    handle("Charge", {.run = transactional_handler([](context&, const message&) { return ""; }),
                      .answers_later = true});
    EXPECT_EQ(receive(command()).what, outcome::delivered);
    EXPECT_EQ(outbox_rows(), 0);
}

TEST_F(replying_inbox, carries_the_trace_on_in_the_response_and_in_what_the_handler_sends) {
    std::string seen;
    const std::string trace =
        R"("traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")";
    const std::string own =
        R"({"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01"})";
    handle("Charge", {.run = transactional_handler([&](context& c, const message& m) {
                          seen = m.headers;
                          c.send("stock", "Next", "{}", {.headers = R"({"a":1})"});
                          c.send("stock", "Own", "{}", {.headers = own});
                          return "{}";
                      })});
    auto one = command();
    one.headers = "{" + trace + R"(,"tracestate":"v=1","private":true})";
    EXPECT_EQ(receive(one).what, outcome::delivered);
    EXPECT_EQ(seen, one.headers);
    const auto with_headers = [&](const std::string& endpoint, const std::string& headers) {
        return number("SELECT count(*) FROM outbox_messages WHERE endpoint = '" + endpoint +
                      "' AND headers = '" + headers + "'");
    };
    EXPECT_EQ(with_headers("Charge", "{" + trace + R"(,"tracestate":"v=1"})"), 1);
    EXPECT_EQ(with_headers("Next", R"({"a":1,)" + trace + R"(,"tracestate":"v=1"})"), 1);
    EXPECT_EQ(with_headers("Own", own), 1);
}

TEST_F(replying_inbox, carries_no_trace_on_that_is_not_well_formed) {
    handle_by_writing("Charge", "{}");
    auto one = command();
    one.headers = R"({"traceparent":"00-t"})";
    EXPECT_EQ(receive(one).what, outcome::delivered);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages WHERE coalesce(headers, '') = ''"), 1);
}

TEST_F(replying_inbox, takes_the_response_back_when_the_handler_fails) {
    handle("Charge", {.run = transactional_handler([](context&, const message&) -> std::string {
                          throw std::runtime_error("not now");
                      })});
    EXPECT_EQ(receive(command()).what, outcome::transient);
    EXPECT_EQ(outbox_rows(), 0);
}

TEST_F(replying_inbox, gives_responses_to_their_own_handlers) {
    std::string seen;
    const auto noting = [&seen](std::string who) {
        return handler{.run = transactional_handler([&seen, who](context&, const message&) {
                           seen += who;
                           return std::string{};
                       })};
    };
    handle("Charge", noting("command "));
    ASSERT_TRUE(registry.add_response("Charge", noting("response ")));
    registry.add_replies(noting("other"));
    auto one = from_orders("Charge", "1");
    receive(one);
    one = from_orders("Charge", "1");
    one.type = message_type::response;
    receive(one);
    one = from_orders("Refund", "1");
    one.type = message_type::response;
    receive(one);
    EXPECT_EQ(seen, "command response other");
}

}  // namespace
}  // namespace posthorn
