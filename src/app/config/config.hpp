#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/pluggable.hpp>

#include "app/config/config_value.hpp"
#include "app/config/settings.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "feature/settings.hpp"
#include "outbox/upkeep/vacuum.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "transport/host_port.hpp"

namespace posthorn {

/// Everything a node is told; each member's initial value is its documented default.
///
/// A new key is a member here and a line in the table of config_keys.cpp. Sections in which people
/// choose the names are read by a file each: config_routes.cpp, config_secrets.cpp and so on.
struct config {
    struct {
        std::string id = "posthorn";
        std::string urls;  // Separated by commas.
        defaults_name defaults = defaults_name::messaging;
        node_parts parts = node_parts::both;
    } service;
    struct {
        database_url url{"data/{service}.db"};
        std::optional<database_url> inbox_url;
        std::string schema = "outbox";  // On a server.
        std::int64_t transactions = 8;  // Likewise.
        sqlite::synchronous synchronous = sqlite::synchronous::full;
        bool shared = true;
        bool cleanup = true;
        std::optional<std::chrono::milliseconds> changes_retention = std::chrono::days{7};
        vacuum_mode vacuum = vacuum_mode::incremental;
        byte_size disk_low_water{std::size_t{64} << 20};
        byte_size ballast{std::size_t{16} << 20};
    } store;
    struct {
        std::filesystem::path folder;  // No backups if empty.
        std::chrono::milliseconds every = std::chrono::hours{1};
        std::chrono::milliseconds keep = std::chrono::days{7};
    } backup;
    struct {
        std::optional<host_port> http = host_port{"127.0.0.1", 7400};
        std::optional<host_port> admin = host_port{"127.0.0.1", 7401};
        std::optional<host_port> grpc;
        std::filesystem::path unix_socket;  // None if empty.
        std::string pipe;                   // Likewise; `{service}` stands for the service's id.
    } listen;
    struct {
        std::filesystem::path certificate;  // Plain HTTP if empty.
        std::filesystem::path key;
        std::filesystem::path authority;
        bool mutual = false;
    } tls;
    struct {
        std::chrono::milliseconds poll_interval = std::chrono::seconds{1};
        std::int64_t max_retries = 5;
        std::chrono::milliseconds message_ttl = std::chrono::hours{24};
        retry_kind retry = retry_kind::exponential;
        std::chrono::milliseconds retry_delay_base = std::chrono::seconds{2};
        std::chrono::milliseconds retry_delay_max = std::chrono::minutes{5};
        std::chrono::milliseconds jitter_max{500};
        double jitter_factor = 0;
        order_policy order = order_policy::park;
        std::string tenant;  // Of all if empty.
        std::string timer;   // Fields of cron; messages are sent as they come if empty.
        std::int64_t timer_batch = 50;
        std::int64_t batch_size = 50;
        std::int64_t window = 8;
        double rate = 0;
        double burst = 0;
        std::chrono::milliseconds request_timeout = std::chrono::seconds{30};
        std::chrono::milliseconds attempt_timeout = std::chrono::seconds{30};
        std::optional<std::chrono::milliseconds> sent_retention = std::chrono::days{7};
        std::optional<std::chrono::milliseconds> dead_retention;  // None: never deleted.
        bool dead_letters = true;
        bool expire_dead = false;
        sql_setting on_dead{};  // What is done about one that was given up; nothing if empty.
        sql_setting on_expired{};
        std::optional<std::chrono::milliseconds> expired_retention = std::chrono::days{30};
        std::optional<std::chrono::milliseconds> resolved_retention = std::chrono::days{7};
        std::chrono::milliseconds cleanup_interval = std::chrono::minutes{5};
        std::chrono::milliseconds drain_timeout = std::chrono::seconds{10};
    } outbox;
    struct {
        std::chrono::milliseconds retention = std::chrono::hours{48};
        std::chrono::milliseconds cleanup_interval = std::chrono::minutes{5};
    } inbox;
    struct {
        posthorn::hmac_algorithm hmac_algorithm = posthorn::hmac_algorithm::hmac_sha256;
    } security;
    struct {
        std::vector<admin_key_setting> keys;
        std::string proxy_secret{};       // `sha256:` and 64 hexadecimal digits.
        std::string proxy_user_header{};  // None if empty.
        std::vector<proxy_user_setting> proxy_users{};
    } admin;
    struct {
        std::vector<desk_node_setting> nodes;
        std::chrono::milliseconds nodes_every = std::chrono::seconds{60};
        std::chrono::milliseconds nodes_timeout = std::chrono::seconds{5};
    } desk;
    struct {
        byte_size body{(std::size_t{1024} + 64) * 1024};
        byte_size headers{std::size_t{16} * 1024};
        byte_size payload{std::size_t{1} << 20};
        byte_size message_headers{std::size_t{16} << 10};
        std::int64_t name = 255;
        std::int64_t text = 1024;
        std::int64_t depth = 64;
        std::int64_t messages_in_batch = 1000;
        std::int64_t connections = 1024;
        byte_size unknown_bodies{std::size_t{64} * 1024 * 1024};
        std::int64_t requests_at_work = 256;
        std::chrono::milliseconds header_timeout = std::chrono::seconds{10};
        std::chrono::milliseconds idle_timeout = std::chrono::seconds{60};
        byte_size answer{std::size_t{4} * 1024 * 1024};
    } limits;
    struct {
        log_level level = log_level::info;
        log_format format = log_format::text;
    } log;

    /// What [InboxOutbox] says of `outbox.window`.
    struct {
        bool parallel = false;
        std::int64_t degree = 4;
    } inbox_outbox;

    std::map<std::string, route_setting, std::less<>> routes;
    std::optional<route_setting> default_route;
    std::map<std::string, std::vector<secret_setting>, std::less<>> secrets;
    std::map<std::string, signature_setting, std::less<>> signatures;
    std::map<std::string, handler_setting, std::less<>> handlers;
    std::map<std::string, handler_setting, std::less<>> responses;
    /// Keys of features' sections that were set, such as `queue.lease`.
    std::map<std::string, feature_value, std::less<>> features;

    /// The file that it was read from; empty if there was none.
    std::filesystem::path file;
    /// The folder of the file, which relative paths begin at; empty for the current one.
    std::filesystem::path folder;
    /// Where each key was set, such as `posthorn.toml:3`, or `defaults "webhooks"`; keys that hold
    /// the default of all are missing.
    std::map<std::string, std::string, std::less<>> origins;

    /// A path as the configuration means it.
    [[nodiscard]] std::string path_of(const std::filesystem::path& written) const;
    /// The name of the pipe to listen on, `{service}` replaced; empty if there is none.
    [[nodiscard]] std::string pipe_name() const;
    /// The URLs by which others may mean this service.
    [[nodiscard]] std::vector<std::string> service_urls() const;
    /// How requests from and to a peer are signed.
    [[nodiscard]] signature_scheme scheme_of(std::string_view peer) const;
    /// Whether all that is promised outlives the process.
    [[nodiscard]] bool is_durable() const {
        return !store.url.in_memory && !(store.inbox_url && store.inbox_url->in_memory);
    }
    /// The database, `{service}` replaced; empty if it is in memory and not made.
    [[nodiscard]] std::string path_of(const database_url& url) const;
    /// The database, for people: without a password.
    [[nodiscard]] std::string shown_database() const;
    [[nodiscard]] std::string origin_of(std::string_view key) const;  // "default" if not set.
    /// The same failure, which now says where the key that led to it stands.
    [[nodiscard]] error at_key(std::string_view key, const error& why) const;
};

/// One key, for those who list them: `posthorn config show`, the documentation, the tests.
struct config_entry {
    std::string key;  // section.name
    std::string_view type;
    std::string_view doc;
    std::string value;   // Secrets are left out.
    std::string origin;  // "default", or as in `config::origins`.
    std::string note;    // What a person should know about this value; mostly empty.
};

/// The keys with fixed names.
[[nodiscard]] std::span<const std::string_view> config_keys();
/// The fixed keys, then what the file adds under names of its own choice.
[[nodiscard]] std::vector<config_entry> list_config(const config& settings);

/// Sets one key. `origin` says where the value was written and begins the message of a failure,
/// which is always `invalid_configuration`: `origin: what is wrong; what to write instead`.
result<> set_config(config& settings, std::string_view key, const config_value& value,
                    std::string_view origin);

/// The same failure for a section that does not exist.
[[nodiscard]] error unknown_section(std::string_view section, std::string_view origin);
[[nodiscard]] bool is_config_section(std::string_view section);

/// The least that `inbox.retention` may be.
inline constexpr std::chrono::milliseconds inbox_retention_min = std::chrono::hours{48};

/// How long a message like those that this service sends must be remembered by its receiver: for
/// as long as it may be sent again, in full hours, and one more.
[[nodiscard]] std::chrono::milliseconds inbox_retention_needed(const config& settings);

/// Puts the numbers of a named set of defaults where they belong. What is below the least that is
/// safe is raised; `note_on` says so.
void apply_defaults(config& settings, defaults_name name);
/// What a person should know about the value of a key; mostly empty.
[[nodiscard]] std::string note_on(const config& settings, std::string_view key);

/// What no single key shows: values out of their range, or that need another one.
[[nodiscard]] result<> check_config(const config& settings);
/// Whether gRPC may listen where it is to: the one check that a program's own options need too.
[[nodiscard]] result<> check_grpc(const config& settings);

/// Reads a TOML file over the defaults that it names in `service.defaults`. All that is wrong with
/// it comes in one message, a line each, in the order of the file.
[[nodiscard]] result<config> load_config(const std::filesystem::path& file);
/// The same from text; `name` stands for the file in messages.
[[nodiscard]] result<config> parse_config(std::string_view text, std::string_view name);

}  // namespace posthorn
