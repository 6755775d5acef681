// What a program says of webhooks in code, through the public API.
#include <atomic>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <posthorn/error.hpp>
#include <posthorn/node.hpp>

#include "integration/node/fixture.hpp"
#include "security/webhook_signature.hpp"
#include "support/eventually.hpp"
#include "support/webhook_endpoint.hpp"

namespace posthorn::integration {
namespace {

using ::testing::HasSubstr;

constexpr auto one_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

class node_webhooks : public node_test {
protected:
    configuration with(const std::string& settings) {
        const auto file = directory.file("shop.toml");
        std::ofstream(file) << fmt::format(
            "[service]\nid = \"shop\"\n[store]\nurl = \"sqlite:{}\"\n[log]\nlevel = \"error\"\n"
            "[listen]\nhttp = \"\"\nadmin = \"\"\n"
            "[webhooks]\nplain_http = true\nallow = \"127.0.0.1\"\nretry_pauses = \"5ms\"\n{}\n",
            path("shop"), settings);
        return load(file);
    }
    static uuid publish(node& shop, const publish_options& options = {}) {
        uuid id;
        shop.transact([&](transaction& tx) { id = tx.publish("order.paid", "{}", options); });
        return id;
    }
    static bool heard(test::webhook_endpoint& by, std::size_t requests) {
        return test::eventually([&] { return by.requests().size() >= requests; });
    }
    static std::string told(test::webhook_endpoint& by, std::string_view header,
                            std::size_t number = 0) {
        return test::webhook_endpoint::header(by.requests().at(number), header);
    }
    static std::string signed_with(std::string_view secret, std::string_view body = "{}") {
        return sign_outbox(body, parse_outbox_secret(secret).value());
    }
    /// Signed so that the test can tell with which secret.
    webhook_subscriber plain(const std::string& tenant = {}) const {
        return {.url = endpoint.url(),
                .secret = "the stored one, which subscribers know",
                .tenant = tenant,
                .style = "outbox",
                .form = "raw"};
    }

    test::webhook_endpoint endpoint;
    test::webhook_endpoint other;
};

TEST_F(node_webhooks, stamp_tenant_and_user_of_claims_on_an_event) {
    node shop(with("tenant_claim = \"tid\"\nuser_claim = \"sub\""));
    shop.webhook_subscribers({{.url = endpoint.url(), .secret = one_secret, .tenant = "acme"},
                              {.url = other.url(), .secret = one_secret, .tenant = "globex"}});
    shop.start();
    const auto id =
        publish(shop, shop.on_behalf_of({{"sub", "u-7"}, {"tid", "acme"}}, {.entity = "order 7"}));
    ASSERT_TRUE(heard(endpoint, 1));
    EXPECT_EQ(told(endpoint, "webhook-id"), id.to_string());
    EXPECT_TRUE(other.requests().empty());
    EXPECT_EQ(text(shop,
                   "SELECT TenantId || '/' || UserId FROM OutboxMessages WHERE EventType ="
                   " 'order.paid' AND Payload <> ''"),
              "acme/u-7");
    EXPECT_EQ(text(shop, "SELECT order_key FROM outbox_messages WHERE destination = 'webhooks'"),
              "3:u-7,order 7");
}

TEST_F(node_webhooks, take_nothing_from_claims_that_no_key_names) {
    node shop(with(""));
    const auto options = shop.on_behalf_of({{"sub", "u-7"}, {"tid", "acme"}}, {.entity = "o"});
    EXPECT_EQ(options.tenant, "");
    EXPECT_EQ(options.user, "");
    EXPECT_EQ(options.entity, "o");
}

TEST_F(node_webhooks, tell_those_that_the_program_names_and_no_longer_those_before) {
    node shop(with(""));
    shop.webhook_subscribers({{.url = endpoint.url(), .secret = one_secret}});
    shop.start();
    publish(shop);
    ASSERT_TRUE(heard(endpoint, 1));
    shop.webhook_subscribers({{.url = other.url(), .secret = one_secret}});
    const auto second = publish(shop);
    ASSERT_TRUE(heard(other, 1));
    EXPECT_EQ(told(other, "webhook-id"), second.to_string());
    EXPECT_EQ(endpoint.requests().size(), 1U);
    // One mistake, and all stay as they were.
    try {
        shop.webhook_subscribers({{.url = endpoint.url(), .secret = "short"}});
        ADD_FAILURE() << "a secret of five letters was taken";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), error_code::invalid_argument);
        EXPECT_THAT(refused.what(), HasSubstr("subscriber 1"));
    }
    publish(shop);
    EXPECT_TRUE(heard(other, 2));
    EXPECT_EQ(endpoint.requests().size(), 1U);
}

TEST_F(node_webhooks, sign_with_what_the_program_finds_for_a_tenant_and_ask_once) {
    node shop(with(""));
    shop.webhook_subscribers({plain("acme"), plain("globex")});
    std::atomic<int> asked = 0;
    shop.webhook_secrets([&](std::string_view tenant) -> std::optional<std::string> {
        if (tenant != "acme") return std::nullopt;
        ++asked;
        return "what acme's vault holds today";
    });
    shop.start();
    for (int i = 0; i < 3; ++i) {
        publish(shop, {.tenant = "acme"});
        ASSERT_TRUE(heard(endpoint, static_cast<std::size_t>(i) + 1));
    }
    publish(shop, {.tenant = "globex"});
    ASSERT_TRUE(heard(endpoint, 4));
    const auto signature = [&](std::size_t number) {
        return told(endpoint, "X-Outbox-Signature", number);
    };
    EXPECT_EQ(signature(0), signed_with("what acme's vault holds today"));
    EXPECT_EQ(signature(2), signed_with("what acme's vault holds today"));
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(signature(3), signed_with("the stored one, which subscribers know"));
}

TEST_F(node_webhooks, wait_uncharged_while_a_secret_cannot_be_had) {
    node shop(with(""));
    auto one = plain("acme");
    one.max_retries = 0;
    shop.webhook_subscribers({one, plain("globex")});
    std::atomic<int> asked = 0;
    shop.webhook_secrets([&](std::string_view tenant) -> std::optional<std::string> {
        if (tenant != "acme") return std::nullopt;
        ++asked;
        throw std::runtime_error("the vault is sealed");
    });
    shop.start();
    publish(shop, {.tenant = "acme"});
    ASSERT_TRUE(test::eventually([&] { return asked > 0; }));
    publish(shop, {.tenant = "globex"});
    ASSERT_TRUE(heard(endpoint, 1));
    const std::string waiting =
        "FROM outbox_messages WHERE destination LIKE 'webhook:%' AND tenant = 'acme'";
    EXPECT_EQ(text(shop, "SELECT status || retry_count " + waiting), "Pending0");
    EXPECT_EQ(endpoint.requests().size(), 1U);
}

}  // namespace
}  // namespace posthorn::integration
