#include "standby/standby_feature.hpp"

#include <boost/json/serialize.hpp>

#include "feature/answers.hpp"
#include "feature/node_builder.hpp"
#include "standby/archive/archive_parts.hpp"
#include "standby/archive/archive_settings.hpp"
#include "standby/archive/shared_log.hpp"
#include "standby/door/pair_credentials.hpp"
#include "standby/following.hpp"
#include "standby/shipping.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;
using standby::shipping;

std::vector<feature_key> all_keys() {
    const auto of_pair = standby::standby_keys();
    std::vector<feature_key> all(of_pair.begin(), of_pair.end());
    all.insert(all.end(), standby::archive_keys.begin(), standby::archive_keys.end());
    return all;
}

task<http_response> begin_switch(shipping* of) {
    if (of == nullptr)
        co_return answer_to_error(
            {error_code::state_changed, "this node has no standby: standby.to is none"});
    const auto begun = of->begin_switch();
    if (!begun) co_return answer_to_error(begun.error());
    co_return json_response(
        200, json::serialize(json::object{{"switching", true}, {"epoch", of->as().epoch + 1}}));
}

/// One that was of a pair, and ships to no standby now.
struct lone_primary {
    standby::pair_state kept;
};

task<http_response> answer(const shipping* of, const lone_primary* alone) {
    json::object told{{"role", "none"}};
    if (alone != nullptr) told = standby::to_json(alone->kept);
    if (of != nullptr) told = standby::to_json(*of);
    co_return json_response(200, json::serialize(told));
}

class standby_of_a_file final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "standby"; }
    [[nodiscard]] std::span<const feature_key> keys() const noexcept override {
        static const auto all = all_keys();
        return all;
    }
    [[nodiscard]] std::vector<feature_problem> problems(
        const feature_settings& said, const message_limits& /*limits*/) const override {
        auto all = standby::check_standby_settings(said);
        if (auto why = standby::check_archive_settings(said)) all.push_back(*std::move(why));
        return all;
    }
    [[nodiscard]] std::vector<feature_problem> store_problems(
        const feature_settings& said, const store_plan& plan) const override {
        std::vector<feature_problem> all;
        if (auto why = standby::refuse_plan(said, plan)) all.push_back(*std::move(why));
        if (auto why = standby::refuse_archive(said, plan)) all.push_back(*std::move(why));
        return all;
    }

    result<> before_store(store_builder& into) const override {
        std::vector<log_shipper*> takers;
        POSTHORN_TRY(add_standby(into, takers));
        // A commit waits for the standby first: what is archived was answered, or could be.
        POSTHORN_TRY(standby::add_archive(into, takers));
        if (takers.size() == 1) into.ship_with(*takers.front());
        if (takers.size() > 1) into.ship_with(into.make<standby::shared_log>(std::move(takers)));
        return {};
    }

    result<> install(node_builder& into) const override {
        const auto* const alone = into.find<lone_primary>();
        auto* const ships = into.find<shipping>();
        into.add(admin_route{
            "GET",
            "/_rf/standby",
            admin_role::viewer,
            {.summary = "How it stands between this node and its standby.",
             .answer =
                 "{role: string, standby?: string, phase?: string, state?: string, mode?: string, "
                 "whenLost?: string, alone?: boolean, epoch?: integer, stream?: string, "
                 "began?: string, noSwitch?: string, switchTrouble?: string, position?: "
                 "integer, lagBytes?: integer, lagSeconds?: number, copies?: integer, "
                 "lostByPromotion?: string, trouble?: string}"},
            [ships, alone](const http_request&, const admin_caller&) {
                return answer(ships, alone);
            }});
        into.add(admin_route{
            "POST",
            "/_rf/standby/switch",
            admin_role::operator_,
            {.summary = "Gives the role of the primary to the standby, which has all of it: this "
                        "node stops, and follows from then on.",
             .answer = "{switching: boolean, epoch: integer}"},
            [ships](const http_request&, const admin_caller&) { return begin_switch(ships); }});
        standby::install_archive(into);
        if (ships == nullptr) return {};
        into.health([ships] { return standby::worries_of(ships->report(), ships->settings()); });
        into.metrics([ships](prometheus_text& text) {
            standby::write_metrics(text, ships->report(), ships->as().epoch);
        });
        return {};
    }

private:
    static result<> add_standby(store_builder& into, std::vector<log_shipper*>& takers) {
        const auto& said = into.settings();
        POSTHORN_LET(how, standby::read_standby_settings(said));
        if (!how.to) return show_lone_primary(into);
        if (auto why = standby::refuse_plan(said, into.plan())) return std::unexpected(why->why);
        const auto& service = into.plan().service;
        POSTHORN_LET(known, standby::read_credentials(said, service));
        POSTHORN_TRY(standby::check_credentials(known, into.env().clock));
        POSTHORN_LET(as, standby::begin_as_primary(into.plan().file, into.env().random));
        auto& ships = into.make<shipping>(
            how, as, access_with(known, standby::link_end::primary, into.env().clock), into.env(),
            service);
        into.show(ships);
        takers.push_back(&ships.log());
        return {};
    }

    // How its history began is asked for when the primary before it comes back.
    static result<> show_lone_primary(store_builder& into) {
        if (into.plan().on_server || into.plan().in_memory) return {};
        POSTHORN_LET(found, standby::load_state(into.plan().file));
        if (found) into.show(into.make<lone_primary>(*found));
        return {};
    }
};

}  // namespace

const feature& standby_feature() noexcept {
    static const standby_of_a_file one;
    return one;
}

}  // namespace posthorn
