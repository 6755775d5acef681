#include "webhook/webhook_request.hpp"

#include <algorithm>
#include <memory>

#include <gmock/gmock.h>

#include "base/random.hpp"
#include "message/event.hpp"
#include "security/webhook_signature.hpp"
#include "webhook/subscription_index.hpp"
#include "webhook/webhook_ids.hpp"

namespace posthorn {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const auto event_id = uuid::parse("018f3b1c-0000-7000-8000-000000000001").value();
const auto other_id = uuid::parse("018f3b1c-0000-7000-8000-000000000002").value();

webhook_event paid() {
    return {.id = event_id,
            .type = "order.paid",
            .payload = R"({"amount":12.10,"id":9007199254740993})",
            .entity = "order 7",
            .correlation_id = "c1",
            .at = wall_time{std::chrono::milliseconds{1'700'000'000'123}}};
}

webhook_target shop(webhook_style style, webhook_form form = webhook_form::envelope) {
    seeded_random random{1};
    webhook_target made;
    made.of.id = other_id;
    made.of.url = "https://shop.example/hook";
    made.of.style = style;
    made.of.form = form;
    const auto shared = make_webhook_secret(random);
    made.live.push_back(shared);
    made.texts.push_back(parse_outbox_secret(reveal_webhook_secret(shared)).value());
    return made;
}

guarded_request request(const webhook_target& to, std::int32_t attempt = 1) {
    return make_webhook_request(paid(), to, attempt,
                                wall_time{std::chrono::milliseconds{1'700'000'100'900}});
}

TEST(webhook_body, keeps_every_digit_of_what_was_published) {
    EXPECT_EQ(body_of(paid(), webhook_form::envelope),
              R"({"type":"order.paid","timestamp":"2023-11-14T22:13:20.123Z",)"
              R"("data":{"amount":12.10,"id":9007199254740993}})");
    EXPECT_EQ(body_of(paid(), webhook_form::raw), paid().payload);
    EXPECT_EQ(body_of(paid(), webhook_form::thin),
              R"({"type":"order.paid","timestamp":"2023-11-14T22:13:20.123Z",)"
              R"("data":{"id":"order 7"}})");
}

TEST(webhook_body, has_what_is_not_json_as_a_text) {
    auto event = paid();
    event.content_type = "text/plain";
    event.payload = "said \"yes\"";
    EXPECT_THAT(body_of(event, webhook_form::envelope), HasSubstr(R"("data":"said \"yes\"")"));
}

TEST(webhook_body, has_what_is_not_text_in_base64) {
    auto event = paid();
    event.content_type = "application/octet-stream";
    event.payload = "\xff\xfe";
    const auto body = body_of(event, webhook_form::envelope);
    EXPECT_THAT(body, testing::EndsWith(R"("data":"//4=","dataEncoding":"base64"})"));
    EXPECT_EQ(body_of(event, webhook_form::raw), "\xff\xfe");
}

TEST(webhook_headers, of_standard_webhooks_name_the_event_and_the_time_of_the_attempt) {
    const auto made = request(shop(webhook_style::standard));
    EXPECT_EQ(made.headers.find("webhook-id"), event_id.to_string());
    EXPECT_EQ(made.headers.find("webhook-timestamp"), "1700000100");
    EXPECT_THAT(std::string(*made.headers.find("webhook-signature")), StartsWith("v1,"));
    EXPECT_FALSE(made.headers.find("X-Outbox-Event"));
}

TEST(webhook_headers, are_signed_with_the_secret_before_until_its_time_is_over) {
    auto to = shop(webhook_style::standard);
    to.live.push_back(to.live.front());
    const auto signatures = [&] {
        const auto made = request(to);
        return std::ranges::count(*made.headers.find("webhook-signature"), ',');
    };
    const wall_time attempt{std::chrono::milliseconds{1'700'000'100'900}};
    to.of.previous_until = attempt + std::chrono::milliseconds{1};
    EXPECT_EQ(signatures(), 2);
    to.of.previous_until = attempt;
    EXPECT_EQ(signatures(), 1);
}

TEST(webhook_headers, of_a_key_pair_are_signed_with_it) {
    seeded_random random{1};
    auto to = shop(webhook_style::standard);
    to.live = {ed25519_pair::make(random)};
    EXPECT_THAT(std::string(*request(to).headers.find("webhook-signature")), StartsWith("v1a,"));
    EXPECT_TRUE(parse_webhook_key(std::get<ed25519_pair>(to.live[0]).reveal()));
}

TEST(webhook_targets, refuse_a_key_pair_where_the_receiver_would_need_the_secret) {
    seeded_random random{1};
    const auto pair = ed25519_pair::make(random).reveal();
    webhook_target made;
    EXPECT_TRUE(add_key(made, pair));
    for (const auto style : {webhook_style::both, webhook_style::outbox}) {
        made.of.style = style;
        EXPECT_FALSE(add_key(made, pair));
    }
}

TEST(subscription_sets, leave_a_tenant_out_that_has_no_entry_where_others_have) {
    const auto entry = [](std::string tenant, bool is_default = false) {
        auto made = shop(webhook_style::standard);
        made.of.id = configured_id(tenant, is_default ? "default" : "");
        made.of.tenant = std::move(tenant);
        made.of.is_configured = true;
        made.of.is_default = is_default;
        return std::make_shared<const webhook_target>(std::move(made));
    };
    EXPECT_FALSE(subscription_set(1, {entry("")}).leaves_out("other"));
    const subscription_set some(1, {entry("ACME")});
    EXPECT_FALSE(some.leaves_out("acme"));
    EXPECT_TRUE(some.leaves_out("other"));
    EXPECT_TRUE(some.leaves_out(""));
    EXPECT_FALSE(subscription_set(1, {entry("acme"), entry("", true)}).leaves_out("other"));
}

TEST(subscription_sets, pass_over_rows_whose_deliveries_would_have_one_id) {
    const auto row = [](const uuid& id) {
        auto made = shop(webhook_style::standard);
        made.of.id = id;
        return std::make_shared<const webhook_target>(std::move(made));
    };
    const subscription_set all(1, {row({}), row({}), row(other_id), row(other_id)});
    EXPECT_EQ(all.all().size(), 4U);
    EXPECT_EQ(all.of(paid(), "").size(), 1U);
}

TEST(webhook_headers, of_the_outbox_style_number_the_attempt) {
    const auto made = request(shop(webhook_style::outbox, webhook_form::raw), 3);
    EXPECT_FALSE(made.headers.find("webhook-id"));
    EXPECT_EQ(made.headers.find("X-Outbox-Event"), "order.paid");
    EXPECT_EQ(made.headers.find("X-Outbox-Message-Id"), event_id.to_string());
    EXPECT_EQ(made.headers.find("X-Outbox-Subscription-Id"), other_id.to_string());
    EXPECT_EQ(made.headers.find("X-Outbox-Timestamp"), "1700000100");
    EXPECT_EQ(made.headers.find("X-Outbox-Correlation-Id"), "c1");
    EXPECT_EQ(made.headers.find("X-Outbox-Delivery-Id"),
              delivery_id(event_id, other_id, 3).to_string());
    EXPECT_THAT(std::string(*made.headers.find("X-Outbox-Signature")), StartsWith("sha256="));
}

TEST(webhook_ids, are_the_same_for_the_same_and_others_for_others) {
    EXPECT_EQ(child_id(event_id, other_id), child_id(event_id, other_id));
    EXPECT_NE(child_id(event_id, other_id), child_id(other_id, event_id));
    EXPECT_NE(delivery_id(event_id, other_id, 1), delivery_id(event_id, other_id, 2));
    // SHA-256 of both ids and the number, lowest byte first, as `printf … | sha256sum` gives it.
    EXPECT_EQ(delivery_id(event_id, other_id, 1).to_string(),
              "7a35c26a-58e1-5419-9088-a773188d0676");
}

TEST(event_keys, tell_users_and_entities_apart) {
    EXPECT_EQ(event_key("", ""), "");
    EXPECT_NE(event_key("ann", "order 7"), event_key("bob", "order 7"));
    EXPECT_NE(event_key("a", "b"), event_key("ab", ""));
    EXPECT_NE(event_key("a,b", "c"), event_key("a", "b,c"));
    EXPECT_EQ(entity_of(event_key("ann", "order 7")), "order 7");
    EXPECT_EQ(entity_of(event_key("", "3:x,y")), "3:x,y");
    EXPECT_EQ(entity_of("written by hand"), "written by hand");
    EXPECT_EQ(entity_of("99999999999999999999:a,b"), "99999999999999999999:a,b");
}

// As deep as any payload may be, so that a filter sees what was published.
TEST(subscription_sets, tell_an_event_of_any_depth_to_those_who_filter_it) {
    constexpr int depth = 60;
    auto event = paid();
    event.payload =
        R"({"country":"DE","deep":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
    subscription german;
    german.id = other_id;
    german.url = "https://shop.example/hook";
    german.secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    german.filter = R"({"/data/country":["DE"]})";
    auto french = german;
    french.id = event_id;
    french.filter = R"({"/data/country":["FR"]})";
    std::vector<subscription_set::target> all;
    for (const auto& each : {german, french}) {
        const auto made = std::make_shared<const webhook_target>(make_target(each, nullptr, {}));
        ASSERT_EQ(made->trouble, "");
        all.push_back(made);
    }
    const auto told = subscription_set(1, all).of(event, "");
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told.front()->of.id, other_id);
}

}  // namespace
}  // namespace posthorn
