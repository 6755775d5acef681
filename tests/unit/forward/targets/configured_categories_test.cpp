#include "forward/targets/configured_categories.hpp"

#include <gmock/gmock.h>

namespace posthorn {
namespace {

using ::testing::HasSubstr;

result<std::vector<configured_category>> read(std::vector<feature_tables::fields> entries) {
    return read_categories(feature_settings({{"categories", feature_tables{std::move(entries)}}}));
}

http_response answered(std::uint16_t status, std::string body = {}) {
    http_response answer;
    answer.status = status;
    answer.body = std::move(body);
    return answer;
}

TEST(configured_categories, are_read_with_what_they_say) {
    const auto all = read({{{"name", "ExternalSystem"},
                            {"to", "https://erp.example/{target}"},
                            {"tracked", "false"},
                            {"max_retries", "0"},
                            {"retry_seconds", "10"},
                            {"timeout_seconds", "5"}}});
    ASSERT_TRUE(all) << all.error().what();
    ASSERT_EQ(all->size(), 1U);
    EXPECT_EQ(all->front().name, "ExternalSystem");
    EXPECT_FALSE(all->front().how.tracked);
    EXPECT_EQ(all->front().how.max_retries, 0);
    EXPECT_EQ(all->front().how.retry_interval, std::chrono::seconds{10});
    EXPECT_EQ(all->front().how.timeout, std::chrono::seconds{5});
}

TEST(configured_categories, that_make_no_sense_are_named_by_their_number) {
    const feature_tables::fields good{{"name", "A"}, {"to", "http://erp"}};
    const auto why = [&](std::string_view key, const std::string& value) {
        auto bad = good;
        bad[std::string(key)] = value;
        const auto all = read({{{"name", "B"}, {"to", "http://erp"}}, bad});
        return all ? std::string() : all.error().what();
    };
    EXPECT_THAT(why("name", "a/b"), HasSubstr("forward.categories, entry 2: give it a name"));
    EXPECT_THAT(why("name", "B"), HasSubstr("B is there already"));
    EXPECT_THAT(why("to", "ftp://erp"), HasSubstr("'to' is not an http:// or https:// address"));
    EXPECT_THAT(why("max_retries", "-1"), HasSubstr("max_retries is -1; give a number from 0"));
    EXPECT_THAT(why("timeout_seconds", "soon"), HasSubstr("timeout_seconds is soon"));
    EXPECT_THAT(why("tracked", "perhaps"), HasSubstr("'tracked' cannot be perhaps"));
    EXPECT_THAT(why("colour", "red"), HasSubstr("'colour' cannot be there; write name, to"));
}

TEST(configured_categories, put_the_target_into_the_address_as_one_part_of_it) {
    EXPECT_EQ(forward_url("http://erp/{target}/orders", "line 3/../x?y"),
              "http://erp/line%203%2F..%2Fx%3Fy/orders");
    EXPECT_EQ(forward_url("http://erp/orders", "line 3"), "http://erp/orders");
}

TEST(configured_categories, say_whose_work_it_is_in_headers_that_free_text_cannot_end) {
    const auto request = forward_request({.id = *uuid::parse("0123456789abcdef0123456789abcdef"),
                                          .category = "ExternalSystem",
                                          .target = "erp\r\nX-Evil: 1",
                                          .payload = "{}",
                                          .origin_instance = "line 3"});
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.body, "{}");
    EXPECT_EQ(request.headers.find("Idempotency-Key"), "01234567-89ab-cdef-0123-456789abcdef");
    EXPECT_EQ(request.headers.find("rf-target"), "erp  X-Evil: 1");
    EXPECT_EQ(request.headers.find("rf-origin-instance"), "line 3");
}

TEST(configured_categories, judge_an_answer_by_who_speaks) {
    const struct {
        std::uint16_t status;
        outcome what;
    } table[] = {{200, outcome::delivered}, {204, outcome::delivered},  {301, outcome::transient},
                 {400, outcome::permanent}, {401, outcome::transient},  {404, outcome::permanent},
                 {408, outcome::transient}, {425, outcome::transient},  {429, outcome::throttled},
                 {500, outcome::transient}, {502, outcome::unanswered}, {503, outcome::throttled},
                 {504, outcome::unanswered}};
    for (const auto& line : table)
        EXPECT_EQ(judge_forward_answer(answered(line.status)).what, line.what) << line.status;
    EXPECT_EQ(judge_forward_answer(answered(500, "no paper")).error, "HTTP 500: no paper");
    auto busy = answered(503);
    busy.headers.add("Retry-After", "17");
    EXPECT_EQ(judge_forward_answer(busy).retry_after, std::chrono::seconds{17});
}

}  // namespace
}  // namespace posthorn
