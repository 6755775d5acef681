#include "engine/routes/version_routes.hpp"

#include <array>
#include <utility>

#include <boost/json/array.hpp>

#include "base/async/run_on.hpp"
#include "engine/routes/workflow_json.hpp"
#include "engine/rows/versions.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::array version_shapes{
    named_shape{"WorkflowVersion",
                "{workflow: string, version: integer, state: 'active' | 'draining' | 'drained' |"
                " 'missing', open: integer, quarantined: integer, since?: time}"},
    named_shape{"WorkflowUpgrade",
                "{dryRun: boolean, checked: integer, alike: integer, moved: integer,"
                " busy: integer, differ: integer, differing: [{id: string, why: string}],"
                " next?: integer}"},
};

constexpr std::int64_t page_instances = 200;
constexpr std::size_t shown_max = 1000;
constexpr std::chrono::seconds request_time{5};
constexpr int tries_max = 5;  // Of those that take steps meanwhile.

task<http_response> list_versions(const workflow_desk& with, http_request /*request*/,
                                  admin_caller /*who*/) {
    co_return co_await look_at(with, [](store_reader& from, json::object& answer) -> result<> {
        POSTHORN_LET(rows, read_versions(from));
        json::array all;
        for (const auto& each : rows) {
            json::object one{{"workflow", each.workflow},
                             {"version", each.version},
                             {"state", to_string(each.state)},
                             {"open", each.open},
                             {"quarantined", each.held}};
            if (each.since > 0) one["since"] = time_text(each.since);
            all.push_back(std::move(one));
        }
        answer["versions"] = std::move(all);
        return {};
    });
}

struct upgrade_order {
    std::string workflow;
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t after = 0;
    bool is_dry = false;
};

struct upgrade_sums {
    std::int64_t alike = 0;
    std::int64_t moved = 0;
    std::int64_t busy = 0;
    std::int64_t differ = 0;
    json::array shown{};
};

result<std::int64_t> whole_number(const json::object& body, std::string_view field) {
    const auto* const found = body.if_contains(field);
    if (found == nullptr) return 0;
    if (!found->is_int64() || found->as_int64() < 0)
        return fail(error_code::invalid_argument, "{} is to be a whole number", field);
    return found->as_int64();
}

result<upgrade_order> read_order(const http_request& request) {
    POSTHORN_LET(body, body_of(request));
    upgrade_order order{.workflow = request.parameters.at("workflow")};
    POSTHORN_LET(from, whole_number(body, "from"));
    POSTHORN_LET(to, whole_number(body, "to"));
    POSTHORN_LET(after, whole_number(body, "after"));
    order.from = from;
    order.to = to;
    order.after = after;
    if (order.from == 0 || order.to == 0 || order.from == order.to)
        return fail(error_code::invalid_argument,
                    "give the version that workflows have, and the one that they are to have");
    const auto* const dry = body.if_contains("dryRun");
    // The command line has texts only.
    if (dry != nullptr && !dry->is_bool() && *dry != "true" && *dry != "false")
        return fail(error_code::invalid_argument, "dryRun is to be true or false");
    order.is_dry = dry != nullptr && (dry->is_bool() ? dry->as_bool() : *dry == "true");
    return order;
}

/// Looks at one page, and moves those that can be.
task<result<upgrade_page>> upgrade_some(const workflow_desk& with, const upgrade_order& order,
                                        const detail::workflow_entry& code, upgrade_sums& sums) {
    const upgrade_range which{order.workflow, order.from, order.after, page_instances};
    upgrade_page page;
    // Code runs, if only to be compared: where it may take its time.
    POSTHORN_CO_TRY(co_await run_on(with.env.workers, [&] {
        return with.where.read([&](store_reader& from) -> result<> {
            POSTHORN_LET(seen, look_for_upgrade(from, which, code));
            page = std::move(seen);
            return {};
        });
    }));
    if (order.is_dry || page.alike.empty()) co_return page;
    std::int64_t moved = 0;
    POSTHORN_CO_TRY(co_await commit(with.where, [&](store_transaction& tx) -> result<> {
        tx.announce();
        POSTHORN_LET(changed, move_to_version(tx, page.alike, order.from, order.to));
        moved = changed;
        return {};
    }));
    sums.moved += moved;
    co_return page;
}

task<http_response> upgrade_workflows(const workflow_desk& with, http_request request,
                                      admin_caller /*who*/) {
    auto order = read_order(request);
    if (!order) co_return answer_to_error(order.error());
    const auto* const code = with.find_code ? with.find_code(order->workflow, order->to) : nullptr;
    bool is_any_open = code != nullptr;
    if (code == nullptr) {
        const auto looked = co_await read(with.where, with.env.readers, [&](store_reader& from) {
            return ask(
                from,
                "SELECT 1 FROM workflow_instances WHERE workflow = ? AND version = ?"
                " AND status IN ('starting', 'running', 'paused', 'quarantined') LIMIT 1",
                [&](const sql_row&) { is_any_open = true; }, order->workflow, order->from);
        });
        if (!looked) co_return answer_to_error(looked.error());
    }
    if (code == nullptr && is_any_open)
        co_return answer_to_error(
            {error_code::not_found,
             fmt::format(
                 "no node that answers here has version {} of {}; ask the one that runs the "
                 "program, with --url",
                 order->to, clean_utf8(order->workflow, 100))});
    upgrade_sums sums;
    const auto begun = with.env.clock.steady();
    bool is_more = is_any_open;
    for (int tries = 0; is_more;) {
        const auto before = sums.moved;
        auto page = co_await upgrade_some(with, *order, *code, sums);
        if (!page) co_return answer_to_error(page.error());
        const auto left = std::ssize(page->alike) - (sums.moved - before);
        // Those that took a step meanwhile are looked at again.
        if (!order->is_dry && left > 0 && ++tries < tries_max) {
            sums.alike += sums.moved - before;
            continue;
        }
        tries = 0;
        sums.alike += order->is_dry ? std::ssize(page->alike) : sums.moved - before;
        if (!order->is_dry) sums.busy += left;
        sums.differ += std::ssize(page->differ);
        for (const auto& each : page->differ)
            if (sums.shown.size() < shown_max)
                sums.shown.push_back(json::object{{"id", clean_utf8(each.id, shown_text_max)},
                                                  {"why", clean_utf8(each.why, shown_text_max)}});
        order->after = page->last;
        is_more = page->is_more;
        if (with.env.clock.steady() - begun > request_time) break;
    }
    json::object answer{{"dryRun", order->is_dry},
                        {"checked", sums.alike + sums.busy + sums.differ},
                        {"alike", sums.alike},
                        {"moved", sums.moved},
                        {"busy", sums.busy},
                        {"differ", sums.differ},
                        {"differing", std::move(sums.shown)}};
    if (is_more) answer["next"] = order->after;
    co_return json_response(200, json::serialize(answer));
}

}  // namespace

std::vector<admin_route> version_routes(const workflow_desk& with) {
    const auto route = [&with](std::string method, std::string path, const route_doc& doc,
                               workflow_work answer) {
        const auto needs = method == "GET" ? admin_role::viewer : admin_role::operator_;
        return admin_route{std::move(method), std::move(path), needs, doc,
                           [&with, answer](http_request request, admin_caller who) {
                               return answer(with, std::move(request), std::move(who));
                           }};
    };
    return {
        route("GET", "/_rf/workflow-versions",
              {.summary = "The versions of workflows that the program has, or had when open ones "
                          "began: whether new ones take it, and how many are open.",
               .answer = "{versions: [WorkflowVersion]}",
               .shapes = version_shapes},
              &list_versions),
        route(
            "POST", "/_rf/workflow-versions/{workflow}/upgrade",
            {.summary = "Gives open workflows of one version to another, each whose history comes "
                        "out the same when that code repeats it; a dry run only looks. Of the "
                        "others it tells the step that differs. After some seconds it says where "
                        "to go on.",
             .answer = "WorkflowUpgrade",
             .body = "{from: integer, to: integer, dryRun?: boolean | string, after?: integer}",
             .shapes = version_shapes},
            &upgrade_workflows),
    };
}

}  // namespace posthorn
