#include "inbox/configured/http_handler.hpp"

#include <gmock/gmock.h>

#include <posthorn/error.hpp>

#include "../inbox_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

class http_handler_call : public inbox_fixture {
protected:
    http_handler_call() {
        handle("Charge", {.run = make_http_handler({.url = "http://local/charge",
                                                    .lease = 9s,
                                                    .tell_failure =
                                                        [this](const message&, const error& why) {
                                                            failures_.emplace_back(why.what());
                                                        }},
                                                   [this](web_call call) { return answer(call); }),
                          .lease = 9s});
    }
    task<result<http_response>> answer(web_call call) {
        calls_.push_back(std::move(call));
        if (answers_) co_return answer_;
        // The call keeps its own time, which begins a little later than the inbox's.
        POSTHORN_CO_TRY(co_await loop.time().sleep_for(calls_.back().timeout + 1ms));
        co_return fail(error_code::unreachable, "local has not answered");
    }

    std::vector<web_call> calls_;
    std::vector<std::string> failures_;
    bool answers_ = true;
    result<http_response> answer_ = http_response{.status = 200, .headers = {}, .body = "done"};
};

TEST_F(http_handler_call, posts_the_payload_with_the_id_as_its_key) {
    auto one = from_orders("Charge", R"({"a":1})");
    one.correlation_id = "c\r\nX: y";
    one.headers = R"({"traceparent":")" + trace + R"(","tracestate":"a=1","other":7})";
    const auto given = receive(one);
    EXPECT_EQ(given.what, outcome::delivered);
    EXPECT_EQ(given.payload, "done");
    ASSERT_EQ(calls_.size(), 1U);
    const auto& call = calls_[0];
    EXPECT_EQ(call.url, "http://local/charge");
    EXPECT_EQ(call.body, R"({"a":1})");
    EXPECT_EQ(call.timeout, 9s);
    EXPECT_EQ(call.headers.find("Idempotency-Key"), one.id.to_string());
    EXPECT_EQ(call.headers.find("rf-message-id"), one.id.to_string());
    EXPECT_EQ(call.headers.find("rf-source"), "orders");
    EXPECT_EQ(call.headers.find("rf-endpoint"), "Charge");
    EXPECT_EQ(call.headers.find("rf-correlation-id"), "c  X: y");
    EXPECT_EQ(call.headers.find("content-type"), "application/json");
    EXPECT_EQ(call.headers.find("traceparent"), trace);
    EXPECT_EQ(call.headers.find("tracestate"), "a=1");
}

TEST_F(http_handler_call, passes_no_trace_on_that_is_not_well_formed) {
    auto one = from_orders("Charge", "{}");
    one.headers = R"({"traceparent":"00-t","tracestate":"a=1"})";
    EXPECT_EQ(receive(one).what, outcome::delivered);
    ASSERT_EQ(calls_.size(), 1U);
    EXPECT_FALSE(calls_[0].headers.find("traceparent").has_value());
    EXPECT_FALSE(calls_[0].headers.find("tracestate").has_value());
}

TEST_F(http_handler_call, is_not_repeated_once_it_was_answered) {
    const auto one = from_orders("Charge", "{}");
    EXPECT_EQ(receive(one).payload, "done");
    const auto again = receive(one);
    EXPECT_TRUE(again.duplicate);
    EXPECT_EQ(again.payload, "done");
    EXPECT_EQ(calls_.size(), 1U);
}

TEST_F(http_handler_call, charges_no_attempt_to_a_service_that_is_silent_for_its_lease) {
    answers_ = false;
    const auto given = receive(from_orders("Charge", "{}"));
    EXPECT_EQ(given.what, outcome::throttled);
    EXPECT_EQ(given.code, error_code::handler_unreachable);
    EXPECT_EQ(given.retry_after, 5s);
    EXPECT_EQ(failures_.size(), 1U);
}

TEST_F(http_handler_call, tells_for_good_from_for_now_by_the_status) {
    for (const int status : {400, 403, 404, 409, 410, 413, 422, 499}) {
        answer_ = http_response{
            .status = static_cast<std::uint16_t>(status), .headers = {}, .body = "no"};
        const auto given = receive(from_orders("Charge", "{}"));
        EXPECT_EQ(given.what, outcome::permanent) << status;
        EXPECT_EQ(given.error, fmt::format("the handler answered {} with 2 bytes", status));
    }
    for (const int status : {301, 304, 401, 408, 425, 500, 599}) {
        answer_ =
            http_response{.status = static_cast<std::uint16_t>(status), .headers = {}, .body = ""};
        EXPECT_EQ(receive(from_orders("Charge", "{}")).what, outcome::transient) << status;
    }
}

TEST_F(http_handler_call, charges_no_message_with_a_service_that_cannot_be_asked) {
    for (const int status : {429, 502, 503, 504, 0}) {
        if (status == 0)
            answer_ = fail(error_code::unreachable, "refused");
        else
            answer_ = http_response{
                .status = static_cast<std::uint16_t>(status), .headers = {}, .body = ""};
        const auto given = receive(from_orders("Charge", "{}"));
        EXPECT_EQ(given.what, outcome::throttled) << status;
        EXPECT_EQ(given.code, error_code::handler_unreachable);
        EXPECT_EQ(given.retry_after, std::chrono::seconds(5));
    }
}

TEST_F(http_handler_call, tells_the_sender_neither_what_was_answered_nor_where) {
    const std::string body = R"({"detail":"card canary-41 is not known"})";
    for (const int status : {422, 500}) {
        answer_ = http_response{
            .status = static_cast<std::uint16_t>(status), .headers = {}, .body = body};
        const auto error = receive(from_orders("Charge", "{}")).error;
        EXPECT_THAT(error, HasSubstr(fmt::format("answered {} with 40 bytes", status)));
        EXPECT_THAT(error, Not(HasSubstr("canary")));
        EXPECT_THAT(error, Not(HasSubstr("local")));
    }
    answer_ = fail(error_code::unreachable, "http://local cannot be reached: refused");
    const auto error = receive(from_orders("Charge", "{}")).error;
    EXPECT_THAT(error, HasSubstr("no answer"));
    EXPECT_THAT(error, Not(HasSubstr("local")));
    EXPECT_EQ(failures_, std::vector<std::string>{"http://local cannot be reached: refused"});
}

}  // namespace
}  // namespace posthorn
