#include <boost/json/serialize.hpp>

#include <posthorn/version.hpp>

#include "admin/dead_render.hpp"
#include "admin/render.hpp"
#include "app/cli/kit/admin_source.hpp"
#include "app/cli/kit/list_query.hpp"
#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "operations/dead_operations.hpp"
#include "operations/health.hpp"
#include "operations/lanes.hpp"
#include "operations/operations.hpp"
#include "operations/query.hpp"

namespace posthorn::cli {
namespace {

namespace json = boost::json;

/// Reads a service's database, whether a node runs on it or not.
class file_source final : public admin_source {
public:
    explicit file_source(config settings) : settings_(std::move(settings)) {}

    result<json::object> health() override {
        POSTHORN_LET(overview, outbox_overview_now());
        const health_facts facts{.broken = {}, .outbox = std::move(overview)};
        auto shown = to_json(judge_health(facts), facts.outbox);
        shown["service"] = settings_.service.id;
        shown["version"] = version;
        return shown;
    }

    result<json::object> outbox_stats() override {
        POSTHORN_LET(overview, outbox_overview_now());
        return to_json(overview, clock_.wall());
    }

    result<json::object> messages(const list_choice& wanted) override {
        POSTHORN_LET(asked, parse_list_query(to_query(wanted)));
        return ask([&](store& where) {
            return list_messages(where, {.status = asked.status,
                                         .destination = asked.destination,
                                         .endpoint = asked.endpoint,
                                         .since = asked.since,
                                         .before_seq = asked.before,
                                         .limit = asked.limit});
        });
    }

    result<json::object> message(const uuid& id, bool with_payload) override {
        POSTHORN_LET(database, outbox());
        POSTHORN_LET(found, show_message(database->store(), id, with_payload));
        return to_json(found, with_payload);
    }

    result<json::object> dead(const dead_choice& wanted) override {
        POSTHORN_LET(asked, parse_dead_query(to_query(wanted)));
        return dead_answer([&](dead_place at) { return list_dead(at, asked); });
    }
    result<json::object> dead_groups(const dead_choice& wanted) override {
        POSTHORN_LET(asked, parse_dead_query(to_query(wanted)));
        return dead_answer([&](dead_place at) { return group_dead(at, asked); });
    }
    result<json::object> dead_message(const uuid& id, bool with_payload) override {
        return dead_answer([&](dead_place at) { return show_dead(at, id, with_payload); },
                           [&](const dead_view& view) { return to_json(view, with_payload); });
    }
    result<json::object> change_dead(const uuid& id, const dead_order& how) override {
        POSTHORN_LET(asked, request_of(how));
        return dead_answer([&](dead_place at) { return posthorn::change_dead(at, id, asked); });
    }
    result<json::object> change_many_dead(const dead_choice& wanted,
                                          const dead_order& how) override {
        POSTHORN_LET(asked, parse_dead_query(to_query(wanted)));
        POSTHORN_LET(change, request_of(how));
        return dead_answer(
            [&](dead_place at) { return posthorn::change_many_dead(at, asked, change); });
    }

    result<json::object> lanes() override {
        POSTHORN_LET(database, outbox());
        store* const stores[] = {&database->store()};
        POSTHORN_LET(paused, list_pauses(stores));
        return to_json(merge_lanes({}, std::move(paused)));
    }

    result<json::object> pause(const pause_choice& wanted) override {
        const pause_change asked{.destination = wanted.destination,
                                 .paused = wanted.paused,
                                 .reason = wanted.reason,
                                 .at = clock_.wall()};
        POSTHORN_LET(database, outbox());
        auto changed = change_pause(database->store(), asked);
        if (!changed) return std::unexpected(std::move(changed).error());
        if (settings_.store.inbox_url) {  // Messages leave from there too.
            POSTHORN_LET(second, inbox());
            POSTHORN_LET(there, change_pause(second->store(), asked));
            changed = *changed || there;
        }
        return to_json(asked, *changed);
    }

    result<json::object> inbox_stats() override {
        POSTHORN_LET(database, inbox());
        POSTHORN_LET(overview, overview_inbox(database->store()));
        auto shown = to_json(overview);
        for (const auto* counter : {"processed", "duplicates", "duplicateRate"})
            shown.erase(counter);  // Only a running node counts.
        return shown;
    }

    result<json::object> inbox_messages(const list_choice& wanted) override {
        POSTHORN_LET(database, inbox());
        POSTHORN_LET(page, list_inbox(database->store(), {.source = wanted.source,
                                                          .before_seq = wanted.before,
                                                          .limit = wanted.limit}));
        return to_json(page);
    }

private:
    using session = std::unique_ptr<database_session>;

    [[nodiscard]] result<session> outbox() const { return database_session::open(settings_); }

    [[nodiscard]] result<session> inbox() const {
        config settings = settings_;
        if (settings.store.inbox_url) settings.store.url = *settings.store.inbox_url;
        return database_session::open(settings);
    }

    static result<dead_request> request_of(const dead_order& how) {
        for (const auto verb :
             {dead_verb::requeue, dead_verb::resolve, dead_verb::remove, dead_verb::edit}) {
            if (to_string(verb) != how.verb) continue;
            auto asked = parse_dead_request(verb, json::serialize(how.body));
            if (asked) asked->how.if_state = how.if_state;
            return asked;
        }
        return fail(error_code::invalid_argument, "nobody can {} a message", how.verb);
    }

    /// The file stays open between the slices of a change of many.
    template <class Work, class Show>
    result<json::object> dead_answer(const Work& work, const Show& show) {
        if (!kept_) {
            POSTHORN_LET(database, outbox());
            kept_ = std::move(database);
        }
        inline_executor readers;
        io_threads threads("posthorn-cli");
        const auto found =
            start(
                threads.executor(),
                work(dead_place{.where = kept_->store(), .readers = readers, .now = clock_.wall()}))
                .get();
        threads.stop();
        if (!found) return std::unexpected(found.error());
        return show(*found);
    }
    template <class Work>
    result<json::object> dead_answer(const Work& work) {
        return dead_answer(work, [](const auto& found) { return to_json(found); });
    }

    template <class Look>
    result<json::object> ask(const Look& look) const {
        POSTHORN_LET(database, outbox());
        POSTHORN_LET(found, look(database->store()));
        return to_json(found);
    }

    [[nodiscard]] result<outbox_overview> outbox_overview_now() const {
        POSTHORN_LET(database, outbox());
        return overview_outbox(database->store(), clock_.wall(), {.count_sent = true});
    }

    config settings_;
    real_clock clock_;
    session kept_;
};

}  // namespace

std::unique_ptr<admin_source> make_file_source(config settings) {
    return std::make_unique<file_source>(std::move(settings));
}

}  // namespace posthorn::cli
