#include "transport/wire/status.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using enum outcome;

delivery refused(outcome what, error_code code) {
    return {.what = what, .error = "why", .code = code};
}

TEST(wire_status, says_what_came_of_a_message_and_is_understood) {
    struct one_case {
        delivery sent;
        std::uint16_t status;
        std::string_view code;
    };
    const one_case cases[] = {
        {{.what = delivered, .payload = "[1]"}, 200, ""},
        {{.what = delivered, .duplicate = true, .payload = "[1]"}, 200, ""},
        {refused(permanent, error_code::malformed_request), 400, "malformed_request"},
        {refused(permanent, error_code::invalid_argument), 400, "invalid_argument"},
        {refused(permanent, error_code::invalid_payload), 400, "invalid_payload"},
        {refused(undeliverable, error_code::no_handler), 404, "no_handler"},
        {refused(permanent, error_code::id_reused), 409, "id_reused"},
        {refused(permanent, error_code::message_expired), 410, "message_expired"},
        {refused(permanent, error_code::message_too_large), 413, "message_too_large"},
        {{.what = permanent, .error = "no such order"}, 422, ""},
        {{.what = throttled, .error = "at work", .retry_after = 3s}, 425, ""},
        {{.what = throttled, .error = "f", .retry_after = 5s, .code = error_code::store_full},
         503,
         "store_full"},
        {{.what = throttled, .error = "b", .retry_after = 5s, .code = error_code::store_busy},
         503,
         "store_busy"},
        {{.what = transient, .error = "handler failed"}, 500, ""},
        {refused(transient, error_code::lease_lost), 500, "lease_lost"},
    };
    for (const auto& one : cases) {
        const auto said = to_wire(one.sent);
        EXPECT_EQ(said.status, one.status);
        EXPECT_EQ(said.code, one.code);
        EXPECT_EQ(said.acknowledged, one.sent.what == delivered);
        EXPECT_EQ(from_wire(said), one.sent) << one.status;
    }
}

TEST(wire_status, an_answer_is_taken_as_the_page_says) {
    struct one_case {
        wire_answer said;
        outcome what;
    };
    const one_case cases[] = {
        {{.status = 200, .acknowledged = true}, delivered},
        {{.status = 200, .duplicate = true}, delivered},
        {{.status = 500, .duplicate = true}, delivered},
        {{.status = 200}, transient},
        {{.status = 204}, transient},
        {{.status = 302}, transient},
        {{.status = 400}, permanent},
        {{.status = 401}, transient},
        {{.status = 403}, permanent},
        {{.status = 404}, transient},
        {{.status = 404, .code = "not_found"}, transient},
        {{.status = 404, .code = "no_handler"}, undeliverable},
        {{.status = 408}, transient},
        {{.status = 418}, permanent},
        {{.status = 422}, permanent},
        {{.status = 425}, transient},
        {{.status = 425, .retry_after = 1s}, throttled},
        {{.status = 429, .retry_after = 1s}, throttled},
        {{.status = 429}, transient},
        {{.status = 503, .retry_after = 1s}, throttled},
        {{.status = 503}, transient},
        {{.status = 500}, transient},
        {{.status = 599}, transient},
        {{.status = 200, .retry_after = 1s}, transient},
    };
    for (const auto& one : cases) {
        const auto taken = from_wire(one.said);
        EXPECT_EQ(taken.what, one.what) << one.said.status;
        EXPECT_EQ(taken.error.empty(), one.what == delivered) << one.said.status;
    }
}

TEST(wire_status, a_pause_is_heeded_up_to_an_hour) {
    EXPECT_EQ(from_wire({.status = 503, .retry_after = 100h}).retry_after, 1h);
    EXPECT_EQ(from_wire({.status = 503}, 7s).retry_after, 7s) << "that of the header counts";
    EXPECT_EQ(from_wire({.status = 503, .retry_after = 2s}, 7s).retry_after, 2s);
    EXPECT_EQ(from_wire({.status = 503}, -7s).retry_after, 0s);
}

TEST(wire_status, a_receiver_that_asks_for_patience_for_itself_is_overloaded) {
    for (const auto status : std::vector<std::uint16_t>{429, 503})
        EXPECT_EQ(from_wire({.status = status, .retry_after = 1s}).code, error_code::overloaded);
    EXPECT_EQ(from_wire({.status = 503, .code = "store_full", .retry_after = 1s}).code,
              error_code::store_full);
    for (const auto status : std::vector<std::uint16_t>{408, 425, 500})
        EXPECT_EQ(from_wire({.status = status, .retry_after = 1s}).code, std::nullopt) << status;
    EXPECT_EQ(from_wire({.status = 503}).code, std::nullopt);
}

TEST(wire_status, an_unsigned_reply_is_never_more_than_try_again) {
    const error why(error_code::bad_signature, "it is not signed");
    std::string yes;
    append_answer(yes, {.acknowledged = true, .duplicate = true, .payload = "1"});
    for (const auto status :
         std::vector<std::uint16_t>{200, 302, 400, 401, 404, 409, 410, 413, 422, 425, 500, 503}) {
        const auto taken = from_unsigned({.status = status, .body = yes}, why);
        EXPECT_EQ(taken.what, unanswered) << status;
        EXPECT_FALSE(taken.duplicate);
        EXPECT_TRUE(taken.payload.empty());
        EXPECT_EQ(taken.code, error_code::bad_signature);
    }
    for (const auto status : std::vector<std::uint16_t>{429, 503}) {
        const auto taken = from_unsigned({.status = status, .retry_after = 100h}, why);
        EXPECT_EQ(taken.what, throttled);
        EXPECT_EQ(taken.retry_after, 1min);
        EXPECT_EQ(taken.code, error_code::overloaded);
    }
    EXPECT_EQ(from_unsigned({.status = 401, .retry_after = 1h}, why).what, unanswered);
}

TEST(wire_status, shows_what_an_unsigned_refusal_says_cut_short) {
    std::string body;
    append_answer(body, {.error = "clock is off " + std::string(5'000, 'x')});
    const error why(error_code::bad_signature, "it is not signed");
    const auto taken = from_unsigned({.status = 401, .body = body}, why);
    EXPECT_NE(taken.error.find("clock is off"), std::string::npos);
    EXPECT_LT(taken.error.size(), 600U);
}

TEST(wire_status, knows_a_peer_without_batches) {
    EXPECT_TRUE(lacks_batches({.status = 404, .body = "<html>not here</html>"}));
    EXPECT_TRUE(lacks_batches({.status = 404, .body = R"({"error":"not_found"})"}));
    EXPECT_TRUE(lacks_batches({.status = 405}));
    EXPECT_TRUE(lacks_batches({.status = 501}));
    EXPECT_FALSE(lacks_batches({.status = 404, .body = R"({"code":"no_handler"})"}));
    for (const auto status : std::vector<std::uint16_t>{200, 400, 401, 413, 500, 503})
        EXPECT_FALSE(lacks_batches({.status = status}));
}

}  // namespace
}  // namespace posthorn
