#include "standby/archive/archive_parts.hpp"

#include <boost/json/serialize.hpp>

#include "standby/archive/archiving.hpp"
#include "standby/pair_state.hpp"

namespace posthorn::standby {
namespace {

namespace json = boost::json;

task<http_response> answer(const archiving* of) {
    const auto told =
        of == nullptr ? json::object{{"configured", false}} : to_json(of->report(), of->settings());
    co_return json_response(200, json::serialize(told));
}

}  // namespace

result<> add_archive(store_builder& into, std::vector<log_shipper*>& takers) {
    const auto& said = into.settings();
    const auto& plan = into.plan();
    POSTHORN_LET(archive, read_archive_settings(said, plan.file));
    if (!archive) return {};
    if (auto why = refuse_archive(said, plan)) return std::unexpected(why->why);
    POSTHORN_LET(pair, load_state(plan.file));
    auto& keeps =
        into.make<archiving>(*archive, plan, pair ? pair->epoch : 0, into.env(),
                             static_cast<std::uint64_t>(said.get<std::int64_t>("wal_keep")));
    into.show(keeps);
    takers.push_back(&keeps.log());
    return {};
}

void install_archive(node_builder& into) {
    const auto* const keeps = into.find<archiving>();
    into.add(admin_route{
        "GET",
        "/_rf/standby/archive",
        admin_role::viewer,
        {.summary = "Which moments the archive of the database can be restored to.",
         .answer = "{configured: boolean, folder?: string, oldest?: time|null, newest?: time|null, "
                   "baseAt?: time|null, copiedBytes?: integer|null, behindBytes?: integer, "
                   "behindSeconds?: number, bytes?: integer, segments?: integer, bases?: integer, "
                   "gaps?: [{from: time, to: time|null}], lost?: [string], trouble?: string}"},
        [keeps](const http_request&, const admin_caller&) { return answer(keeps); }});
    if (keeps == nullptr) return;
    into.health([keeps] { return worries_of(keeps->report(), keeps->settings(), keeps->now()); });
    into.metrics([keeps](prometheus_text& text) { write_metrics(text, keeps->report()); });
}

}  // namespace posthorn::standby
