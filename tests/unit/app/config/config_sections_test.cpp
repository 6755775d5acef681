// The sections in which people choose the names, and the list of admin keys.
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/config.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

config loaded(std::string_view text) {
    auto read = parse_config(text, "p.toml");
    EXPECT_TRUE(read.has_value()) << read.error().what();
    return read.value_or(config{});
}

std::string problem_of(std::string_view text) {
    const auto read = parse_config(text, "p.toml");
    return read ? "no problem" : read.error().what();
}

TEST(config_routes, are_a_url_or_a_table) {
    const auto settings = loaded(R"([routes]
default = "http://{service}:7400"
stock = "unix:///run/stock.sock"
billing = { url = "https://billing/gate", connections = 2, timeout = "5s", signature = "v2" }
)");
    EXPECT_EQ(settings.default_route.value().url, "http://{service}:7400");
    EXPECT_EQ(settings.routes.at("stock").url, "unix:///run/stock.sock");
    const auto& billing = settings.routes.at("billing");
    EXPECT_EQ(billing.url, "https://billing/gate");
    EXPECT_EQ(billing.connections, 2);
    EXPECT_EQ(billing.timeout, 5s);
    EXPECT_EQ(billing.origin, "p.toml:4");
}

TEST(config_routes, to_brokers_say_where_it_puts_messages_and_where_the_password_lies) {
    const auto settings = loaded(R"([routes]
ledger = { url = "amqp://me@rabbit/prod", exchange = "orders", key = "{endpoint}", password = "env:RABBIT" }
audit = { url = "nats://nats", subject = "audit.{endpoint}", password = "file:nats.key" }
)");
    const auto& ledger = settings.routes.at("ledger");
    EXPECT_EQ(ledger.options.at("exchange"), "orders");
    EXPECT_EQ(ledger.password.value().name, "RABBIT");
    for (const auto& entry : list_config(settings))
        if (entry.key == "routes.ledger") {
            EXPECT_EQ(
                entry.value,
                "amqp://me@rabbit/prod, exchange orders, key {endpoint}, password env:RABBIT");
        }
    EXPECT_EQ(settings.routes.at("audit").options.at("subject"), "audit.{endpoint}");
}

TEST(config_routes, to_brokers_refuse_what_cannot_work_and_repeat_no_password) {
    for (const auto* const text :
         {R"(url = "amqp://me:hunter2@rabbit")", R"(url = "amqp://r", password = "hunter2")",
          R"(url = "amqp://r", password = "base64:aHVudGVyMmh1bnRlcjI=")",
          R"(url = "amqp://r", key = "{body}")", R"(url = "nats://n", subject = "a b")",
          R"(url = "nats://n", exchange = "x")", R"(url = "http://h", password = "env:A")",
          R"(url = "nats://n/path")"}) {
        const auto problem = problem_of(fmt::format("[routes]\nx = {{ {} }}", text));
        EXPECT_THAT(problem, StartsWith("p.toml:2: ")) << text;
        EXPECT_THAT(problem, Not(HasSubstr("unter2"))) << text;
        EXPECT_THAT(problem, Not(HasSubstr("aHVudGVy"))) << text;
    }
}

TEST(config_routes, to_brokers_may_name_several_nodes_of_one_cluster_and_nothing_else) {
    const auto settings = loaded(
        "[routes]\nx = { url = \"amqp://me@r1/prod, amqps://me@r2/prod\", exchange = \"orders\" }");
    EXPECT_EQ(settings.routes.at("x").options.at("exchange"), "orders");
    for (const auto* const text : {"amqp://r1, nats://n1", "http://h, amqp://r1",
                                   "nats://n1, http://h", "kafka://k1,k2/t, amqp://r1"})
        EXPECT_THAT(problem_of(fmt::format("[routes]\nx = \"{}\"", text)),
                    HasSubstr("write addresses of one cluster"))
            << text;
    EXPECT_THAT(problem_of(R"([routes]
x = { url = "amqp://r1, amqp://r2", key = "{body}" })"),
                StartsWith("p.toml:2: "));
}

struct bad_case {
    std::string_view text;
    std::string_view message;
};

TEST(config_routes, may_limit_their_lane) {
    const auto settings = loaded(R"([routes]
stock = { url = "http://stock:7400", window = 2, batch = 10, rate = 100, burst = 20 }
billing = { url = "http://billing:7400", rate = 0.5 }
)");
    const auto& stock = settings.routes.at("stock");
    EXPECT_EQ(stock.window, 2);
    EXPECT_EQ(stock.batch, 10);
    EXPECT_EQ(stock.rate, 100.0);
    EXPECT_EQ(stock.burst, 20.0);
    EXPECT_EQ(stock.timeout, std::nullopt);
    const auto& billing = settings.routes.at("billing");
    EXPECT_EQ(billing.window, std::nullopt);
    EXPECT_EQ(billing.rate, 0.5);
}

TEST(config_routes, say_what_is_wrong) {
    const std::array cases{
        bad_case{"[routes]\nx = 5", "p.toml:2: routes.x cannot be 5; write \"http://"},
        bad_case{"[routes]\nx = \"ftp://h\"",
                 "p.toml:2: routes.x: the route 'ftp://h' is not understood; write http://"},
        bad_case{"[routes]\nx = { timeout = \"1s\" }", "p.toml:2: routes.x has no url"},
        bad_case{"[routes]\nx = { url = \"http://h\", timout = \"1s\" }",
                 "p.toml:2: unknown key 'timout' in routes.x; did you mean 'timeout'?"},
        bad_case{"[routes.x]\nurl = \"http://h\"\ntimeout = 5",
                 "p.toml:3: routes.x.timeout cannot be 5; write a duration"},
        bad_case{"[routes.x]\nurl = \"http://h\"\nsignature = \"md5\"",
                 "p.toml:3: routes.x.signature cannot be \"md5\"; write \"v2\", \"rf-hmac\""},
        bad_case{"[signatures]\nx = 7", "p.toml:2: signatures.x cannot be 7; write \"v2\""},
        bad_case{"[routes.default]\nurl = \"http://h\"\nsignature = \"rf-hmac\"",
                 "p.toml:1: routes.default.signature cannot be \"rf-hmac\""},
        bad_case{"[routes.x]\nurl = \"http://h\"\nwindow = 0",
                 "p.toml:1: routes.x.window is out of range; write 1 to 1000 batches"},
        bad_case{"[routes.x]\nurl = \"http://h\"\nbatch = 10001",
                 "p.toml:1: routes.x.batch is out of range; write 1 to 10000 messages"},
        bad_case{"[routes.x]\nurl = \"http://h\"\nrate = -1",
                 "p.toml:1: routes.x.rate is out of range; write messages a second"},
        bad_case{"[routes.x]\nurl = \"http://h\"\nburst = nan",
                 "p.toml:1: routes.x.burst is out of range; write a number of messages"},
        bad_case{"[routes.x]\nurl = \"http://h\"\nconnections = 0",
                 "p.toml:1: routes.x.connections cannot be 0; write 1 to 64"},
    };
    for (const auto& [text, message] : cases)
        EXPECT_THAT(problem_of(text), StartsWith(std::string(message))) << text;
}

constexpr std::string_view key_32 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

TEST(config_secrets, are_one_or_several_and_may_have_dates) {
    const auto settings = loaded(fmt::format(R"([secrets]
stock = "env:STOCK"
billing = ["file:keys/billing", {{ secret = "base64:{}", until = "2026-03-01T00:00:00Z", revoked = true }}]
)",
                                             key_32));
    const auto& stock = settings.secrets.at("stock");
    ASSERT_EQ(stock.size(), 1U);
    EXPECT_EQ(stock[0].where, secret_setting::kind::environment);
    EXPECT_EQ(stock[0].name, "STOCK");
    const auto& billing = settings.secrets.at("billing");
    ASSERT_EQ(billing.size(), 2U);
    EXPECT_EQ(billing[0].name, "keys/billing");
    EXPECT_EQ(billing[1].value.reveal().size(), 32U);
    EXPECT_EQ(billing[1].until, parse_iso8601("2026-03-01T00:00:00Z"));
    EXPECT_TRUE(billing[1].revoked);
    EXPECT_EQ(billing[1].origin, "p.toml:3");
}

TEST(config_secrets, are_not_shown_where_they_are_listed) {
    const auto settings =
        loaded(fmt::format("[secrets]\nstock = [\"base64:{}\", \"env:OLD\"]", key_32));
    const auto entries = list_config(settings);
    EXPECT_EQ(entries.back().key, "secrets.stock");
    EXPECT_EQ(entries.back().value, "base64:(hidden), env:OLD");
    EXPECT_EQ(entries.back().origin, "p.toml:2");
}

TEST(config_secrets, are_not_quoted_where_they_do_not_belong) {
    for (const std::string_view text :
         {"[routes]\nx = \"base64:canarycanary\"", "[routes]\nx = \"ftp://me:canary@h\"",
          "[routes]\nx = { url = \"http://h\", signature = \"base64:canary\" }",
          "[signatures]\nx = \"base64:canary\"", "[handlers]\nx = \"base64:canary\"",
          "[admin]\nkeys = [\"phk_canary\"]", "[store]\nurl = \"mysql://me:canary@h/d\"",
          "[log]\nlevel = \"base64:canary\"", "[log]\n\"base64:canary\" = 1",
          "[\"base64:canary\"]\nx = 1"}) {
        const auto problem = problem_of(text);
        EXPECT_THAT(problem, StartsWith("p.toml:")) << text;
        EXPECT_THAT(problem, Not(HasSubstr("canary"))) << text;
    }
    const auto entries = list_config(loaded("[routes]\nx = \"http://h:1/base64:canary\""));
    EXPECT_EQ(entries.back().value, "http://h:1/base64:(hidden)");
}

TEST(config_secrets, are_not_quoted_when_they_are_wrong) {
    for (const std::string_view value :
         {R"("canary")", R"("base64:canary")", R"("base64:Y2FuYXJ5")", R"(["canary"])", "[]", "7",
          R"({ secret = "canary" })", R"({ secret = "env:X", from = "canary" })",
          R"({ from = "2026-03-01T00:00:00Z" })", R"("env:")", R"({ secret = ["canary"] })"}) {
        const auto problem = problem_of(fmt::format("[secrets]\nx = {}", value));
        EXPECT_THAT(problem, StartsWith("p.toml:2: ")) << value;
        EXPECT_THAT(problem, Not(HasSubstr("canary"))) << value;
        EXPECT_THAT(problem, Not(HasSubstr("Y2Fu"))) << value;
        EXPECT_THAT(problem, HasSubstr("; write ")) << value;
    }
}

TEST(config_secrets, of_features_are_not_shown_where_their_place_belongs) {
    const auto shown = [](std::string_view value) {
        const auto entries = list_config(loaded(fmt::format("[webhooks]\nkey = \"{}\"", value)));
        return std::ranges::find(entries, "webhooks.key", &config_entry::key)->value;
    };
    EXPECT_THAT(shown("env:WEBHOOKS_KEY"), HasSubstr("env:WEBHOOKS_KEY"));
    for (const auto* value : {"env:Canary/9f+x==", "base64:canary", "env:base64:canary"})
        EXPECT_THAT(shown(value), Not(HasSubstr("anary"))) << value;
}

TEST(config_handlers, are_sql_or_http_or_a_queue) {
    const auto settings = loaded(R"toml([handlers]
OrderApproved = "sql:INSERT INTO approvals VALUES (:orderId)"
Charge = { run = "http://127.0.0.1:9000/charge", lease = "30s" }
Ship = "queue"
)toml");
    const auto& approved = settings.handlers.at("OrderApproved");
    EXPECT_EQ(approved.what, handler_setting::kind::sql);
    EXPECT_EQ(approved.text, "INSERT INTO approvals VALUES (:orderId)");
    const auto& charge = settings.handlers.at("Charge");
    EXPECT_EQ(charge.what, handler_setting::kind::http);
    EXPECT_EQ(charge.text, "http://127.0.0.1:9000/charge");
    EXPECT_EQ(charge.lease, 30s);
    EXPECT_EQ(settings.handlers.at("Ship").what, handler_setting::kind::feature);
    EXPECT_EQ(settings.handlers.at("Ship").text, "queue");
}

TEST(config_handlers, may_have_a_query_that_is_not_shown) {
    const auto settings = loaded("[handlers]\nA = \"http://h:1/p?token=canary\"\n");
    EXPECT_EQ(settings.handlers.at("A").text, "http://h:1/p?token=canary");
    for (const auto& entry : list_config(settings))
        EXPECT_THAT(entry.value, Not(HasSubstr("canary")));
    EXPECT_THAT(
        problem_of("[handlers]\nA = \"http://u:canary@h/p\"\n"),
        testing::AllOf(StartsWith("p.toml:2: handlers.A is not a URL"), Not(HasSubstr("canary"))));
}

TEST(config_handlers, are_written_for_responses_in_the_same_forms) {
    const auto settings = loaded("[responses]\nCharge = \"queue\"\n");
    EXPECT_EQ(settings.responses.at("Charge").text, "queue");
    EXPECT_TRUE(settings.handlers.empty());
    EXPECT_THAT(problem_of("[responses]\nA = \"sql:\""),
                StartsWith("p.toml:2: responses.A cannot be \"sql:\"; write"));
}

TEST(config_handlers, say_what_is_wrong) {
    const std::array cases{
        bad_case{"[handlers]\nA = \"shell:rm\"",
                 "p.toml:2: handlers.A cannot be \"shell:rm\"; write \"sql:"},
        bad_case{"[handlers]\nA = \"sql:\"", "p.toml:2: handlers.A cannot be \"sql:\"; write"},
        bad_case{"[handlers]\nA = \"unix:///x\"", "p.toml:2: handlers.A cannot be"},
        bad_case{"[handlers]\nA = \"http://\"", "p.toml:2: handlers.A cannot be"},
        bad_case{"[handlers]\nA = []", "p.toml:2: handlers.A cannot be an array; write"},
        bad_case{"[handlers]\nA = { limit = \"1s\" }",
                 "p.toml:2: handlers.A cannot be \"\"; write"},
        bad_case{"[handlers]\nA = { run = \"queue\", limit = \"0s\" }",
                 "p.toml:2: handlers.A can have no time of 0"},
        bad_case{"[handlers]\nA = { run = \"queue\", leese = \"1s\" }",
                 "p.toml:2: unknown key 'leese' in handlers.A; did you mean 'lease'?"},
    };
    for (const auto& [text, message] : cases)
        EXPECT_THAT(problem_of(text), StartsWith(std::string(message))) << text;
}

TEST(config_admin_keys, have_a_name_a_role_and_a_hash) {
    const std::string hash = "sha256:" + std::string(64, 'a');
    const auto settings = loaded(fmt::format(
        "[admin]\nkeys = [\n {{ name = \"desk\", role = \"operator\", hash = \"{0}\" }},\n"
        " {{ name = \"eyes\", role = \"viewer\", hash = \"{0}\", payloads = true,"
        " secrets = true, made = \"2026-03-01T00:00:00Z\" }}]",
        hash));
    ASSERT_EQ(settings.admin.keys.size(), 2U);
    EXPECT_EQ(settings.admin.keys[0].name, "desk");
    EXPECT_FALSE(settings.admin.keys[0].payloads);
    EXPECT_EQ(settings.admin.keys[1].origin, "p.toml:4");
    EXPECT_TRUE(settings.admin.keys[1].payloads);
    EXPECT_FALSE(settings.admin.keys[0].secrets);
    EXPECT_TRUE(settings.admin.keys[1].secrets);
    EXPECT_FALSE(settings.admin.keys[0].made);
    EXPECT_EQ(settings.admin.keys[1].made, parse_iso8601("2026-03-01T00:00:00Z"));

    const auto problem = [&](std::string_view fields) {
        return problem_of(fmt::format("[admin]\nkeys = [{{ {} }}]", fields));
    };
    EXPECT_THAT(problem("role = \"viewer\""), HasSubstr("has no name"));
    EXPECT_THAT(problem("name = \"a\", made = \"lately\""), HasSubstr("made is not a time"));
    EXPECT_THAT(problem("name = \"a\", role = \"root\""),
                HasSubstr("cannot be \"root\"; write \"viewer\", \"operator\" or \"worker\""));
    const auto bare = problem("name = \"a\", role = \"viewer\", hash = \"canary\"");
    EXPECT_THAT(bare, StartsWith("p.toml:2: the hash of admin key 'a' is not one"));
    EXPECT_THAT(bare, Not(HasSubstr("canary")));
    EXPECT_THAT(problem_of("[admin]\nkeys = \"x\""),
                HasSubstr("admin.keys cannot be a text; write a list"));
    const auto twice = fmt::format("{{ name = \"a\", role = \"viewer\", hash = \"{}\" }}", hash);
    EXPECT_THAT(problem_of(fmt::format("[admin]\nkeys = [{0}, {0}]", twice)),
                HasSubstr("are called 'a'"));
}

TEST(config_admin_proxy, needs_a_secret_before_it_may_name_anyone) {
    const auto secret = fmt::format("proxy_secret = \"sha256:{}\"\n", std::string(64, 'a'));
    const std::string header = "proxy_user_header = \"X-Forwarded-User\"\n";
    const auto settings =
        loaded("[admin]\n" + secret + header +
               "proxy_users = [{ name = \"ann\", role = \"operator\", payloads = true,"
               " secrets = true },"
               " { name = \"*\", role = \"viewer\" }]");
    ASSERT_EQ(settings.admin.proxy_users.size(), 2U);
    EXPECT_EQ(settings.admin.proxy_users[0].role, "operator");
    EXPECT_TRUE(settings.admin.proxy_users[0].payloads);
    EXPECT_TRUE(settings.admin.proxy_users[0].secrets);
    EXPECT_FALSE(settings.admin.proxy_users[1].secrets);

    EXPECT_THAT(problem_of("[admin]\n" + header), HasSubstr("needs admin.proxy_secret"));
    EXPECT_THAT(problem_of("[admin]\n" + secret + "proxy_user_header = \"a b\""),
                HasSubstr("is not the name of a header"));
    EXPECT_THAT(problem_of("[admin]\nproxy_users = [{ name = \"a\", role = \"viewer\" }]"),
                HasSubstr("needs admin.proxy_user_header"));
    const auto bare = problem_of("[admin]\nproxy_secret = \"canary\"");
    EXPECT_THAT(bare, HasSubstr("is not a hash"));
    EXPECT_THAT(bare, Not(HasSubstr("canary")));
    const auto users = [&](std::string_view list) {
        return problem_of(fmt::format("[admin]\n{}{}proxy_users = {}", secret, header, list));
    };
    EXPECT_THAT(users("[{ role = \"viewer\" }]"), HasSubstr("has no name"));
    EXPECT_THAT(users("[{ name = \"a\", role = \"root\" }]"), HasSubstr("cannot be \"root\""));
    EXPECT_THAT(users("[{ name = \"a\", role = \"viewer\" }, { name = \"a\", role = \"viewer\" }]"),
                HasSubstr("is twice"));
    EXPECT_THAT(users("\"x\""), HasSubstr("write a list"));
}

TEST(config_inbox_outbox, names_what_the_document_does) {
    const auto read = parse_config(
        "[InboxOutbox]\nOutboxPollingInterval = \"00:01:30\"\nBatchSize = 7\nMaxRetries = 3\n"
        "RetryBaseDelayMilliseconds = 250\nRetryMaxDelayMilliseconds = 900\n"
        "OutboxRetentionDays = 2\nInboxRetentionDays = 9\nCleanupInterval = \"2m\"\n"
        "EnableAutomaticCleanup = false\nEnableDeadLetterQueue = false\n"
        "DeadLetterRetentionDays = 4\nEnableParallelProcessing = true\n"
        "MaxDegreeOfParallelism = 6\n",
        "p.toml");
    ASSERT_TRUE(read.has_value()) << read.error().what();
    using namespace std::chrono;
    EXPECT_EQ(read->outbox.poll_interval, 90s);
    EXPECT_EQ(read->outbox.batch_size, 7);
    EXPECT_EQ(read->outbox.max_retries, 3);
    EXPECT_EQ(read->outbox.retry_delay_base, 250ms);
    EXPECT_EQ(read->outbox.retry_delay_max, 900ms);
    EXPECT_EQ(read->outbox.sent_retention, days{2});
    EXPECT_EQ(read->inbox.retention, days{9});
    EXPECT_EQ(read->outbox.cleanup_interval, 2min);
    EXPECT_EQ(read->inbox.cleanup_interval, 2min);
    EXPECT_FALSE(read->store.cleanup);
    EXPECT_FALSE(read->outbox.dead_letters);
    EXPECT_EQ(read->outbox.dead_retention, days{4});
    EXPECT_EQ(read->outbox.window, 6);
    EXPECT_EQ(read->origin_of("outbox.window"), "p.toml:14");
    EXPECT_EQ(read->service.defaults, defaults_name::integration_events);
}

TEST(config_inbox_outbox, counts_a_degree_only_where_publishing_is_parallel) {
    EXPECT_EQ(parse_config("[InboxOutbox]\nMaxDegreeOfParallelism = 6\n", "p")->outbox.window, 1);
    EXPECT_EQ(parse_config("[InboxOutbox]\nEnableParallelProcessing = true\n", "p")->outbox.window,
              4);
}

TEST(config_inbox_outbox, gives_way_to_defaults_that_the_file_names) {
    const auto read =
        parse_config("[service]\ndefaults = \"workflow\"\n[InboxOutbox]\nBatchSize = 7\n", "p");
    EXPECT_EQ(read->service.defaults, defaults_name::workflow);
    EXPECT_EQ(read->outbox.batch_size, 7);
}

template <class T>
T forward_value(const config& settings, const std::string& key) {
    return std::get<T>(settings.features.at(key));
}

TEST(config_store_and_forward, names_what_the_document_does) {
    const auto read = parse_config(
        "[StoreAndForward]\nSqliteDbPath = \"./data/site.db\"\nReplicationEnabled = true\n"
        "DefaultRetryInterval = \"00:01:30\"\nDefaultMaxRetries = 0\n"
        "RetryTimerInterval = \"5s\"\n"
        "[OperationTracking]\nConnectionString = \"Data Source=site-tracking.db\"\n"
        "RetentionDays = 3\n",
        "p.toml");
    ASSERT_TRUE(read.has_value()) << read.error().what();
    using std::chrono::milliseconds;
    EXPECT_EQ(read->store.url.path, "./data/site.db");
    EXPECT_EQ(read->outbox.poll_interval, std::chrono::seconds{5});
    EXPECT_EQ(forward_value<milliseconds>(*read, "forward.retry_interval"),
              std::chrono::seconds{90});
    EXPECT_EQ(forward_value<std::int64_t>(*read, "forward.max_retries"), 0);
    EXPECT_EQ(forward_value<milliseconds>(*read, "forward.tracking_kept"), std::chrono::days{3});
    EXPECT_EQ(read->origin_of("forward.max_retries"), "p.toml:5");
}

TEST(config_store_and_forward, brings_the_defaults_of_its_document) {
    const auto read = parse_config("[StoreAndForward]\n", "p");
    ASSERT_TRUE(read.has_value()) << read.error().what();
    EXPECT_EQ(read->service.defaults, defaults_name::store_and_forward);
    EXPECT_EQ(read->store.url.path, "data/store-and-forward.db");
    EXPECT_EQ(read->outbox.poll_interval, std::chrono::seconds{10});
}

TEST(config_store_and_forward, refuses_a_name_that_the_document_does_not_have_and_wrong_values) {
    const auto why = [](const std::string& line, const std::string& section = "StoreAndForward") {
        const auto read = parse_config("[" + section + "]\n" + line + "\n", "p");
        return read ? std::string() : read.error().what();
    };
    EXPECT_THAT(why("DefaultMaxRetry = 3"), HasSubstr("did you mean 'DefaultMaxRetries'"));
    EXPECT_THAT(why("DefaultMaxRetries = \"many\""),
                HasSubstr("StoreAndForward.DefaultMaxRetries"));
    EXPECT_THAT(why("DefaultRetryInterval = \"soon\""), HasSubstr("00:00:05"));
    EXPECT_THAT(why("ReplicationEnabled = \"x\""), HasSubstr("ReplicationEnabled"));
    EXPECT_THAT(why("RetentionDays = -1", "OperationTracking"),
                HasSubstr("OperationTracking.RetentionDays"));
}

}  // namespace
}  // namespace posthorn
