#include "forward/notification.hpp"

#include <gmock/gmock.h>

namespace posthorn {
namespace {

using ::testing::HasSubstr;

const uuid work_id = *uuid::parse("0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001");

forward_message notification(std::string payload, std::string instance = "press") {
    forward_message work;
    work.id = work_id;
    work.payload = std::move(payload);
    work.origin_instance = std::move(instance);
    return work;
}

std::string stamped(std::string payload, std::string instance = "press") {
    const auto made =
        stamp_notification(notification(std::move(payload), std::move(instance)), "plant 7");
    return made ? made->payload : std::string(made.error().what());
}

TEST(notification, leaves_with_the_sites_word_on_where_it_comes_from_and_all_else_it_said) {
    EXPECT_EQ(stamped(R"({"SourceSiteId":"plant 8","Subject":"hot","SourceInstanceId":"x"})"),
              R"({"SourceSiteId":"plant 7","Subject":"hot","SourceInstanceId":"press",)"
              R"("NotificationId":"0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001"})");
    EXPECT_THAT(stamped("{}", ""), HasSubstr(R"("SourceInstanceId":null)"));
}

TEST(notification, keeps_the_id_that_its_script_gave_in_either_form) {
    const auto made = stamp_notification(
        notification(R"({"NotificationId":"0123456789ABCDEF0123456789abcdef"})"), "plant 7");
    ASSERT_TRUE(made);
    EXPECT_EQ(made->id.to_string(), "01234567-89ab-cdef-0123-456789abcdef");
    EXPECT_THAT(made->payload, HasSubstr("01234567-89ab-cdef-0123-456789abcdef"));
}

TEST(notification, that_cannot_be_read_is_refused_with_the_reason) {
    EXPECT_THAT(stamped("hot"), HasSubstr("not a JSON object"));
    EXPECT_THAT(stamped("[]"), HasSubstr("not a JSON object"));
    EXPECT_THAT(stamped(R"({"NotificationId":"x"})"), HasSubstr("its NotificationId is not an id"));
    EXPECT_THAT(stamped(R"({"NotificationId":null})"), HasSubstr("not an id"));
}

delivery judged(std::string ack) {
    return judge_notification_ack({.what = outcome::delivered, .payload = std::move(ack)}, work_id);
}

TEST(notification, is_delivered_by_an_ack_that_accepts_this_very_one_and_no_other) {
    EXPECT_EQ(
        judged(R"({"NotificationId":"0199F3A05B7C7D118A4E3F1F7A7E0001","Accepted":true})").what,
        outcome::delivered);
    const auto why = [](std::string ack) {
        const auto seen = judged(std::move(ack));
        EXPECT_EQ(seen.what, outcome::transient);
        return seen.error;
    };
    const std::string mine = R"("NotificationId":"0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001")";
    EXPECT_THAT(why("{" + mine + R"(,"Accepted":false,"Error":"no"})"), HasSubstr("accept it: no"));
    EXPECT_THAT(why("{" + mine + "}"), HasSubstr("gives no reason"));
    EXPECT_THAT(why("{" + mine + R"(,"Accepted":"true"})"), HasSubstr("gives no reason"));
    EXPECT_THAT(why(R"({"Accepted":true})"), HasSubstr("about another"));
    EXPECT_THAT(why("true"), HasSubstr("cannot be read"));
    EXPECT_THAT(why(""), HasSubstr("cannot be read"));
}

TEST(notification, whose_centre_did_not_answer_is_not_charged) {
    const delivery silent{.what = outcome::unanswered, .error = "cut"};
    EXPECT_EQ(judge_notification_ack(silent, work_id), silent);
}

}  // namespace
}  // namespace posthorn
