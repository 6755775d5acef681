#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include <posthorn/detail/health.hpp>

#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "feature/admin_route.hpp"
#include "feature/peer_calls.hpp"
#include "feature/prometheus_text.hpp"
#include "feature/settings.hpp"
#include "feature/watched_nodes.hpp"
#include "inbox/handlers.hpp"
#include "inbox/inbox.hpp"
#include "outbox/lane/outbox_counters.hpp"
#include "outbox/lane/route_source.hpp"
#include "outbox/upkeep/dead_letter_notifier.hpp"
#include "store/message_maker.hpp"
#include "store/outside_database.hpp"
#include "store/store.hpp"
#include "transport/http/types.hpp"
#include "transport/wire/wire_identity.hpp"

namespace posthorn {

/// Something that a person should see to, though the node works.
struct health_worry {
    health_level how = health_level::yellow;
    std::string what;
};

/// A route of the listener for peers.
struct public_route {
    std::string method;
    std::string path;
    http_handler answer;
};

/// An endpoint that is configured to be handled by a feature.
struct feature_endpoint {
    std::string name;
    bool responses = false;  // It stands under `[responses]`: answers to our Commands.
    std::chrono::milliseconds limit = std::chrono::seconds{5};
    std::chrono::milliseconds lease = std::chrono::seconds{60};
};

/// Is told of messages that were given up, in place of the application, if their correlation id
/// begins so.
struct given_up_listener {
    std::string correlation_prefix;
    final_row_listener* told = nullptr;
};

/// What features have added to a node.
struct feature_parts {
    std::vector<std::shared_ptr<void>> objects{};  // Destroyed after all else here.
    service_list services{};
    std::vector<commit_listener*> listeners{};
    std::vector<route_source*> routes{};
    std::vector<admin_route> admin_routes{};
    std::vector<public_route> public_routes{};
    /// From any thread; they read the database on `environment::readers`, and must not throw.
    std::vector<std::function<std::vector<health_worry>()>> health{};
    std::vector<std::function<void(prometheus_text&)>> metrics{};
    std::vector<std::function<std::chrono::milliseconds()>> sent_kept{};
    std::vector<given_up_listener> given_up{};
    /// Before the node starts, while handlers can be added; an error keeps it from starting.
    std::vector<std::function<result<>()>> before_start{};
    std::vector<std::pair<std::type_index, void*>> shown{};
    /// When nothing else runs any more; they end soon. Each may come twice.
    std::vector<std::function<task<>()>> at_end{};

    /// What a feature shows the node, for functions of the public `node`. Null if none does.
    template <class T>
    [[nodiscard]] T* find() const noexcept {
        for (const auto& [type, object] : shown)
            if (type == typeid(T)) return static_cast<T*>(object);
        return nullptr;
    }
};

/// What a feature is given to build itself into one node, and where it puts what it adds.
///
/// Lifetime: `feature::install`; what it refers to, and what is made with `make`, lasts as long as
///           the node.
class node_builder {
public:
    struct given {
        const environment& env;
        store& database;        // Of `transaction` and `send`.
        store& inbox_database;  // Of handlers; the same, unless the inbox has a file of its own.
        class handlers& handlers;
        const message_maker& maker;
        feature_settings settings;
        std::vector<feature_endpoint> endpoints;  // Those with the feature's word for a handler.
        std::string node{};                       // Tells it from others on its database.
        /// Of each of its databases; none where no node runs.
        std::vector<const outbox_counters*> outbox{};
        /// Null before the node has started, and where it has none. Empty where no node runs.
        std::function<const class inbox*()> inbox{};
        /// The same, to give it messages that came another way than over our wire.
        std::function<receiver*()> receives{};
        node_watch watch{};
        web_client web{};                         // Empty where no node runs, and in the simulator.
        const wire_identity* identity = nullptr;  // Null likewise.
        peer_ways ways{};                         // Empty where no node runs.
        outside_opener open_outside{};            // Likewise, and in the simulator.
        /// Ends the process at once. Empty where no node runs.
        std::function<void(const std::string& why)> fail_stop{};
    };

    node_builder(given with, feature_parts& into) : with_(std::move(with)), into_(into) {}

    [[nodiscard]] const environment& env() const noexcept { return with_.env; }
    [[nodiscard]] store& database() const noexcept { return with_.database; }
    [[nodiscard]] store& inbox_database() const noexcept { return with_.inbox_database; }
    [[nodiscard]] class handlers& handlers() const noexcept { return with_.handlers; }
    /// Makes messages that the node sends by itself.
    [[nodiscard]] const message_maker& maker() const noexcept { return with_.maker; }
    [[nodiscard]] const feature_settings& settings() const noexcept { return with_.settings; }
    [[nodiscard]] const std::vector<feature_endpoint>& endpoints() const noexcept {
        return with_.endpoints;
    }
    [[nodiscard]] const std::string& node() const noexcept { return with_.node; }
    [[nodiscard]] const std::vector<const outbox_counters*>& outbox() const noexcept {
        return with_.outbox;
    }
    [[nodiscard]] const std::function<const class inbox*()>& inbox() const noexcept {
        return with_.inbox;
    }
    [[nodiscard]] const std::function<receiver*()>& receives() const noexcept {
        return with_.receives;
    }

    /// The other nodes that the desk shows.
    [[nodiscard]] const node_watch& watch() const noexcept { return with_.watch; }
    [[nodiscard]] const web_client& web() const noexcept { return with_.web; }
    /// As whom the node speaks to peers over the wire; null where it speaks to none.
    [[nodiscard]] const wire_identity* identity() const noexcept { return with_.identity; }
    [[nodiscard]] const peer_ways& ways() const noexcept { return with_.ways; }
    [[nodiscard]] const outside_opener& open_outside() const noexcept { return with_.open_outside; }
    [[nodiscard]] const std::function<void(const std::string& why)>& fail_stop() const noexcept {
        return with_.fail_stop;
    }

    /// An object that lasts as long as the node.
    template <class T, class... Args>
    T& make(Args&&... args) {
        auto made = std::make_shared<T>(std::forward<Args>(args)...);
        auto& object = *made;
        into_.objects.push_back(std::move(made));
        return object;
    }
    /// Started with the node, after those before it; stopped before them.
    template <class Service>
    Service& run(std::unique_ptr<Service> one) {
        return into_.services.add(std::move(one));
    }
    /// Hears of every commit of the node's database. From `make`.
    void listen(commit_listener& to) { into_.listeners.push_back(&to); }
    /// Asked for destinations that have no route of their own. From `make`.
    void route(route_source& from) { into_.routes.push_back(&from); }
    void add(admin_route one) { into_.admin_routes.push_back(std::move(one)); }
    void add(public_route one) { into_.public_routes.push_back(std::move(one)); }
    void health(std::function<std::vector<health_worry>()> told) {
        into_.health.push_back(std::move(told));
    }
    /// How long messages that were sent must be kept, as of now: the feature looks at them again.
    void keep_sent(std::function<std::chrono::milliseconds()> at_least) {
        into_.sent_kept.push_back(std::move(at_least));
    }
    void metrics(std::function<void(prometheus_text&)> written) {
        into_.metrics.push_back(std::move(written));
    }
    /// From `make`.
    void given_up(std::string correlation_prefix, final_row_listener& told) {
        into_.given_up.push_back({std::move(correlation_prefix), &told});
    }
    void before_start(std::function<result<>()> check) {
        into_.before_start.push_back(std::move(check));
    }
    void at_end(std::function<task<>()> last) { into_.at_end.push_back(std::move(last)); }
    /// To be found by its type, with `feature_parts::find`. From `make`.
    template <class T>
    void show(T& one) {
        into_.shown.emplace_back(typeid(T), &one);
    }
    /// What a feature before this one shows. Null if none does.
    template <class T>
    [[nodiscard]] T* find() const noexcept {
        return into_.find<T>();
    }

private:
    given with_;
    feature_parts& into_;
};

}  // namespace posthorn
