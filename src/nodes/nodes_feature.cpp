#include "nodes/nodes_feature.hpp"

#include <array>

#include "feature/node_builder.hpp"
#include "lease/shared_job.hpp"
#include "nodes/node_watcher.hpp"
#include "nodes/nodes_routes.hpp"
#include "nodes/nodes_table.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using place = feature_option::place;

constexpr std::array list_columns{
    feature_column{"NODE", "name"},       feature_column{"LIGHT", "light"},
    feature_column{"SINCE", "since"},     feature_column{"SEEN", "seenAt"},
    feature_column{"MS", "latencyMs"},    feature_column{"VERSION", "version"},
    feature_column{"REASONS", "reasons"},
};
constexpr std::array history_options{
    feature_option{.name = "node", .doc = "its name in desk.nodes", .where = place::path},
    feature_option{.name = "limit", .doc = "how many at most, 1 to 2000", .number = true},
    feature_option{.name = "before", .doc = "go on where a page ended", .number = true},
};
constexpr std::array history_columns{
    feature_column{"FROM", "from"},
    feature_column{"TO", "to"},
    feature_column{"LIGHT", "light"},
    feature_column{"REASONS", "reasons"},
};
constexpr std::array search_options{
    feature_option{.name = "messageId", .doc = "the message with this id"},
    feature_option{.name = "correlationId", .doc = "only with this correlation id"},
    feature_option{.name = "causationId", .doc = "only what this message caused"},
    feature_option{.name = "orderKey", .doc = "only of this order key"},
    feature_option{.name = "tenant", .doc = "only of this tenant"},
    feature_option{.name = "destination", .doc = "only to this destination"},
    feature_option{.name = "endpoint", .doc = "only to this endpoint"},
    feature_option{.name = "status", .doc = "only Pending, Sent, Dead, Expired or Resolved"},
    feature_option{.name = "error", .doc = "only where the last error has this in it"},
    feature_option{.name = "since", .doc = "only then or later, such as 2026-02-14T12:00:00Z"},
    feature_option{.name = "until", .doc = "only before"},
    feature_option{.name = "limit", .doc = "how many of each node, 1 to 100", .number = true},
};
constexpr std::array search_columns{
    feature_column{"NODE", "node"},         feature_column{"MESSAGE", "messageId"},
    feature_column{"STATUS", "status"},     feature_column{"DESTINATION", "destination"},
    feature_column{"ENDPOINT", "endpoint"}, feature_column{"CREATED", "createdAt"},
};
constexpr std::array life_options{
    feature_option{.name = "messageId", .doc = "the message's id", .where = place::path},
    feature_option{.name = "cause", .doc = "the id of what caused it: look for that too"},
};
constexpr std::array life_columns{
    feature_column{"NODE", "node"},
    feature_column{"WHAT", "what"},
    feature_column{"MESSAGE", "messageId"},
    feature_column{"SERVICE", "service"},
    feature_column{"ENDPOINT", "endpoint"},
    feature_column{"STATUS", "status"},
    feature_column{"AT", "at"},
};
constexpr std::array node_commands{
    feature_command{.name = "list",
                    .summary = "list the nodes of desk.nodes with the light of each",
                    .method = "GET",
                    .path = "/_rf/nodes",
                    .list = "nodes",
                    .columns = list_columns,
                    .example = "posthorn nodes list --url http://127.0.0.1:7401"},
    feature_command{.name = "history",
                    .summary = "show the light of one over the last seven days",
                    .method = "GET",
                    .path = "/_rf/nodes/{node}",
                    .options = history_options,
                    .list = "history",
                    .columns = history_columns,
                    .example = "posthorn nodes history stock"},
    feature_command{.name = "search",
                    .summary = "look for messages in all of them",
                    .method = "GET",
                    .path = "/_rf/search",
                    .options = search_options,
                    .list = "hits",
                    .columns = search_columns,
                    .example = "posthorn nodes search --orderKey 'customer 7' --url "
                               "http://127.0.0.1:7401"},
    feature_command{.name = "life",
                    .summary = "show what all of them know of one message",
                    .method = "GET",
                    .path = "/_rf/life/{messageId}",
                    .options = life_options,
                    .list = "traces",
                    .columns = life_columns,
                    .example = "posthorn nodes life 0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001 --url "
                               "http://127.0.0.1:7401"},
};

void write_counts(const nodes_deps& with, prometheus_text& text) {
    const auto counts = count_lights(with);
    if (!counts) return;  // Health tells that the store cannot be read.
    text.begin("posthorn_watched_nodes", "gauge", "Nodes of desk.nodes by their light.");
    text.sample(counts->green, {{"light", "green"}});
    text.sample(counts->yellow, {{"light", "yellow"}});
    text.sample(counts->red, {{"light", "red"}});
    text.sample(counts->unknown, {{"light", "unknown"}});
}

constexpr std::array odd_lights{odd_rows{
    .table = "posthorn_nodes",
    .where = "octet_length(reasons) > 200000",
    .why =
        "they have more than 200,000 bytes of reasons, which no node tells: their light is shown "
        "without",
    .todo = "delete them from posthorn_nodes; a node that is watched gets a new row by itself"}};

class nodes final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "nodes"; }
    [[nodiscard]] table_set tables() const noexcept override { return nodes_tables(); }
    [[nodiscard]] std::span<const odd_rows> odd() const noexcept override { return odd_lights; }
    [[nodiscard]] std::string_view summary() const noexcept override {
        return "show other nodes, and look for messages in all of them";
    }
    [[nodiscard]] std::span<const feature_command> commands() const noexcept override {
        return node_commands;
    }

    result<> install(node_builder& into) const override {
        const auto& watch = into.make<node_watch>(into.watch());
        const auto& asker = into.make<node_asker>(watch, into.web());
        const auto& with = into.make<nodes_deps>(
            nodes_deps{.env = into.env(), .where = into.database(), .asker = asker});
        into.add(nodes_route(with));
        if (watch.nodes.empty()) return {};
        for (auto& each : node_routes(with)) into.add(std::move(each));
        into.metrics([&with](prometheus_text& text) { write_counts(with, text); });
        if (asker.can_ask())
            into.run(done_by_one(
                {.env = into.env(), .where = into.database(), .owner_is_gone = {}},
                {.owner = into.node(), .duration = 60s, .beat_interval = 15s, .look_interval = 5s},
                std::make_unique<node_watcher>(into.env(), into.database(), asker)));
        return {};
    }
};

}  // namespace

const feature& nodes_feature() noexcept {
    static const nodes one;
    return one;
}

}  // namespace posthorn
