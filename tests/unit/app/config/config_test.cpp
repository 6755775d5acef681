#include "app/config/config.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace posthorn {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string problem_of(std::string_view text) {
    const auto loaded = parse_config(text, "p.toml");
    if (loaded) return "no problem";
    EXPECT_EQ(loaded.error().code(), error_code::invalid_configuration);
    return loaded.error().what();
}

TEST(config, holds_the_documented_defaults_without_a_file) {
    const auto settings = parse_config("", "empty.toml").value();
    EXPECT_EQ(settings.service.id, "posthorn");
    EXPECT_EQ(settings.path_of(settings.store.url), "data/posthorn.db");
    EXPECT_EQ(settings.security.hmac_algorithm, hmac_algorithm::hmac_sha256);
    EXPECT_EQ(to_string(settings.listen.http.value()), "127.0.0.1:7400");
    EXPECT_EQ(to_string(settings.listen.admin.value()), "127.0.0.1:7401");
    EXPECT_EQ(settings.log.level, log_level::info);
    EXPECT_EQ(settings.log.format, log_format::text);
    EXPECT_TRUE(settings.origins.empty());
}

TEST(config, takes_every_key_from_the_file) {
    const auto settings = parse_config(R"(
[service]
id = "orders"
defaults = "workflow"
parts = "inbox"
urls = "https://orders.example"
[store]
url = "sqlite:{service}/x.db"
schema = "mail"
transactions = 3
inbox_url = "sqlite:/in.db"
synchronous = "normal"
shared = false
cleanup = false
changes_retention = "1d"
vacuum = "weekly"
disk_low_water = "1MiB"
ballast = 0
[backup]
folder = "copies"
every = "2h"
keep = "3d"
[listen]
http = "0.0.0.0:80"
admin = "[::1]:0"
unix = "/run/x.sock"
pipe = "rf-x"
grpc = "127.0.0.1:7402"
[tls]
certificate = "c.pem"
key = "k.pem"
authority = "a.pem"
mutual = true
[outbox]
poll_interval = "2s"
max_retries = -1
message_ttl = "3d"
retry = "fixed"
retry_delay_base = "50ms"
retry_delay_max = "1m"
jitter_max = "0ms"
jitter_factor = 0.5
batch_size = 7
window = 3
rate = 100
burst = 20
order = "pass"
tenant = "acme"
timer = "0 */5 * * * *"
timer_batch = 9
request_timeout = "29s"
attempt_timeout = "31s"
sent_retention = "1h"
cleanup_interval = "2m"
dead_retention = "90d"
dead_letters = false
expire_dead = true
on_dead = "sql:DELETE FROM orders WHERE id = :_correlation_id"
on_expired = "sql:SELECT 1"
expired_retention = "never"
resolved_retention = "2d"
drain_timeout = "0s"
[inbox]
retention = "73h"
cleanup_interval = "1m"
[security]
hmac_algorithm = "HMAC-SHA256"
[admin]
proxy_secret = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
proxy_user_header = "X-User"
proxy_users = [{ name = "ann", role = "viewer" }]
[desk]
nodes = [{ name = "stock", url = "http://10.0.0.2:7401", key = "env:STOCK_KEY" }]
nodes_every = "30s"
nodes_timeout = "2s"
[limits]
body = "2MiB"
headers = 4096
payload = "3MiB"
message_headers = "2KiB"
name = 100
text = 200
depth = 8
messages_in_batch = 10
connections = 11
unknown_bodies = "32MiB"
requests_at_work = 12
header_timeout = "1s"
idle_timeout = "2s"
answer = "8MiB"
[log]
level = "warn"
format = "json"
[queue]
max_attempts = 3
alarm_after = "1h"
[history]
enabled = false
names_max = 3
[webhooks]
key = "env:SEALING_KEY"
key_before = "env:OLD_SEALING_KEY"
strict = true
plain_http = true
allow = "10.0.0.0/8"
authorities = "/etc/ours.pem"
name_servers = "10.0.0.53:53"
retry_pauses = "1s, 2s"
life = "1d"
secret_overlap = "1h"
attempts_kept = "2d"
disable_after = "1d"
disable_backlog = 50
alerts = "operations"
subscribers = [{ url = "https://a.example/", secret = "env:A", headers = { X = "y" } }]
portal = true
portal_embedders = "https://app.example"
connections_max = 5
tenant_secrets = "file:/etc/tenants"
secret_cache = "1m"
max_retries = 7
batch = 10
endpoint_requests = 2
metrics = "outboxnet"
tenant_claim = "tid"
user_claim = "sub"
[workflow]
cache_bytes = 1000000
unclaimed_kept = "1d"
code_limit = "30s"
completed_kept = "1d"
cancelled_kept = "1d"
failed_kept = "1d"
signals_kept = "1d"
cleanup_interval = "1m"
verify_every = 0
[forward]
site = "plant 7"
max_retries = 0
retry_interval = "10s"
tracking_kept = "1d"
categories = [{ name = "ExternalSystem", to = "https://erp.example/" }]
max_messages = 10
max_bytes = 1000
max_age = "1d"
when_full = "drop_category"
drop_order = "Notification"
replay_settle_time = "1s"
replay_rate = 12.5
replay_ramp = "10s"
replay_order = "newest"
central = "hq"
central_timeout = "1s"
discard_unreadable = true
first_attempt_wait = "1s"
[centre]
enabled = true
relay_timeout = "1s"
calls_kept = "1d"
[standby]
to = "127.0.0.1:7402"
listen = "127.0.0.1:7403"
key = "env:PAIR"
certificate = "pair.crt"
private_key = "pair.pem"
authority = "ca.crt"
peer_name = "orders.example"
mode = "async"
when_lost = "alone"
patience = "1s"
lag_alarm = "20s"
wal_keep = 1000000000
plain_text = true
archive = "archive"
archive_every = "1s"
archive_base_every = "2d"
archive_keep = "9d"
archive_bytes = 1000000000
[urls]
plain_http = true
allow = "10.0.0.0/8"
authorities = "/etc/ours.pem"
name_servers = "10.0.0.53:53"
timeout = "1s"
connections_max = 5
[otlp]
endpoint = "http://127.0.0.1:4318"
headers = "env:KEY"
certificate = "/etc/collector.pem"
compression = "gzip"
timeout = "1s"
service_name = "shop"
resource = "team=blue"
traces = false
metrics = false
sampler = "always_off"
ratio = 0.5
spans_held = 10
batch = 5
delay = "1s"
interval = "1s"
stop_limit = "1s"
profile = "outboxnet"
)",
                                       "p.toml")
                              .value();
    EXPECT_EQ(settings.service.id, "orders");
    EXPECT_EQ(settings.path_of(settings.store.url), "orders/x.db");
    EXPECT_EQ(settings.listen.http, (host_port{"0.0.0.0", 80}));
    EXPECT_EQ(settings.listen.admin, (host_port{"::1", 0}));
    EXPECT_EQ(settings.outbox.message_ttl, std::chrono::hours{72});
    EXPECT_EQ(settings.limits.body.bytes, 2U << 20U);
    EXPECT_EQ(settings.limits.headers.bytes, 4096U);
    const auto defaults = list_config({});
    const auto written = list_config(settings);
    // URLs cannot be enabled beside tls.mutual.
    constexpr std::array<std::string_view, 3> left_out{"admin.keys", "security.hmac_algorithm",
                                                       "urls.enabled"};
    for (std::size_t i = 0; i < defaults.size(); ++i)
        if (std::ranges::find(left_out, defaults[i].key) == left_out.end()) {
            EXPECT_NE(written[i].value, defaults[i].value) << defaults[i].key;
        }
    EXPECT_EQ(settings.log.level, log_level::warn);
    EXPECT_EQ(settings.log.format, log_format::json);
}

struct bad_case {
    std::string_view text;
    std::string_view message;
};

TEST(config, says_where_what_is_wrong_and_what_to_write_instead) {
    const std::array cases{
        bad_case{"[service]\nid = 5", "p.toml:2: service.id cannot be 5; write a string"},
        bad_case{"[service]\nid = \"\"", "p.toml:2: service.id cannot be \"\"; write a string"},
        bad_case{"[service]\nid = true", "p.toml:2: service.id cannot be true; write"},
        bad_case{"[service]\nid = 1.5", "p.toml:2: service.id cannot be 1.5; write"},
        bad_case{"[service]\nid = [1]", "p.toml:2: service.id cannot be an array; write"},
        bad_case{"[service]\nid = {a=1}", "p.toml:2: service.id cannot be a table; write"},
        bad_case{"[service]\nid = 2026-01-01", "p.toml:2: service.id cannot be a date"},
        bad_case{"[listen]\n\nhttp = \"here\"",
                 "p.toml:3: listen.http cannot be \"here\"; write \"ADDRESS:PORT\", such as"},
        bad_case{"[listen]\nhttp = 7400", "p.toml:2: listen.http cannot be 7400; write"},
        bad_case{
            "[outbox]\non_dead = \"http://127.0.0.1/\"",
            R"(p.toml:2: outbox.on_dead cannot be "http://127.0.0.1/"; write "sql:STATEMENTS")"},
        bad_case{"[log]\nlevel = \"loud\"",
                 "p.toml:2: log.level cannot be \"loud\"; write one of \"trace\", \"debug\""},
        bad_case{"[log]\nformat = \"xml\"",
                 "p.toml:2: log.format cannot be \"xml\"; write \"text\" or \"json\""},
        bad_case{"[backup]\nevery = \"10ms\"", "p.toml:2: backup.every cannot be below 1s"},
        bad_case{"[backup]\nkeep = \"30m\"", "p.toml:2: backup.keep cannot be below 1h"},
        bad_case{
            "[backup]\nfolder = \"b\"\n[store]\nurl = \"sqlite:a/x.db\"\n"
            "inbox_url = \"sqlite:b/x.db\"",
            "p.toml:2: the backups of store.url and store.inbox_url would have the same names"},
        bad_case{"[listen]\nhtpp = \"\"",
                 "p.toml:2: unknown key 'htpp' in [listen]; did you mean 'http'?"},
        bad_case{"[listen]\nxyz = \"\"",
                 "p.toml:2: unknown key 'xyz' in [listen]; write one of: http, admin, unix"},
        bad_case{"\n[lisen]\nhttp = \"\"",
                 "p.toml:2: unknown section [lisen]; did you mean 'listen'?"},
        bad_case{
            "[elsewhere]\n",
            "p.toml:1: unknown section [elsewhere]; write one of: service, store, backup, listen"},
        bad_case{"[store]\nurl = \"postgressql://u:secret@h/d\"",
                 "p.toml:2: store.url cannot be \"postgressql://u:(hidden)@h/d\"; write"},
        bad_case{"[store]\nurl = \"mysql://x\"",
                 "p.toml:2: store.url cannot be \"mysql://x\"; write \"sqlite:PATH\""},
        bad_case{"[store]\nshared = \"true\"",
                 "p.toml:2: store.shared cannot be \"true\"; write true or false, without quotes"},
        bad_case{"[store]\nsynchronous = \"off\"",
                 "p.toml:2: store.synchronous cannot be \"off\"; write \"full\" or \"normal\""},
        bad_case{
            "[outbox]\nbatch_size = \"7\"",
            "p.toml:2: outbox.batch_size cannot be \"7\"; write a whole number without quotes"},
        bad_case{"[outbox]\npoll_interval = 5",
                 "p.toml:2: outbox.poll_interval cannot be 5; write a duration with its unit"},
        bad_case{"[outbox]\npoll_interval = \"5 s\"", "p.toml:2: outbox.poll_interval cannot be"},
        bad_case{"[outbox]\npoll_interval = \"99999999999999d\"", "p.toml:2: outbox.poll_interval"},
        bad_case{"[outbox]\npoll_interval = \"0s\"",
                 "p.toml:2: outbox.poll_interval cannot be below 10ms"},
        bad_case{"[outbox]\nbatch_size = 0",
                 "p.toml:2: outbox.batch_size cannot be 0; write 1 to 10000"},
        bad_case{"[inbox]\nretention = \"1h\"",
                 "p.toml:2: inbox.retention cannot be below 48h, since a repeat"},
        bad_case{"[service]\ndefaults = \"none\"",
                 "p.toml:2: service.defaults cannot be \"none\"; write one of \"messaging\""},
        bad_case{"[service]\nparts = \"none\"",
                 "p.toml:2: service.parts cannot be \"none\"; write \"both\", \"inbox\" or"},
        bad_case{"[service]\nparts = \"outbox\"\n[handlers]\nShip = \"queue\"",
                 "p.toml:4: Ship has a handler, but service.parts = \"outbox\" receives nothing"},
        bad_case{"[outbox]\nretry = \"linear\"",
                 "p.toml:2: outbox.retry cannot be \"linear\"; write \"exponential\" or \"fixed\""},
        bad_case{"[outbox]\njitter_factor = \"0.2\"",
                 "p.toml:2: outbox.jitter_factor cannot be \"0.2\"; write a number without"},
        bad_case{"[outbox]\njitter_factor = 1.5",
                 "p.toml:2: outbox.jitter_factor cannot be 1.5; write 0 to 1"},
        bad_case{"[outbox]\njitter_factor = nan",
                 "p.toml:2: outbox.jitter_factor cannot be nan; write 0 to 1"},
        bad_case{"[outbox]\nmax_retries = 2000000000",
                 "p.toml:2: outbox.max_retries cannot be 2000000000; write -1 to 1000000"},
        bad_case{"[outbox]\ndead_retention = \"forever\"",
                 "p.toml:2: outbox.dead_retention cannot be \"forever\"; write a duration with its "
                 "unit, such as \"24h\" or \"7d\", or \"never\""},
        bad_case{"[outbox]\nexpired_retention = \"10ms\"",
                 "p.toml:2: outbox.expired_retention cannot be below 1s"},
        bad_case{"[store]\nvacuum = \"daily\"",
                 "p.toml:2: store.vacuum cannot be \"daily\"; write \"incremental\", \"weekly\""},
        bad_case{"[limits]\nbody = \"1MB\"",
                 "p.toml:2: limits.body cannot be \"1MB\"; write a size, such as"},
        bad_case{"[limits]\nheaders = \"4GiB\"", "p.toml:2: limits.headers cannot be above 1GiB"},
        bad_case{"[limits]\nidle_timeout = \"36501d\"",
                 "p.toml:2: limits.idle_timeout cannot be \"36501d\"; write a duration"},
        bad_case{"[routes]\nstock = \"http://stöck:1\"", "p.toml:2: routes.stock: the route"},
        bad_case{"[routes]\nstock = \"http://{service}:1\"", "p.toml:2: routes.stock: the route"},
        bad_case{"[limits]\nbody = 9223372036854775807",
                 "p.toml:2: limits.body cannot be 9223372036854775807; write a size"},
        bad_case{"[limits]\nbody = 5", "p.toml:2: limits.body cannot be below 1KiB"},
        bad_case{"[limits]\ndepth = 65", "p.toml:2: limits.depth cannot be 65; write 1 to 64"},
        bad_case{"[limits]\nname = 0", "p.toml:2: limits.name cannot be 0; write 1 to 4096"},
        bad_case{"[limits]\npayload = 5", "p.toml:2: limits.payload cannot be below 1KiB"},
        bad_case{"[limits]\npayload = \"65MiB\"", "p.toml:2: limits.payload cannot be above 64MiB"},
        bad_case{"[service]\nid = \"a b\"", "p.toml:2: service.id holds a character that"},
        bad_case{"[tls]\nkey = \"k.pem\"", "p.toml:2: tls.certificate and tls.key go together"},
        bad_case{"[listen]\ngrpc = \"0.0.0.0:7402\"",
                 "p.toml:2: listen.grpc can be reached by others"},
        bad_case{"[tls]\nmutual = true\ncertificate = \"c\"\nkey = \"k\"\nauthority = \"a\"\n"
                 "[routes]\nx = \"http://h:1\"",
                 "p.toml:7: routes.x has no TLS, but tls.mutual = true"},
        bad_case{"[tls]\nmutual = true\ncertificate = \"c\"\nkey = \"k\"\nauthority = \"a\"\n"
                 "[routes]\ndefault = \"grpc://{service}:1\"",
                 "p.toml:7: routes.default has no TLS, but tls.mutual = true"},
        bad_case{"[tls]\nmutual = true\ncertificate = \"c\"\nkey = \"k\"\nauthority = \"a\"\n"
                 "[urls]\nenabled = true",
                 "p.toml:7: urls.enabled cannot be true with tls.mutual"},
        bad_case{"[service]\nurls = \"https://stock.example, stock\"",
                 "p.toml:2: service.urls: 'stock' is not a URL that a sender could write"},
        bad_case{"[service]\nurls = \"https://sto ck.example\"",
                 "p.toml:2: service.urls: 'https://sto ck.example' is not a URL"},
        bad_case{"id = \"orders\"", "p.toml:1: 'id' stands outside a section; write it below one"},
        bad_case{"listen.htp = \"\"", "p.toml:1: unknown key 'htp' in [listen]; did you mean"},
        bad_case{"[service]\nid = \"a", "p.toml:2: this is not TOML: "},
        bad_case{"[service]\nid = \"a\"\nid = \"b\"", "p.toml:3: this is not TOML: "},
    };
    for (const auto& [text, message] : cases)
        EXPECT_THAT(problem_of(text), StartsWith(std::string(message))) << text;
}

TEST(config, refuses_what_is_nested_deeper_than_any_key) {
    std::string text = "[routes]\na";
    for (int i = 0; i < 3'000; ++i) text += ".a";
    EXPECT_THAT(problem_of(text + " = 1"), StartsWith("p.toml:2: "));
}

TEST(config, lets_grpc_be_reached_by_others_who_show_certificates) {
    constexpr auto files = "certificate = \"c\"\nkey = \"k\"\nauthority = \"a\"\n";
    const auto with = [&](std::string_view mutual) {
        return parse_config(fmt::format("[listen]\ngrpc = \"0.0.0.0:7402\"\n[tls]\n{}{}\n"
                                        "[routes]\nx = \"grpcs://h:1\"\ny = \"https://h:1\"\n"
                                        "z = \"unix:///s\"\n",
                                        files, mutual),
                            "p.toml");
    };
    EXPECT_TRUE(with("mutual = true"));
    EXPECT_FALSE(with("mutual = false"));
}

TEST(config, reports_all_problems_in_the_order_of_the_file) {
    const auto problem = problem_of("[service]\nid = 1\n[log]\nlevel = 2\n[lgo]\n[listen]\nx = 1");
    std::array<std::size_t, 4> at{problem.find("p.toml:2: "), problem.find("\np.toml:4: "),
                                  problem.find("\np.toml:5: "), problem.find("\np.toml:7: ")};
    EXPECT_TRUE(std::ranges::is_sorted(at)) << problem;
    EXPECT_NE(at.back(), std::string::npos) << problem;
}

TEST(config, says_that_a_file_is_missing_or_a_folder) {
    for (const std::string& path :
         {std::string("/nonexistent/p.toml"), std::filesystem::temp_directory_path().string()}) {
        const auto loaded = load_config(path);
        ASSERT_FALSE(loaded.has_value());
        EXPECT_EQ(loaded.error().code(), error_code::invalid_configuration);
        EXPECT_THAT(loaded.error().what(), StartsWith(path + ": there is no such file"));
    }
}

TEST(config, refuses_a_file_of_more_than_4_mib) {
    const test::temporary_directory folder;
    const auto path = folder.file("large.toml");
    std::ofstream(path) << std::string((std::size_t{4} << 20U) + 1, '#');
    const auto loaded = load_config(path);
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().what(), HasSubstr("it has more than 4 MiB"));
    std::ofstream(path) << std::string(std::size_t{4} << 20U, '#');
    EXPECT_TRUE(load_config(path));
}

TEST(config, lists_every_key_with_its_value_and_where_it_came_from) {
    auto settings = parse_config("[log]\nlevel = \"debug\"", "p.toml").value();
    ASSERT_TRUE(set_config(settings, "listen.http", "127.0.0.1:1", "--listen"));
    const auto entries = list_config(settings);
    ASSERT_EQ(entries.size(), config_keys().size());
    const auto show = [&](std::string_view key) {
        const auto found = std::ranges::find(entries, key, &config_entry::key);
        return found->value + " from " + found->origin;
    };
    EXPECT_EQ(show("service.id"), "posthorn from default");
    EXPECT_EQ(show("log.level"), "debug from p.toml:2");
    EXPECT_EQ(show("listen.http"), "127.0.0.1:1 from --listen");
    for (const auto& entry : entries) {
        EXPECT_FALSE(entry.doc.empty()) << entry.key;
        EXPECT_FALSE(entry.type.empty()) << entry.key;
    }
}

TEST(config, reads_back_every_default_as_it_shows_it) {
    for (const auto& entry : list_config({})) {
        config settings;
        config_value value = entry.value;
        if (entry.type == "integer") value = std::int64_t{std::stoll(entry.value)};
        if (entry.type == "number") value = std::stod(entry.value);
        if (entry.type == "boolean") value = entry.value == "true";
        if (entry.type.starts_with("list of")) value = config_list{};
        EXPECT_TRUE(set_config(settings, entry.key, value, "here")) << entry.key;
        EXPECT_EQ(list_config(settings).size(), list_config({}).size());
    }
}

TEST(config, leaves_a_value_alone_that_it_cannot_set) {
    config settings;
    EXPECT_FALSE(set_config(settings, "log.level", "loud", "here"));
    EXPECT_EQ(settings.log.level, log_level::info);
    EXPECT_TRUE(settings.origins.empty());
}

// The example documents every key, with its default.
TEST(config, finds_the_defaults_in_the_example_file) {
    const auto example =
        load_config(std::filesystem::path(POSTHORN_SOURCE) / "posthorn.example.toml");
    ASSERT_TRUE(example.has_value()) << example.error().what();
    const auto defaults = list_config({});
    const auto written = list_config(*example);
    for (std::size_t i = 0; i < defaults.size(); ++i) {
        EXPECT_EQ(written[i].value, defaults[i].value) << defaults[i].key;
        EXPECT_NE(written[i].origin, "default") << defaults[i].key << " is missing";
    }
}

// What it shows of the sections with free names is commented out, without a space after the sign.
TEST(config, finds_examples_that_work_in_the_example_file) {
    std::ifstream stream(std::filesystem::path(POSTHORN_SOURCE) / "posthorn.example.toml");
    std::string all;
    for (std::string line; std::getline(stream, line);) {
        const bool is_example = line.size() > 1 && line[0] == '#' && line[1] != ' ';
        all += (is_example ? line.substr(1) : line) + "\n";
    }
    const auto example = parse_config(all, "example");
    ASSERT_TRUE(example.has_value()) << example.error().what();
    EXPECT_GE(example->routes.size(), 3U);
    EXPECT_TRUE(example->default_route.has_value());
    EXPECT_GE(example->secrets.size(), 2U);
    EXPECT_GE(example->handlers.size(), 3U);
}

// And so does the reference, with a paragraph for each.
TEST(config, finds_every_key_and_its_default_in_the_reference) {
    std::ifstream stream(std::filesystem::path(POSTHORN_SOURCE) /
                         "docs/reference/configuration.md");
    std::ostringstream text;
    text << stream.rdbuf();
    const auto page = text.str();
    const auto defaults = list_config({});
    for (std::size_t i = 0; i < defaults.size(); ++i) {
        const auto& [key, type, doc, value, origin, note] = defaults[i];
        const auto begin = fmt::format("\n`{}` = `", key);
        const auto at = page.find(begin);
        ASSERT_NE(at, std::string::npos) << key << " is missing";
        const auto end = page.find('`', at + begin.size());
        const auto written = page.substr(at + begin.size(), end - at - begin.size());
        const auto read = parse_config(fmt::format("{} = {}", key, written), "page");
        ASSERT_TRUE(read.has_value()) << read.error().what();
        EXPECT_EQ(list_config(*read)[i].value, value) << key;
    }
}

}  // namespace
}  // namespace posthorn
