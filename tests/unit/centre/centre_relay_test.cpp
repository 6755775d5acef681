#include "centre/centre_relay.hpp"

#include <gmock/gmock.h>

namespace posthorn {
namespace {

using ::testing::HasSubstr;

std::string shown(std::string_view payload) {
    const auto read = read_parked_answer(payload, "plant 7");
    return read ? *read : std::string(read.error().what());
}

TEST(centre_relay, gives_on_what_a_site_says_of_its_parked_work) {
    EXPECT_EQ(
        shown(
            R"({"Messages":[{"MessageId":"a","Category":"Notification","Target":"ops",)"
            R"("RetryCount":3,"MaxRetries":50,"CreatedAtUtc":"t","LastError":"no","Secret":"x"}],)"
            R"("Next":7})"),
        R"({"site":"plant 7","mirror":false,"next":7,"messages":[{"id":"a",)"
        R"("category":"Notification","target":"ops","retryCount":3,"createdAt":"t",)"
        R"("maxRetries":50,"lastError":"no"}]})");
}

TEST(centre_relay, takes_no_nonsense_of_a_site_for_an_answer) {
    EXPECT_THAT(shown("no"), HasSubstr("not a JSON object"));
    EXPECT_THAT(shown("{}"), HasSubstr("no Messages"));
    EXPECT_THAT(shown(R"({"Messages":7})"), HasSubstr("no Messages"));
    EXPECT_THAT(shown(R"({"Messages":[7],"Next":"x"})"), HasSubstr(R"("messages":[])"));
}

TEST(centre_relay, believes_that_something_was_done_only_of_the_message_it_asked_about) {
    const auto id = *uuid::parse("0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001");
    const auto said = [&](std::string_view payload) {
        const auto read = read_change_answer(payload, id);
        return read ? *read : std::string(read.error().what());
    };
    EXPECT_EQ(said(R"({"MessageId":"0199f3a05b7c7d118a4e3f1f7a7e0001","Success":true})"), "");
    EXPECT_EQ(said(R"({"MessageId":"0199f3a05b7c7d118a4e3f1f7a7e0001","Error":"gone"})"), "gone");
    EXPECT_THAT(said(R"({"MessageId":"0199f3a05b7c7d118a4e3f1f7a7e0001","Success":1})"),
                HasSubstr("no reason"));
    EXPECT_THAT(said(R"({"MessageId":"0199f3a05b7c7d118a4e3f1f7a7e0002","Success":true})"),
                HasSubstr("about another message"));
    EXPECT_THAT(said(R"({"Success":true})"), HasSubstr("about another message"));
    EXPECT_THAT(said("true"), HasSubstr("not a JSON object"));
}

}  // namespace
}  // namespace posthorn
