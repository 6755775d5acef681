// The numbers of each named set of defaults, one by one, as the documents have them.
#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/config.hpp"
#include "app/config/core_settings.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

struct number {
    std::string_view key;
    std::string_view value;
};

config with_defaults(std::string_view name) {
    const auto text = fmt::format("[service]\ndefaults = \"{}\"", name);
    auto read = parse_config(text, "p.toml");
    EXPECT_TRUE(read.has_value()) << read.error().what();
    return read.value_or(config{});
}

config_entry entry_of(const config& settings, std::string_view key) {
    const auto all = list_config(settings);
    const auto found = std::ranges::find(all, key, &config_entry::key);
    EXPECT_NE(found, all.end()) << key;
    return found == all.end() ? config_entry{} : *found;
}

void expect_numbers(std::string_view name, const std::vector<number>& wanted) {
    const auto settings = with_defaults(name);
    for (const auto& [key, value] : wanted)
        EXPECT_EQ(entry_of(settings, key).value, value) << key << " of " << name;
}

// Every pause that its retries come to, if chance adds nothing.
std::vector<std::chrono::milliseconds> pauses_of(const config& settings) {
    std::vector<std::chrono::milliseconds> pauses;
    const auto policy = core_settings(settings).retries;
    const double middle = settings.outbox.jitter_factor > 0 ? 0.5 : 0;
    for (std::int32_t retry = 1; retry <= settings.outbox.max_retries; ++retry)
        pauses.push_back(policy.delay(retry, "", middle).value_or(-1ms));
    return pauses;
}

TEST(profiles, messaging_has_the_numbers_of_its_document) {
    expect_numbers("messaging", {{"outbox.poll_interval", "1s"},
                                 {"outbox.max_retries", "5"},
                                 {"outbox.message_ttl", "1d"},
                                 {"outbox.retry", "exponential"},
                                 {"outbox.retry_delay_base", "2s"},
                                 {"outbox.retry_delay_max", "5m"},
                                 {"outbox.jitter_max", "500ms"},
                                 {"outbox.jitter_factor", "0"},
                                 {"outbox.batch_size", "50"},
                                 {"outbox.window", "8"},
                                 {"outbox.sent_retention", "7d"},
                                 {"outbox.dead_retention", "never"},
                                 {"outbox.cleanup_interval", "5m"},
                                 {"inbox.retention", "2d"},
                                 {"inbox.cleanup_interval", "5m"},
                                 {"store.cleanup", "true"},
                                 {"store.url", "sqlite:data/{service}.db"}});
    EXPECT_EQ(pauses_of(with_defaults("messaging")),
              (std::vector<std::chrono::milliseconds>{2s, 4s, 8s, 16s, 32s}));
}

TEST(profiles, messaging_is_what_holds_without_any_name) {
    const auto named = list_config(with_defaults("messaging"));
    const auto unnamed = list_config({});
    ASSERT_EQ(named.size(), unnamed.size());
    for (std::size_t i = 0; i < named.size(); ++i)
        EXPECT_EQ(named[i].value, unnamed[i].value) << named[i].key;
}

TEST(profiles, webhooks_has_the_numbers_of_its_document) {
    expect_numbers("webhooks", {{"outbox.poll_interval", "1s"},
                                {"outbox.max_retries", "5"},
                                {"outbox.retry", "exponential"},
                                {"outbox.retry_delay_base", "5s"},
                                {"outbox.retry_delay_max", "5m"},
                                {"outbox.jitter_max", "0ms"},
                                {"outbox.jitter_factor", "0.2"},
                                {"outbox.batch_size", "50"},
                                {"outbox.request_timeout", "30s"},
                                {"outbox.attempt_timeout", "5m"},
                                {"outbox.window", "10"},
                                {"outbox.order", "park"},
                                {"webhooks.metrics", "outboxnet"},
                                {"otlp.profile", "outboxnet"}});
    EXPECT_EQ(route_setting{}.connections, 4);
    const auto settings = with_defaults("webhooks");
    EXPECT_EQ(pauses_of(settings),
              (std::vector<std::chrono::milliseconds>{5s, 10s, 20s, 40s, 80s}));
    const auto policy = core_settings(settings).retries;
    EXPECT_EQ(policy.delay(1, "", 0), 4s);
    EXPECT_EQ(policy.delay(1, "", 1), 6s);
}

TEST(profiles, store_and_forward_has_the_numbers_of_its_document) {
    expect_numbers("store-and-forward", {{"store.url", "sqlite:data/store-and-forward.db"},
                                         {"outbox.poll_interval", "10s"},
                                         {"outbox.max_retries", "50"},
                                         {"outbox.retry", "fixed"},
                                         {"outbox.retry_delay_base", "30s"},
                                         {"outbox.sent_retention", "7d"}});
    const auto settings = with_defaults("store-and-forward");
    EXPECT_EQ(pauses_of(settings), std::vector<std::chrono::milliseconds>(50, 30s));
    const auto policy = core_settings(settings).retries;
    EXPECT_EQ(policy.delay(7, "", 0.99), 30s);
}

TEST(profiles, integration_events_has_the_numbers_of_its_document) {
    expect_numbers("integration-events", {{"outbox.poll_interval", "5s"},
                                          {"outbox.max_retries", "5"},
                                          {"outbox.retry", "exponential"},
                                          {"outbox.retry_delay_base", "1s"},
                                          {"outbox.retry_delay_max", "1m"},
                                          {"outbox.jitter_max", "0ms"},
                                          {"outbox.jitter_factor", "0.2"},
                                          {"outbox.batch_size", "100"},
                                          {"outbox.window", "1"},
                                          {"outbox.sent_retention", "7d"},
                                          {"outbox.cleanup_interval", "1h"},
                                          {"inbox.retention", "7d"},
                                          {"inbox.cleanup_interval", "1h"},
                                          {"outbox.dead_retention", "30d"},
                                          {"store.cleanup", "true"}});
    EXPECT_EQ(pauses_of(with_defaults("integration-events")),
              (std::vector<std::chrono::milliseconds>{1s, 2s, 4s, 8s, 16s}));
}

TEST(profiles, workflow_has_the_numbers_of_its_document) {
    expect_numbers("workflow", {{"outbox.poll_interval", "30s"},
                                {"outbox.retry", "exponential"},
                                {"outbox.sent_retention", "1d"},
                                {"outbox.dead_retention", "7d"},
                                {"store.vacuum", "weekly"}});
}

TEST(profiles, reach_the_parts_of_a_node) {
    const auto core = core_settings(with_defaults("integration-events"));
    EXPECT_EQ(core.outbox.poll_interval, 5s);
    EXPECT_EQ(core.outbox.lane.batch_rows, 100U);
    EXPECT_EQ(core.outbox.lane.batches_in_flight_max, 1U);
    EXPECT_EQ(core.sending.max_retries, 5);
    EXPECT_EQ(core.retention.sent, 24h * 7);
    EXPECT_EQ(core.retention.interval, 1h);
    EXPECT_EQ(core.inbox.intake.horizon.retention, 24h * 7);
    EXPECT_EQ(core.inbox.purge.interval, 1h);
    EXPECT_TRUE(core.cleanup);
    EXPECT_EQ(core_settings(with_defaults("webhooks")).outbox.lane.attempt_timeout, 5min);
}

TEST(profiles, give_way_to_what_the_file_says_wherever_it_says_it) {
    const auto settings =
        parse_config(
            "[outbox]\nbatch_size = 7\nretry_delay_base = \"3s\"\n[service]\ndefaults = "
            "\"webhooks\"",
            "p.toml")
            .value();
    EXPECT_EQ(entry_of(settings, "outbox.batch_size").value, "7");
    EXPECT_EQ(entry_of(settings, "outbox.batch_size").origin, "p.toml:2");
    EXPECT_EQ(entry_of(settings, "outbox.retry_delay_base").value, "3s");
    EXPECT_EQ(entry_of(settings, "outbox.jitter_factor").value, "0.2");
    EXPECT_EQ(entry_of(settings, "outbox.jitter_factor").origin, "defaults \"webhooks\"");
    EXPECT_EQ(entry_of(settings, "service.defaults").origin, "p.toml:5");
    EXPECT_EQ(entry_of(settings, "outbox.message_ttl").origin, "default");
}

TEST(profiles, say_that_the_retention_of_a_document_was_raised) {
    for (const auto& settings : {config{}, with_defaults("messaging")}) {
        const auto raised = entry_of(settings, "inbox.retention");
        EXPECT_EQ(raised.value, "2d");
        EXPECT_THAT(raised.note, StartsWith("48h instead of the 24h of \"messaging\""));
    }
    EXPECT_EQ(entry_of(with_defaults("integration-events"), "inbox.retention").note, "");
    const auto chosen = parse_config("[inbox]\nretention = \"48h\"", "p.toml").value();
    EXPECT_EQ(entry_of(chosen, "inbox.retention").note, "");
}

TEST(config, says_that_a_store_in_memory_is_not_durable) {
    const auto settings =
        parse_config("[store]\nurl = \"memory:\"\ninbox_url = \"memory:\"", "p.toml").value();
    EXPECT_FALSE(settings.is_durable());
    for (const auto* key : {"store.url", "store.inbox_url"}) {
        EXPECT_EQ(entry_of(settings, key).value, "memory:");
        EXPECT_THAT(entry_of(settings, key).note, StartsWith("not durable"));
    }
    EXPECT_TRUE(config{}.is_durable());
    EXPECT_EQ(entry_of({}, "store.url").note, "");
    EXPECT_EQ(core_settings(settings).database.sync, sqlite::synchronous::off);
    EXPECT_EQ(core_settings(settings).inbox_database->sync, sqlite::synchronous::off);
}

struct memory_case {
    std::string_view text;
    std::string_view problem;  // Empty if there is none.
};

TEST(profiles, remember_a_message_for_longer_than_it_may_be_sent_again) {
    for (const auto& [text, problem] :
         {memory_case{"", ""},
          // Its retries are spent long before it expires.
          memory_case{"[outbox]\nmessage_ttl = \"30d\"", ""},
          memory_case{"[outbox]\nmessage_ttl = \"47h\"\nmax_retries = -1", ""},
          memory_case{
              "[outbox]\nmessage_ttl = \"48h\"\nmax_retries = -1",
              "default: inbox.retention is 2d, but a message may be sent again for up to 2d, "
              "and must be remembered for an hour longer than that: write \"49h\""},
          memory_case{"[outbox]\nmessage_ttl = \"48h\"\nmax_retries = -1\n[inbox]\nretention = "
                      "\"49h\"",
                      ""},
          memory_case{
              "[outbox]\nmessage_ttl = \"30d\"\nretry = \"fixed\"\nretry_delay_base = "
              "\"1h\"\nretry_delay_max = \"1h\"\nmax_retries = 71\nattempt_timeout = "
              "\"1ms\"\n[inbox]\nretention = \"72h\"",
              "p.toml:9: inbox.retention is 3d, but a message may be sent again for up to 3d"},
          memory_case{"[outbox]\nmessage_ttl = \"30d\"\nretry = \"fixed\"\nretry_delay_base = "
                      "\"1h\"\nretry_delay_max = \"1h\"\nmax_retries = 70\nattempt_timeout = "
                      "\"1ms\"\n[inbox]\nretention = \"72h\"",
                      ""}}) {
        const auto read = parse_config(text, "p.toml");
        EXPECT_EQ(read.has_value(), problem.empty()) << text;
        if (!read) EXPECT_THAT(read.error().what(), StartsWith(std::string(problem))) << text;
    }
}

}  // namespace
}  // namespace posthorn
