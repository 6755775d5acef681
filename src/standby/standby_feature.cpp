#include "standby/standby_feature.hpp"

#include <boost/json/serialize.hpp>

#include "feature/node_builder.hpp"
#include "standby/shipping.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;
using standby::shipping;

task<http_response> answer(const shipping* of) {
    const auto told = of == nullptr ? json::object{{"role", "none"}} : standby::to_json(*of);
    co_return json_response(200, json::serialize(told));
}

class standby_of_a_file final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "standby"; }
    [[nodiscard]] std::span<const feature_key> keys() const noexcept override {
        return standby::standby_keys();
    }
    [[nodiscard]] std::vector<feature_problem> problems(
        const feature_settings& said, const message_limits& /*limits*/) const override {
        return standby::check_standby_settings(said);
    }
    [[nodiscard]] std::vector<feature_problem> store_problems(
        const feature_settings& said, const store_plan& plan) const override {
        if (auto why = standby::refuse_plan(said, plan)) return {*std::move(why)};
        return {};
    }

    result<> before_store(store_builder& into) const override {
        const auto& said = into.settings();
        POSTHORN_LET(how, standby::read_standby_settings(said));
        if (!how.to) return {};
        if (auto why = standby::refuse_plan(said, into.plan())) return std::unexpected(why->why);
        POSTHORN_LET(key, standby::read_pair_key(said));
        POSTHORN_LET(as, standby::begin_as_primary(into.plan().file, into.env().random));
        auto& ships = into.make<shipping>(how, as, std::move(key), into.env(), into.plan().service);
        into.ship_with(ships.log());
        into.show(ships);
        return {};
    }

    result<> install(node_builder& into) const override {
        const auto* const ships = into.find<shipping>();
        into.add(admin_route{
            "GET",
            "/_rf/standby",
            admin_role::viewer,
            {.summary = "How it stands between this node and its standby.",
             .answer = "{role: string, standby?: string, state?: string, mode?: string, "
                       "whenLost?: string, alone?: boolean, epoch?: integer, stream?: string, "
                       "position?: integer, lagBytes?: integer, lagSeconds?: number, "
                       "lostByPromotion?: string, trouble?: string}"},
            [ships](const http_request&, const admin_caller&) { return answer(ships); }});
        if (ships == nullptr) return {};
        into.health([ships] { return standby::worries_of(ships->report(), ships->settings()); });
        into.metrics([ships](prometheus_text& text) {
            standby::write_metrics(text, ships->report(), ships->as().epoch);
        });
        return {};
    }
};

}  // namespace

const feature& standby_feature() noexcept {
    static const standby_of_a_file one;
    return one;
}

}  // namespace posthorn
