#include "webhook/webhook_program.hpp"

#include <gmock/gmock.h>

#include "message/event.hpp"
#include "webhook/webhook_ids.hpp"

namespace posthorn {
namespace {

using ::testing::HasSubstr;

const std::string a_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

TEST(claims, name_tenant_and_user_of_an_event_only_where_that_is_configured) {
    const std::vector<claim> said{{"sub", "u-7"}, {"tid", "acme"}, {"tid", "globex"}};
    const auto both = take_claims({}, said, {.tenant = "tid", .user = "sub"});
    EXPECT_EQ(both.tenant, "acme");
    EXPECT_EQ(both.user, "u-7");
    const auto none = take_claims({}, said, {});
    EXPECT_EQ(none.tenant, "");
    EXPECT_EQ(none.user, "");
    const auto other = take_claims({}, said, {.tenant = "organisation", .user = "sub"});
    EXPECT_EQ(other.tenant, "");
    EXPECT_EQ(other.user, "u-7");
}

TEST(claims, do_not_take_the_place_of_what_is_said_of_the_event_itself) {
    const std::vector<claim> said{{"sub", "u-7"}, {"tid", "acme"}};
    const auto options = take_claims({.tenant = "globex", .user = "u-1", .entity = "order 7"}, said,
                                     {.tenant = "tid", .user = "sub"});
    EXPECT_EQ(options.tenant, "globex");
    EXPECT_EQ(options.user, "u-1");
    EXPECT_EQ(options.entity, "order 7");
}

TEST(events, have_their_user_among_their_headers_unless_those_name_one) {
    const auto headers = [](std::string given) {
        return detail::event_request("order.paid", "{}", {.user = "u-7", .headers = given})
            .options.headers;
    };
    EXPECT_EQ(headers(""), R"({"user-id":"u-7"})");
    EXPECT_EQ(headers(R"({"a": [1, 2]})"), R"({"a":[1, 2],"user-id":"u-7"})");
    EXPECT_EQ(headers(R"({"user-id":"u-1"})"), R"({"user-id":"u-1"})");
    EXPECT_EQ(headers("not JSON"), "not JSON");
    EXPECT_EQ(detail::event_request("order.paid", "{}", {}).options.headers, "");
}

TEST(subscribers_of_a_program, are_checked_as_rows_are_and_have_an_id_of_their_own) {
    const auto made = read_subscriber({.url = "https://a.example/hook", .secret = a_secret}, false);
    ASSERT_TRUE(made.has_value()) << made.error().what();
    EXPECT_EQ(made->id, configured_id("https://a.example/hook", ""));
    EXPECT_TRUE(made->is_given);
    const auto refused = [](const webhook_subscriber& one) {
        const auto read = read_subscriber(one, false);
        return read ? std::string() : std::string(read.error().what());
    };
    EXPECT_THAT(refused({.url = "http://a.example/", .secret = a_secret}), HasSubstr("https"));
    EXPECT_THAT(refused({.url = "https://a.example/", .secret = "whsec_AAAA"}), HasSubstr("24"));
    EXPECT_THAT(refused({.url = "https://a.example/", .secret = a_secret, .style = "new"}),
                HasSubstr("style cannot be 'new'"));
    EXPECT_THAT(refused({.url = "https://a.example/", .secret = a_secret, .filter = "{"}),
                HasSubstr("filter"));
}

}  // namespace
}  // namespace posthorn
