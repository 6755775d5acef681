#include <posthorn/version.hpp>

#include "admin/health.hpp"
#include "admin/lanes.hpp"
#include "admin/operations.hpp"
#include "admin/query.hpp"
#include "admin/render.hpp"
#include "app/cli/admin_source.hpp"
#include "app/cli/list_query.hpp"

namespace posthorn::cli {
namespace {

namespace json = boost::json;

/// Reads a service's database, whether a node runs on it or not.
class file_source final : public admin_source {
public:
    explicit file_source(config settings) : settings_(std::move(settings)) {}

    result<json::object> health() override {
        auto overview = outbox_overview_now();
        if (!overview) return std::unexpected(std::move(overview).error());
        const health_facts facts{.broken = {}, .outbox = *std::move(overview)};
        auto shown = to_json(judge_health(facts), facts.outbox);
        shown["service"] = settings_.service.id;
        shown["version"] = version;
        return shown;
    }

    result<json::object> outbox_stats() override {
        const auto overview = outbox_overview_now();
        if (!overview) return std::unexpected(overview.error());
        return to_json(*overview, clock_.wall());
    }

    result<json::object> messages(const list_choice& wanted) override {
        const auto asked = parse_list_query(to_query(wanted));
        if (!asked) return std::unexpected(asked.error());
        return ask([&](store& where) {
            return list_messages(where, {.status = asked->status,
                                         .destination = asked->destination,
                                         .endpoint = asked->endpoint,
                                         .since = asked->since,
                                         .before_seq = asked->before,
                                         .limit = asked->limit});
        });
    }

    result<json::object> message(const uuid& id, bool with_payload) override {
        auto database = outbox();
        if (!database) return std::unexpected(std::move(database).error());
        const auto found = show_message((*database)->store(), id, with_payload);
        if (!found) return std::unexpected(found.error());
        return to_json(*found, with_payload);
    }

    result<json::object> requeue(const uuid& id) override {
        auto database = outbox();
        if (!database) return std::unexpected(std::move(database).error());
        POSTHORN_TRY(requeue_message((*database)->store(), id));
        return json::object{{"messageId", id.to_string()}, {"status", "Pending"}};
    }

    result<json::object> lanes() override {
        auto database = outbox();
        if (!database) return std::unexpected(std::move(database).error());
        store* const stores[] = {&(*database)->store()};
        auto paused = list_pauses(stores);
        if (!paused) return std::unexpected(std::move(paused).error());
        return to_json(merge_lanes({}, *std::move(paused)));
    }

    result<json::object> pause(const pause_choice& wanted) override {
        const pause_change asked{.destination = wanted.destination,
                                 .paused = wanted.paused,
                                 .reason = wanted.reason,
                                 .at = clock_.wall()};
        auto database = outbox();
        if (!database) return std::unexpected(std::move(database).error());
        auto changed = change_pause((*database)->store(), asked);
        if (!changed) return std::unexpected(std::move(changed).error());
        if (settings_.store.inbox_url) {  // Messages leave from there too.
            auto second = inbox();
            if (!second) return std::unexpected(std::move(second).error());
            const auto there = change_pause((*second)->store(), asked);
            if (!there) return std::unexpected(there.error());
            changed = *changed || *there;
        }
        return to_json(asked, *changed);
    }

    result<json::object> inbox_stats() override {
        auto database = inbox();
        if (!database) return std::unexpected(std::move(database).error());
        const auto overview = overview_inbox((*database)->store());
        if (!overview) return std::unexpected(overview.error());
        auto shown = to_json(*overview);
        for (const auto* counter : {"processed", "duplicates", "duplicateRate"})
            shown.erase(counter);  // Only a running node counts.
        return shown;
    }

    result<json::object> inbox_messages(const list_choice& wanted) override {
        auto database = inbox();
        if (!database) return std::unexpected(std::move(database).error());
        const auto page = list_inbox(
            (*database)->store(),
            {.source = wanted.source, .before_seq = wanted.before, .limit = wanted.limit});
        if (!page) return std::unexpected(page.error());
        return to_json(*page);
    }

private:
    using session = std::unique_ptr<database_session>;

    [[nodiscard]] result<session> outbox() const { return database_session::open(settings_); }

    [[nodiscard]] result<session> inbox() const {
        config settings = settings_;
        if (settings.store.inbox_url) settings.store.url = *settings.store.inbox_url;
        return database_session::open(settings);
    }

    template <class Look>
    result<json::object> ask(const Look& look) const {
        auto database = outbox();
        if (!database) return std::unexpected(std::move(database).error());
        const auto found = look((*database)->store());
        if (!found) return std::unexpected(found.error());
        return to_json(*found);
    }

    [[nodiscard]] result<outbox_overview> outbox_overview_now() const {
        auto database = outbox();
        if (!database) return std::unexpected(std::move(database).error());
        return overview_outbox((*database)->store(), clock_.wall(), {.count_sent = true});
    }

    config settings_;
    real_clock clock_;
};

}  // namespace

std::unique_ptr<admin_source> make_file_source(config settings) {
    return std::make_unique<file_source>(std::move(settings));
}

}  // namespace posthorn::cli
