#include "inbox/answers.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <posthorn/error.hpp>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

template <class T>
delivery answer_to(const T& thrown) {
    return answer_to_exception(std::make_exception_ptr(thrown));
}

TEST(answers, a_permanent_failure_buries_with_its_text) {
    const auto answer = answer_to(permanent("no such order"));
    EXPECT_EQ(answer.what, outcome::permanent);
    EXPECT_EQ(answer.error, "no such order");
}

TEST(answers, every_other_exception_is_transient) {
    EXPECT_EQ(answer_to(std::runtime_error("db away")),
              (delivery{.what = outcome::transient, .error = "db away"}));
    EXPECT_EQ(answer_to(error(error_code::no_handler, "not found")),
              (delivery{.what = outcome::transient, .error = "no_handler: not found"}));
    EXPECT_EQ(answer_to(42), (delivery{.what = outcome::transient, .error = "unknown exception"}));
}

TEST(answers, error_texts_are_cut_to_two_thousand_characters_of_utf8) {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += "€";
    const auto answer = answer_to(std::runtime_error(text));
    EXPECT_EQ(answer.error.size(), 3 * 2000U);
    EXPECT_TRUE(answer.error.ends_with("€…"));
    EXPECT_EQ(answer_to(std::runtime_error("a\xff")).error, "a\uFFFD");
}

TEST(answers, a_full_or_busy_store_charges_no_attempt) {
    for (const auto code :
         {error_code::store_full, error_code::store_busy, error_code::commit_in_doubt}) {
        const auto answer = answer_to_store_error(error(code, "later"));
        EXPECT_EQ(answer.what, outcome::throttled);
        EXPECT_GT(answer.retry_after, 0ms);
    }
    const auto answer = answer_to_store_error(error(error_code::io_failed, "who knows"));
    EXPECT_EQ(answer.what, outcome::transient);
    EXPECT_EQ(answer.error, "io_failed: who knows");
}

TEST(answers, a_database_that_is_away_charges_no_attempt_and_is_not_described) {
    for (const auto code : {error_code::store_unavailable, error_code::store_read_only,
                            error_code::invalid_configuration}) {
        const auto answer = answer_to_store_error(error(code, "user@host is away"));
        EXPECT_EQ(answer.what, outcome::throttled);
        EXPECT_GT(answer.retry_after, 0ms);
        EXPECT_EQ(answer.error.find("host"), std::string::npos);
    }
}

TEST(answers, a_missing_handler_is_named_by_its_code) {
    message what;
    what.destination = "billing";
    what.endpoint = "Charge";
    const auto answer = answer_no_handler(what);
    EXPECT_EQ(answer.what, outcome::undeliverable);
    EXPECT_EQ(answer.code, error_code::no_handler);
    EXPECT_TRUE(answer.error.starts_with("no_handler: billing has no handler for Charge"));
    what.type = message_type::response;
    EXPECT_TRUE(answer_no_handler(what).error.starts_with(
        "no_handler: billing takes no Responses to Charge; add it under [responses]"));
}

}  // namespace
}  // namespace posthorn
