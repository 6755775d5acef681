#include "engine/routes/workflow_routes.hpp"

#include <array>
#include <map>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/text/url_query.hpp"
#include "engine/routes/workflow_changes.hpp"
#include "engine/routes/workflow_json.hpp"
#include "engine/rows/state_changes.hpp"
#include "workflow/matching.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::int64_t rows_max = 1000;

constexpr std::array workflow_shapes{
    named_shape{"Workflow",
                "{seq: integer, workflow: string, id: string, instance: uuid, version: integer, "
                "run: integer, status: "
                "'starting' | 'running' | 'paused' | 'quarantined' | 'completed' | 'failed' | "
                "'cancelled', parent?: integer, startedAt: time, endedAt?: time, reason?: "
                "string}"},
    named_shape{"WorkflowStep",
                "{step: integer, at: time, cause: string, command?: integer, commands: [string],"
                " dropped: [integer], status: string, payload?: any, state?: any, result?: any}"},
    named_shape{"WorkflowCount",
                "{workflow: string, version: integer, status: string, count: integer}"},
};

// One that is damaged is named, and keeps none of the others from being seen.
result<> list_one(store_reader& from, std::int64_t instance, json::array& into) {
    const auto one = find_instance(from, instance);
    if (one && *one) into.push_back(workflow_json(**one));
    if (one) return {};
    if (one.error().code() != error_code::store_corrupt) return std::unexpected(one.error());
    const auto show = [&](const sql_row& row) {
        into.push_back(json::object{{"seq", row.integer(0)},
                                    {"workflow", clean_utf8(row.text(1), shown_text_max)},
                                    {"id", clean_utf8(row.text(2), shown_text_max)},
                                    {"instance", uuid{}.to_string()},
                                    {"version", row.integer(3)},
                                    {"status", row.text(4)},
                                    {"startedAt", time_text(row.integer(5))},
                                    {"reason", one.error().what()}});
    };
    return ask(from,
               "SELECT instance, substr(workflow, 1, 4096), substr(id, 1, 4096), version, status,"
               " started_at FROM workflow_instances WHERE instance = ?",
               show, instance);
}

task<http_response> list_workflows(const workflow_desk& with, http_request request,
                                   admin_caller /*who*/) {
    constexpr std::array<std::string_view, 7> known{"status", "workflow", "id",    "version",
                                                    "parent", "limit",    "before"};
    const auto asked = read_query_fields(request.query, known);
    if (!asked) co_return answer_to_error(asked.error());
    const auto limit = number_in(*asked, {"limit", rows_max, 100});
    if (!limit) co_return answer_to_error(limit.error());
    const auto before = number_in(*asked, {"before", INT64_MAX, INT64_MAX});
    if (!before) co_return answer_to_error(before.error());
    std::map<std::string_view, std::int64_t> numbers;
    for (const std::string_view each : {"version", "parent"}) {
        if (!asked->contains(each)) continue;
        const auto number = number_in(*asked, {each, INT64_MAX, 0});
        if (!number) co_return answer_to_error(number.error());
        numbers[each] = *number;
    }
    const auto status = asked->find("status");
    if (status != asked->end() && !parse_instance_status(status->second))
        co_return answer_to_error(
            {error_code::invalid_argument,
             fmt::format("'{}' is not a status; there are starting, running, paused, quarantined, "
                         "completed, failed and cancelled",
                         clean_utf8(status->second, 100))});
    co_return co_await look_at(with, [&](store_reader& from, json::object& answer) -> result<> {
        std::string sql = "SELECT instance FROM workflow_instances WHERE instance < ?";
        std::vector<sql_param> values{*before};
        for (const std::string_view column : {"status", "workflow", "id"}) {
            const auto wanted = asked->find(column);
            if (wanted == asked->end()) continue;
            sql += fmt::format(" AND {} = ?", column);
            values.emplace_back(std::string_view(wanted->second));
        }
        for (const auto& [column, wanted] : numbers) {
            sql += fmt::format(" AND {} = ?", column);
            values.emplace_back(wanted);
        }
        sql += " ORDER BY instance DESC LIMIT ?";
        values.emplace_back(*limit);
        std::vector<std::int64_t> found;
        POSTHORN_TRY(
            from.query(sql, values, [&](const sql_row& row) { found.push_back(row.integer(0)); }));
        json::array all;
        for (const auto instance : found) POSTHORN_TRY(list_one(from, instance, all));
        answer["workflows"] = std::move(all);
        if (std::ssize(found) == *limit) answer["next"] = found.back();
        return {};
    });
}

/// Those that are open; the others are as many as were ever started.
task<http_response> count_workflows(const workflow_desk& with, http_request /*request*/,
                                    admin_caller /*who*/) {
    co_return co_await look_at(with, [&](store_reader& from, json::object& answer) -> result<> {
        json::array all;
        POSTHORN_TRY(ask(from, open_counts_sql, [&](const sql_row& row) {
            all.push_back(json::object{{"workflow", clean_utf8(row.text(0), shown_text_max)},
                                       {"version", row.integer(1)},
                                       {"status", row.text(2)},
                                       {"count", row.integer(3)}});
        }));
        answer["open"] = std::move(all);
        return {};
    });
}

/// What it waits for, in words.
result<json::array> waits_of(store_reader& from, std::int64_t instance) {
    json::array all;
    POSTHORN_TRY(ask(
        from,
        "SELECT destination, endpoint FROM workflow_calls WHERE instance = ? ORDER BY command",
        [&](const sql_row& row) {
            all.push_back(
                json::string(fmt::format("the answer of {} to {}", row.text(0), row.text(1))));
        },
        instance));
    POSTHORN_TRY(ask(
        from, "SELECT signal, terms FROM workflow_waits WHERE instance = ? ORDER BY command",
        [&](const sql_row& row) {
            const auto terms = parse_terms(row.text(1));
            all.push_back(
                json::string(terms ? in_words(row.text(0), *terms) : std::string(row.text(0))));
        },
        instance));
    POSTHORN_TRY(ask(
        from,
        "SELECT i.workflow, i.id FROM workflow_watches w"
        " JOIN workflow_instances i ON i.instance = w.target"
        " WHERE w.instance = ? ORDER BY w.command LIMIT 1000",
        [&](const sql_row& row) {
            all.push_back(json::string(fmt::format("the end of {} {}",
                                                   clean_utf8(row.text(0), shown_text_max),
                                                   clean_utf8(row.text(1), shown_text_max))));
        },
        instance));
    POSTHORN_TRY(ask(
        from, "SELECT due_at FROM workflow_timers WHERE instance = ? ORDER BY due_at",
        [&](const sql_row& row) {
            all.push_back(json::string(fmt::format("the time {}", time_text(row.integer(0)))));
        },
        instance));
    POSTHORN_TRY(ask(
        from, "SELECT count(*) FROM workflow_runs WHERE instance = ?",
        [&](const sql_row& row) {
            if (row.integer(0) > 0) all.push_back("work outside of the database");
        },
        instance));
    return all;
}

task<http_response> show_workflow(const workflow_desk& with, http_request request,
                                  admin_caller who) {
    constexpr std::array<std::string_view, 2> known{"at", "diff"};
    const auto asked = read_query_fields(request.query, known);
    if (!asked) co_return answer_to_error(asked.error());
    const auto at = number_in(*asked, {"at", INT64_MAX, 0});
    if (!at) co_return answer_to_error(at.error());
    const auto diff = asked->find("diff");
    const bool is_compared = diff != asked->end() && diff->second == "true";
    if (diff != asked->end() && !is_compared && diff->second != "false")
        co_return answer_to_error(
            {error_code::invalid_argument, fmt::format("diff cannot be '{}'; write true or false",
                                                       clean_utf8(diff->second, 100))});
    const auto which = instance_in(request);
    co_return co_await look_at(with, [&](store_reader& from, json::object& answer) -> result<> {
        POSTHORN_LET(one, require_instance(from, which));
        POSTHORN_LET(steps, count_steps(from, one));
        if (*at > steps)
            return fail(error_code::not_found, "{} {} has {} steps by now, so there is no step {}",
                        one.workflow, clean_utf8(one.id, 100), steps, *at);
        answer = workflow_json(one);
        answer["steps"] = steps;
        POSTHORN_LET(waits, waits_of(from, one.instance));
        answer["waitsFor"] = std::move(waits);
        if (one.status == instance_status::quarantined)
            if (const auto differs = parse_difference(one.reason))
                answer["differs"] = workflow_json(*differs);
        if (!who.rights.payloads) return {};
        answer["arguments"] = stored_json(one.arguments);
        if (one.status == instance_status::completed) answer["result"] = stored_json(one.result);
        const auto last = *at > 0 ? *at : steps;
        POSTHORN_LET(state, read_state(from, one, last));
        const auto after = state_json(state);
        if (after) answer["state"] = *after;
        if (*at == 0 && !is_compared) return {};
        POSTHORN_LET(earlier, read_state(from, one, last - 1));
        const auto before = state_json(earlier);
        if (is_compared) answer["changes"] = workflow_json(find_changes(before, after));
        if (before && !is_compared) answer["before"] = *before;
        return {};
    });
}

task<http_response> show_history(const workflow_desk& with, http_request request,
                                 admin_caller who) {
    constexpr std::array<std::string_view, 3> known{"limit", "after", "run"};
    const auto asked = read_query_fields(request.query, known);
    if (!asked) co_return answer_to_error(asked.error());
    const auto limit = number_in(*asked, {"limit", rows_max, 100});
    if (!limit) co_return answer_to_error(limit.error());
    const auto after = number_in(*asked, {"after", INT64_MAX, 0});
    if (!after) co_return answer_to_error(after.error());
    const auto run = number_in(*asked, {"run", INT64_MAX, 0});
    if (!run) co_return answer_to_error(run.error());
    const auto which = instance_in(request);
    co_return co_await look_at(with, [&](store_reader& from, json::object& answer) -> result<> {
        POSTHORN_LET(one, require_instance(from, which));
        if (*run != 0) one.run = *run;
        POSTHORN_LET(steps, count_steps(from, one));
        POSTHORN_LET(found, read_steps(from, one, {.after = *after, .count = *limit}));
        json::array all;
        auto number = *after;
        for (const auto& each : found.steps)
            all.push_back(workflow_json(each, ++number, who.rights.payloads));
        answer["steps"] = std::move(all);
        if (found.damage)
            answer["damage"] = clean_utf8(found.damage->what(), shown_text_max);
        else if (number < steps)
            answer["next"] = number;
        return {};
    });
}

}  // namespace

std::vector<admin_route> workflow_routes(const workflow_desk& with) {
    const auto route = [&with](std::string method, std::string path, const route_doc& doc,
                               workflow_work answer) {
        const auto needs = method == "GET" ? admin_role::viewer : admin_role::operator_;
        return admin_route{std::move(method), std::move(path), needs, doc,
                           [&with, answer](http_request request, admin_caller who) {
                               return answer(with, std::move(request), std::move(who));
                           }};
    };
    const std::string one = "/_rf/workflows/{workflow}/{id}";
    const auto turn = [](std::string_view summary, std::string_view body = {}) {
        return route_doc{
            .summary = summary, .answer = "Workflow", .body = body, .shapes = workflow_shapes};
    };
    return {
        route("GET", "/_rf/workflows",
              {.summary = "Workflows, the newest first.",
               .answer = "{workflows: [Workflow], next?: integer}",
               .query = "{status?: string, workflow?: string, id?: string, version?: integer,"
                        " parent?: integer, limit?: integer, before?: integer}",
               .shapes = workflow_shapes},
              &list_workflows),
        route("GET", "/_rf/workflows/counts",
              {.summary = "How many are open, by name, version and status.",
               .answer = "{open: [WorkflowCount]}",
               .shapes = workflow_shapes},
              &count_workflows),
        route(
            "GET", one,
            {.summary = "One workflow: what it waits for, the step that differs from its record if "
                        "it is quarantined for that and, for those who may see payloads, its "
                        "state, or that after a step, with the one before or what changed.",
             .answer = "{...Workflow, steps: integer, waitsFor: [string], differs?: {step: integer,"
                       " recorded?: string, found?: string}, arguments?: any, state?: any,"
                       " before?: any, changes?: [{path: string, before?: any, after?: any}],"
                       " result?: any}",
             .query = "{at?: integer, diff?: boolean}",
             .shapes = workflow_shapes},
            &show_workflow),
        route("GET", one + "/history",
              {.summary =
                   "Its steps: what came, and what the code did; of its present run, or of the "
                   "one before.",
               .answer = "{steps: [WorkflowStep], next?: integer, damage?: string}",
               .query = "{limit?: integer, after?: integer, run?: integer}",
               .shapes = workflow_shapes},
              &show_history),
        route("POST", one + "/signal",
              turn("Tells it a signal; kept until it waits for that.",
                   "{signal: string, payload: any}"),
              &signal_workflow),
        route("POST", one + "/cancel",
              turn("Cancels it; what was to be undone is undone.", "{reason?: string}"),
              &cancel_instance),
        route("POST", one + "/terminate",
              turn("Ends it at once, whatever it is at; nothing is undone.", "{reason?: string}"),
              &terminate_instance),
        route("POST", one + "/pause", turn("Lets what comes for it wait."), &pause_workflow),
        route("POST", one + "/resume", turn("Lets it go on, also after a quarantine."),
              &resume_workflow),
    };
}

}  // namespace posthorn
