#include "outbox/lane/outbox_log.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

std::vector<std::string> lines_of(log_level level) {
    std::vector<std::string> lines;
    logger log({.level = level, .sink = [&](std::string_view line) { lines.emplace_back(line); }},
               [] { return wall_time{}; });
    outbox_row row;
    row.body.id = *uuid::parse("018f3b1c-0000-7000-8000-000000000001");
    row.body.destination = "billing";
    row.body.endpoint = "Charge";
    log_enqueued(log, {row});
    return lines;
}

TEST(outbox_log, says_what_was_enqueued_in_the_words_of_the_document) {
    const auto lines = lines_of(log_level::info);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NE(lines.front().find("[INF] Outbox: Message 018f3b1c-0000-7000-8000-000000000001 "
                                 "enqueued for billing/Charge"),
              std::string::npos)
        << lines.front();
}

TEST(outbox_log, says_how_many_retries_there_are) {
    const auto line_of = [](std::int32_t max_retries) {
        std::string seen;
        logger log({.sink = [&](std::string_view line) { seen = line; }},
                   [] { return wall_time{}; });
        outbox_row row;
        row.body.max_retries = max_retries;
        log_attempt(log, {row, {.what = decision::kind::retry}, "no answer", {}});
        return seen;
    };
    EXPECT_NE(line_of(5).find("retry 1/5: no answer"), std::string::npos) << line_of(5);
    EXPECT_NE(line_of(retry_for_ever).find("retry 1/unlimited: no answer"), std::string::npos)
        << line_of(retry_for_ever);
}

TEST(outbox_log, says_nothing_to_who_wants_warnings_only) {
    EXPECT_TRUE(lines_of(log_level::warn).empty());
}

TEST(outbox_log, says_what_was_published_and_what_was_not_to_who_wants_details) {
    struct row {
        decision::kind what;
        std::string said;
    };
    const std::string id = "018f3b1c-0000-7000-8000-000000000001";
    for (const auto& [what, said] : {row{decision::kind::settle, "[DBG] Published " + id},
                                     row{decision::kind::retry, "[DBG] Failed to publish " + id},
                                     row{decision::kind::bury, "[DBG] Failed to publish " + id}}) {
        for (const auto level : {log_level::debug, log_level::info}) {
            std::string all;
            logger log({.level = level, .sink = [&](std::string_view line) { all += line; }},
                       [] { return wall_time{}; });
            outbox_row sent;
            sent.body.id = *uuid::parse(id);
            log_attempt(log, {sent, {.what = what}, "why", {}});
            EXPECT_EQ(all.find(said) != std::string::npos, level == log_level::debug) << all;
        }
    }
}

}  // namespace
}  // namespace posthorn
