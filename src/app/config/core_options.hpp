#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include <posthorn/detail/pluggable.hpp>

#include "app/config/watchdog_options.hpp"
#include "base/async/executor.hpp"
#include "base/async/timer.hpp"
#include "base/log/log.hpp"
#include "base/random.hpp"
#include "base/time/clock.hpp"
#include "feature/feature.hpp"
#include "feature/node_builder.hpp"
#include "inbox/inbox.hpp"
#include "outbox/lane/route_table.hpp"
#include "outbox/rules/outbox_options.hpp"
#include "outbox/rules/retry_policy.hpp"
#include "outbox/upkeep/retention.hpp"
#include "store/message_maker.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "store/sqlite/upkeep/backup_keeper.hpp"
#include "transport/inprocess/hub.hpp"
#include "transport/wire/wire_identity.hpp"

namespace posthorn {

/// The way to a destination.
struct core_route {
    core_route() = default;
    core_route(std::string to) : url(std::move(to)) {}
    core_route(const char* to) : url(to) {}

    std::string url{};
    std::int64_t connections = 4;
    std::chrono::milliseconds timeout = std::chrono::seconds{30};
    route_limits limits{};  // Of its lane.
    std::string origin{};   // Where it was written, for messages.
    std::map<std::string, std::string, std::less<>> options{};  // Of its kind of transport.
    std::string password{};  // Where it lies, as `env:NAME` or `file:PATH`; empty for none.

    /// Limits may differ: they are not part of the endpoint.
    [[nodiscard]] bool is_same_endpoint(const core_route& other) const {
        return url == other.url && connections == other.connections && timeout == other.timeout &&
               options == other.options && password == other.password;
    }
};
using core_routes = std::map<std::string, core_route, std::less<>>;

/// The ways out of the process that routes may name.
///
/// Lifetime: outlives the node; its transports do not outlive it.
/// Threads:  the network executor.
class connector {
public:
    virtual ~connector() = default;

    /// `error_code::invalid_configuration` for a URL that it does not understand.
    virtual result<std::unique_ptr<transport>> connect(const std::string& destination,
                                                       const core_route& route) = 0;
    /// Whether what goes there is signed, so that a secret must be there.
    [[nodiscard]] virtual bool signs(const core_route& route) const = 0;
    [[nodiscard]] virtual bool has_secret(std::string_view peer) const = 0;
};

/// What a node is built from; real in a service, virtual in the simulator. All of it outlives it.
struct node_seams {
    environment env;
    executor& writer;
    inprocess_hub& hub;
    executor* backups = nullptr;              // Where there are any; kept busy while one is made.
    executor* inbox_writer = nullptr;         // Where the inbox has a database of its own.
    class connector* connector = nullptr;     // Null where all nodes are in one process.
    web_client web{};                         // Empty likewise.
    const wire_identity* identity = nullptr;  // Null likewise.
};

/// A database on a PostgreSQL server, in place of a file.
struct server_database {
    std::string url;
    std::string schema = "outbox";
    std::size_t transactions = 8;  // Of the service's own, at a time.
};

/// A feature of a node with what is configured for it.
struct installed_feature {
    const feature* what = nullptr;
    feature_settings settings{};
    std::vector<feature_endpoint> endpoints{};
};

struct core_options {
    sqlite::sqlite_options database;          // Without a path where it is on a server.
    std::optional<server_database> server{};  // If it is.
    std::optional<sqlite::sqlite_options> inbox_database{};  // If not the same.
    message_defaults sending;
    std::string node{};  // Tells it from others on its database.
    node_parts parts = node_parts::both;
    bool durable = true;  // False where the store is in memory.
    outbox_options outbox{};
    retry_policy retries{};
    retention_options retention{};
    std::optional<sqlite::backup_plan> backup{};
    inbox_options inbox{};
    watchdog_options watchdog{};
    core_routes routes{};
    std::optional<core_route> default_route{};  // `{service}` in it stands for the destination.
    bool cleanup = true;                        // Whether rows past their retention are deleted.
    bool watch_commits = true;
    bool may_call = true;  // If not, a Response without a handler is refused.
    std::vector<installed_feature> features{};
    node_watch watch{};
    std::function<bool(const std::string& owner)> owner_is_gone{};
    std::function<void(const std::string& why)> fail_stop{};
};

}  // namespace posthorn
