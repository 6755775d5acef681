#include "centre/centre_feature.hpp"

#include <array>

#include "centre/centre_handlers.hpp"
#include "centre/centre_keeper.hpp"
#include "centre/centre_relay.hpp"
#include "centre/centre_routes.hpp"
#include "centre/centre_tables.hpp"
#include "feature/node_builder.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

constexpr std::array centre_keys{
    feature_key{"enabled", "whether this node is the centre of sites",
                [] { return feature_value(false); }},
    feature_key{"relay_timeout", "how long a site may take to answer an operator of the centre",
                [] { return feature_value(milliseconds(std::chrono::seconds{10})); }},
    feature_key{"calls_kept", "how long the mirror knows calls that have ended",
                [] { return feature_value(milliseconds(std::chrono::days{30})); }},
};

result<> check_longer_than_nothing(const feature_settings& said, std::string_view key) {
    if (said.get<milliseconds>(key) >= milliseconds{1}) return {};
    return fail(error_code::invalid_configuration,
                "centre.{} is not longer than nothing; give a time such as \"10s\"", key);
}

constexpr std::array centre_odd{
    odd_rows{
        .table = "SiteCalls",
        .where = "length(TrackedOperationId) <> 36 OR octet_length(SourceSite) > 500"
                 " OR octet_length(SourceService) > 500",
        .why = "their TrackedOperationId is not a UUID, or their site's name is longer than 500 "
               "bytes: no operator of the centre can have them retried or discarded",
        .todo = "delete them from SiteCalls; the site tells of its calls again when they change",
        .of_inbox = true},
    odd_rows{.table = "SiteCalls",
             .where = "Seq < 1",
             .why = "they have a number below 1, where lists begin: they are not listed",
             .todo = "set SiteCalls.Seq of each to a number of its own, or delete it",
             .of_inbox = true},
    odd_rows{.table = "centre_notifications",
             .where = "Seq < 1",
             .why = "they have a number below 1, where lists begin: they are not listed",
             .todo = "set centre_notifications.Seq of each to a number of its own, or delete it",
             .of_inbox = true},
    odd_rows{.table = "centre_sites",
             .where = "octet_length(SiteId) > 500 OR octet_length(Service) > 500",
             .why = "their names are longer than 500 bytes, so they are cut in lists, and what is "
                    "listed cannot be asked for",
             .todo = "delete them from centre_sites",
             .of_inbox = true}};

class centre final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "centre"; }
    [[nodiscard]] table_set tables() const noexcept override { return centre_tables(); }
    [[nodiscard]] std::span<const odd_rows> odd() const noexcept override { return centre_odd; }
    [[nodiscard]] std::span<const feature_key> keys() const noexcept override {
        return centre_keys;
    }
    [[nodiscard]] std::string_view summary() const noexcept override {
        return "show the sites of a centre, their calls and their notifications";
    }
    [[nodiscard]] std::span<const feature_command> commands() const noexcept override {
        return centre_commands();
    }

    result<> install(node_builder& into) const override {
        const auto& said = into.settings();
        POSTHORN_TRY(check_longer_than_nothing(said, "relay_timeout"));
        POSTHORN_TRY(check_longer_than_nothing(said, "calls_kept"));
        auto& where = into.inbox_database();
        const auto& env = into.env();
        const auto& office = into.make<centre_office>(centre_office{where, env});
        for (auto& each : centre_routes(office)) into.add(std::move(each));
        if (!said.get<bool>("enabled") || into.outbox().empty()) return {};
        POSTHORN_TRY(into.handlers().add(
            "NotificationSubmit",
            {.run = make_notification_handler(env.clock), .takes_responses = false}));
        POSTHORN_TRY(into.handlers().add(
            "CachedCallTelemetry",
            {.run = make_telemetry_handler(env.clock), .takes_responses = false}));
        const auto& peers = into.make<peer_calls>(into.ways(), into.maker());
        site_relay& relay = into.make<centre_relay>(
            centre_relay::deps{where, env, peers, said.get<milliseconds>("relay_timeout")});
        into.show(relay);
        const auto& keeper = into.run(std::make_unique<centre_keeper>(
            centre_keeper::deps{where, env}, said.get<milliseconds>("calls_kept")));
        into.health([&keeper] { return keeper.worries(); });
        return {};
    }
};

}  // namespace

const feature& centre_feature() noexcept {
    static const centre one;
    return one;
}

}  // namespace posthorn
