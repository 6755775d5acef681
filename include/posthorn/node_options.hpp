#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <posthorn/detail/pluggable.hpp>
#include <posthorn/transport.hpp>

namespace posthorn {

/// How failed deliveries are tried again.
struct retry_options {
    std::int32_t retries_max = 5;  // After the first attempt; `retry_for_ever` until it expires.
    /// How long to wait before each: `exponential_backoff`, `fixed_backoff` or a function.
    std::variant<exponential_backoff, fixed_backoff, custom_backoff> backoff{};
};

/// Where a node keeps its messages, beside the service's own tables.
struct store_options {
    /// The service's own SQLite file; made if it is not there. `memory:` for tests: it ends with
    /// the node, and nothing in it is durable. Or `postgresql://…`.
    std::string database{};
    /// A file of its own for the inbox, for a service without business tables: handlers then work
    /// in that one, which never commits together with `transact`. The same file if empty.
    std::string inbox_database{};
    /// Where Posthorn's tables lie in a PostgreSQL database; each service has its own.
    std::string schema = "outbox";
    /// How many of your own transactions run at a time on PostgreSQL, each on a connection of its
    /// own, which is made when it is first wanted; the others wait.
    std::int64_t transactions = 8;
    /// Other processes write the file too, such as a producer with plain SQL: leave them room.
    bool shared = false;
    /// Every promise is past a sync. Without it a power cut can take back what was promised, and
    /// messages can be lost: only for data that may be.
    bool synchronous_full = true;
};

/// Where a node can be reached; nowhere by what is empty.
struct listen_options {
    std::string http{};         // For peers, such as `127.0.0.1:7400`.
    std::string admin{};        // For operators and their tools, likewise.
    std::string unix_socket{};  // The path of a socket, for peers of the same user.
    std::string pipe{};         // A name; `{service}` in it stands for the service's.
    std::string grpc{};  // On this machine alone, such as `127.0.0.1:7402`, but for mutual TLS.
};

/// Files in PEM. With a certificate `listen.http` speaks TLS 1.3 and nothing else.
struct tls_options {
    std::string certificate{};  // The whole chain.
    std::string key{};
    std::string authority{};  // Who vouches for peers; those of the system if empty.
    /// Both sides show a certificate, whose name must be the service's. Needs all three files.
    bool mutual = false;
};

/// How much may be on its way to a destination; zero leaves it as it is for all.
struct lane_limits {
    std::int32_t window = 0;  // Batches at a time.
    std::int32_t batch = 0;   // Messages in one, at most.
    double rate = 0;          // Messages a second.
    double burst = 0;         // Messages at once, after a pause.
};

/// What a node is told in code. It is a value, so its functions are copied with it.
struct node_options {
    std::string service;  // This service's name: what others send to.
    store_options store{};
    /// Where destinations are: `http://HOST:PORT`, `https://…`, `grpc://HOST:PORT`, `grpcs://…`,
    /// `unix:///PATH`, `pipe://NAME`, `inprocess:` for another node of this process, or a scheme of
    /// `transports`.
    std::map<std::string, std::string, std::less<>> routes{};
    /// For destinations without one of their own, whose name replaces `{service}`; none if empty.
    std::string default_route{};
    /// For destinations of `routes` that are to get more or less than others.
    std::map<std::string, lane_limits, std::less<>> lanes{};
    listen_options listen{};
    tls_options tls{};
    /// What is shared with each peer outside of this process: `base64:…`, `env:NAME` or
    /// `file:PATH`. The first signs, all verify.
    std::map<std::string, std::vector<std::string>, std::less<>> secrets{};
    /// How a peer signs that knows an older way alone: `rf-hmac` or `x-workflow`.
    std::map<std::string, std::string, std::less<>> signatures{};
    /// The application's own ways to bring messages somewhere, by the scheme of their routes.
    std::map<std::string, transport_function, std::less<>> transports{};
    std::chrono::milliseconds message_ttl = std::chrono::hours{24};
    retry_options retry{};
    /// Without an inbox nothing is received, without an outbox nothing is sent.
    node_parts parts = node_parts::both;
    std::shared_ptr<const posthorn::serializer>
        serializer{};                                       // Of described messages; JSON if empty.
    wall_clock_function wall_clock{};                       // The machine's if empty.
    std::string log_level = "warn";                         // trace, debug, info, warn, error.
    std::function<void(std::string_view line)> log_sink{};  // Standard error if empty.
    /// Called when the node cannot go on safely, after an error is logged; the process is aborted
    /// when it returns.
    std::function<void(const std::string& why)> on_fail_stop{};
};

struct config;

/// Options together with what only a file or a named set of defaults says:
///
///     auto from = posthorn::load("orders.toml");
///     from.options.log_level = "info";
///     posthorn::node node{std::move(from)};
class configuration {
public:
    configuration(node_options known, std::shared_ptr<const config> rest);

    /// What is changed in them counts more than the file.
    node_options options;

private:
    friend class node;
    std::shared_ptr<const config> rest_;
};

/// What a configuration file says: `posthorn::node node{posthorn::load("orders.toml")};`
///
/// The file's `[handlers]` are added to those of the code. Throws
/// `error_code::invalid_configuration` with every mistake and its line.
[[nodiscard]] configuration load(const std::string& file);

/// The numbers of a named set of defaults: `messaging`, `webhooks`, `store-and-forward`,
/// `integration-events` or `workflow`. Give its options a service and a database.
/// `error_code::invalid_argument` for another name.
[[nodiscard]] configuration defaults(std::string_view name);

}  // namespace posthorn
