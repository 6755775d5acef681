#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/pluggable.hpp>
#include <posthorn/transport.hpp>

namespace posthorn {

/// How failed deliveries are tried again: base, 2 × base, 4 × base and so on up to `delay_max`,
/// each with up to `jitter_max` on top, or longer or shorter by up to `jitter_factor` of it.
struct retry_options {
    std::chrono::milliseconds delay_base = std::chrono::seconds{2};
    std::chrono::milliseconds delay_max = std::chrono::minutes{5};
    std::chrono::milliseconds jitter_max{500};
    std::int32_t retries_max = 5;  // After the first attempt; `retry_for_ever` until it expires.
    double jitter_factor = 0;      // 0.2 is 20 % either way.
    bool fixed = false;            // Every pause is `delay_base`, without chance.
    retry_function custom{};       // In place of all that, but for `retries_max`.
};

/// Files in PEM. With a certificate `listen_http` speaks TLS 1.3 and nothing else.
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

struct config;

struct node_options {
    std::string service;  // This service's name: what others send to.
    /// The service's own SQLite file; made if it is not there. `memory:` for tests: it ends with
    /// the node, and nothing in it is durable. Or `postgresql://…`.
    std::string database;
    /// A file of its own for the inbox, for a service without business tables: handlers then work
    /// in that one, which never commits together with `transaction`. The same file if empty.
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
    /// Where destinations are: `http://HOST:PORT`, `https://…`, `grpc://HOST:PORT`, `grpcs://…`,
    /// `unix:///PATH`, `pipe://NAME`, `inprocess:` for another node of this process, or a scheme of
    /// `transports`.
    std::map<std::string, std::string, std::less<>> routes{};
    /// For destinations without one of their own, whose name replaces `{service}`; none if empty.
    std::string default_route{};
    /// For destinations of `routes` that are to get more or less than others.
    std::map<std::string, lane_limits, std::less<>> lanes{};
    /// Where peers reach this node: `127.0.0.1:7400`; nowhere if empty.
    std::string listen_http{};
    std::string listen_admin{};  // Where operators and their tools do.
    std::string listen_unix{};   // The path of a socket.
    std::string listen_pipe{};   // A name; `{service}` in it stands for the service's.
    std::string
        listen_grpc{};  // Of this machine alone, such as `127.0.0.1:7402`, but for mutual TLS.
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
    std::shared_ptr<const serializer> payloads{};           // Of described messages; JSON if empty.
    wall_clock_function wall_clock{};                       // The machine's if empty.
    std::string log_level = "warn";                         // trace, debug, info, warn, error.
    std::function<void(std::string_view line)> log_sink{};  // Standard error if empty.
    /// Called when the node cannot go on safely, after an error is logged; the process is aborted
    /// when it returns.
    std::function<void(const std::string& why)> on_fail_stop{};
    std::shared_ptr<const config> loaded{};  // What `load` read; the rest counts beside it.
};

/// The options that a configuration file holds: `posthorn::node
/// node{posthorn::load("orders.toml")};`
///
/// What is changed in them afterwards counts more than the file. The file's `[handlers]` are added
/// to those of the code. Throws `error_code::invalid_configuration` with every mistake and its
/// line.
[[nodiscard]] node_options load(const std::string& file);

/// The numbers of a named set of defaults: `messaging`, `webhooks`, `store-and-forward`,
/// `integration-events` or `workflow`. What is changed in them afterwards counts more; give them a
/// service and a database. `error_code::invalid_argument` for another name.
[[nodiscard]] node_options defaults(std::string_view name);

}  // namespace posthorn
