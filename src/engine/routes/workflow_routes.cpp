#include "engine/routes/workflow_routes.hpp"

#include <array>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "engine/routes/workflow_json.hpp"
#include "engine/rows/state_changes.hpp"
#include "engine/rows/workflow_rows.hpp"
#include "feature/answers.hpp"
#include "store/async.hpp"
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
                "'cancelled', startedAt: time, endedAt?: time, reason?: string}"},
    named_shape{"WorkflowStep",
                "{step: integer, at: time, cause: string, command?: integer, commands: [string],"
                " dropped: [integer], status: string, payload?: any, state?: any, result?: any}"},
    named_shape{"WorkflowCount",
                "{workflow: string, version: integer, status: string, count: integer}"},
};

struct named_instance {
    std::string workflow;
    std::string id;
};

named_instance instance_in(const http_request& request) {
    return {request.parameters.at("workflow"), request.parameters.at("id")};
}

result<instance_row> require_instance(store_reader& from, const named_instance& which) {
    POSTHORN_LET(found, find_instance(from, which.workflow, which.id));
    if (!found)
        return fail(error_code::not_found, "there is no workflow {} {}",
                    clean_utf8(which.workflow, 100), clean_utf8(which.id, 100));
    return *std::move(found);
}

template <class Look>
task<http_response> look_at(const workflow_desk& with, Look look) {
    json::object answer;
    const auto read =
        co_await posthorn::read(with.where, with.env.readers,
                                [&](store_reader& from) -> result<> { return look(from, answer); });
    if (!read) co_return answer_to_error(read.error());
    co_return json_response(200, json::serialize(answer));
}

// --- Looking ---

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
    constexpr std::array<std::string_view, 5> known{"status", "workflow", "id", "limit", "before"};
    const auto asked = read_query_fields(request.query, known);
    if (!asked) co_return answer_to_error(asked.error());
    const auto limit = number_in(*asked, {"limit", rows_max, 100});
    if (!limit) co_return answer_to_error(limit.error());
    const auto before = number_in(*asked, {"before", INT64_MAX, INT64_MAX});
    if (!before) co_return answer_to_error(before.error());
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
    constexpr std::array<std::string_view, 2> known{"limit", "after"};
    const auto asked = read_query_fields(request.query, known);
    if (!asked) co_return answer_to_error(asked.error());
    const auto limit = number_in(*asked, {"limit", rows_max, 100});
    if (!limit) co_return answer_to_error(limit.error());
    const auto after = number_in(*asked, {"after", INT64_MAX, 0});
    if (!after) co_return answer_to_error(after.error());
    const auto which = instance_in(request);
    co_return co_await look_at(with, [&](store_reader& from, json::object& answer) -> result<> {
        POSTHORN_LET(one, require_instance(from, which));
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

// --- Changing ---

result<json::object> body_of(const http_request& request) {
    if (request.body.empty()) return json::object{};
    boost::system::error_code wrong;
    auto body = json::parse(request.body, wrong);
    if (wrong || !body.is_object())
        return fail(error_code::invalid_argument, "the body is not a JSON object");
    return std::move(body.as_object());
}

result<std::string> text_in(const json::object& body, std::string_view field) {
    const auto* const found = body.if_contains(field);
    if (found == nullptr) return std::string{};
    if (!found->is_string()) return fail(error_code::invalid_argument, "{} is to be a text", field);
    return std::string(found->as_string());
}

constexpr std::string_view is_open_sql =
    " AND status IN ('starting', 'running', 'paused', 'quarantined')";

/// One statement, of which at least one row must change; otherwise it is not there, or not so.
task<http_response> change_one(const workflow_desk& with, named_instance which,
                               std::string_view refusal, unit::work_type work) {
    const auto exists = co_await look_at(with, [&](store_reader& from, json::object&) -> result<> {
        POSTHORN_TRY(require_instance(from, which));
        return {};
    });
    if (exists.status != 200) co_return exists;
    const auto done = co_await commit(with.where, std::move(work));
    if (!done && done.error().code() == error_code::state_changed)
        co_return answer_to_error(
            {error_code::state_changed, fmt::format("{} {} {}", clean_utf8(which.workflow, 100),
                                                    clean_utf8(which.id, 100), refusal)});
    if (!done) co_return answer_to_error(done.error());
    co_return co_await look_at(with, [&](store_reader& from, json::object& answer) -> result<> {
        POSTHORN_LET(one, require_instance(from, which));
        answer = workflow_json(one);
        return {};
    });
}

result<> require_change(const result<std::int64_t>& changed) {
    if (!changed) return std::unexpected(changed.error());
    if (*changed == 0) return fail(error_code::state_changed, "nothing was changed");
    return {};
}

task<http_response> signal_workflow(const workflow_desk& with, http_request request,
                                    admin_caller /*who*/) {
    const auto body = body_of(request);
    if (!body) co_return answer_to_error(body.error());
    const auto signal = text_in(*body, "signal");
    if (!signal) co_return answer_to_error(signal.error());
    const auto* const said = body->if_contains("payload");
    if (signal->empty() || said == nullptr)
        co_return answer_to_error(
            {error_code::invalid_argument, "give the signal's name, and its payload as JSON"});
    // The command line has texts only; no signal is one.
    const auto payload =
        said->is_string() ? std::string(said->as_string()) : json::serialize(*said);
    boost::system::error_code wrong;
    if (!json::parse(payload, wrong).is_object() || wrong)
        co_return answer_to_error(
            {error_code::invalid_payload, "the payload of a signal is a JSON object"});
    const auto which = instance_in(request);
    co_return co_await change_one(
        with, which, "has ended, so nothing can be told to it",
        [=, name = *signal](store_transaction& tx) -> result<> {
            tx.announce();
            return require_change(
                change(tx,
                       fmt::format("INSERT INTO workflow_signals (signal, payload, workflow, id)"
                                   " SELECT ?, ?, workflow, id FROM workflow_instances"
                                   " WHERE workflow = ? AND id = ?{}",
                                   is_open_sql),
                       name, payload, which.workflow, which.id));
        });
}

task<http_response> cancel_instance(const workflow_desk& with, http_request request,
                                    admin_caller who) {
    const auto body = body_of(request);
    if (!body) co_return answer_to_error(body.error());
    auto reason = text_in(*body, "reason");
    if (!reason) co_return answer_to_error(reason.error());
    if (reason->empty()) *reason = fmt::format("cancelled by {}", who.name);
    const auto which = instance_in(request);
    co_return co_await change_one(
        with, which, "has ended", [=, why = *reason](store_transaction& tx) -> result<> {
            tx.announce();
            return require_change(
                change(tx,
                       fmt::format("INSERT INTO workflow_mailbox (instance, kind, payload)"
                                   " SELECT instance, 'cancel', ? FROM workflow_instances"
                                   " WHERE workflow = ? AND id = ?{}",
                                   is_open_sql),
                       why, which.workflow, which.id));
        });
}

task<http_response> pause_workflow(const workflow_desk& with, http_request request,
                                   admin_caller /*who*/) {
    const auto which = instance_in(request);
    co_return co_await change_one(
        with, which, "is not running", [=](store_transaction& tx) -> result<> {
            return require_change(change(tx,
                                         "UPDATE workflow_instances SET status = 'paused'"
                                         " WHERE workflow = ? AND id = ?"
                                         " AND status IN ('starting', 'running')",
                                         which.workflow, which.id));
        });
}

task<http_response> resume_workflow(const workflow_desk& with, http_request request,
                                    admin_caller /*who*/) {
    const auto which = instance_in(request);
    co_return co_await change_one(
        with, which, "is neither paused nor quarantined", [=](store_transaction& tx) -> result<> {
            tx.announce();
            POSTHORN_TRY(require_change(change(
                tx,
                "UPDATE workflow_instances SET reason = NULL, status = CASE WHEN EXISTS (SELECT 1"
                " FROM workflow_history h WHERE h.instance = workflow_instances.instance"
                " AND h.run = workflow_instances.run)"
                " THEN 'running' ELSE 'starting' END"
                " WHERE workflow = ? AND id = ? AND status IN ('paused', 'quarantined')",
                which.workflow, which.id)));
            return require_change(change(tx,
                                         "INSERT INTO workflow_mailbox (instance, kind)"
                                         " SELECT instance, ? FROM workflow_instances"
                                         " WHERE workflow = ? AND id = ?",
                                         nudge_text, which.workflow, which.id));
        });
}

}  // namespace

std::vector<admin_route> workflow_routes(const workflow_desk& with) {
    using work = task<http_response> (*)(const workflow_desk&, http_request, admin_caller);
    const auto route = [&with](std::string method, std::string path, const route_doc& doc,
                               work answer) {
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
               .query = "{status?: string, workflow?: string, id?: string, limit?: integer,"
                        " before?: integer}",
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
              {.summary = "Its steps: what came, and what the code did.",
               .answer = "{steps: [WorkflowStep], next?: integer, damage?: string}",
               .query = "{limit?: integer, after?: integer}",
               .shapes = workflow_shapes},
              &show_history),
        route("POST", one + "/signal",
              turn("Tells it a signal; kept until it waits for that.",
                   "{signal: string, payload: any}"),
              &signal_workflow),
        route("POST", one + "/cancel",
              turn("Cancels it; what was to be undone is undone.", "{reason?: string}"),
              &cancel_instance),
        route("POST", one + "/pause", turn("Lets what comes for it wait."), &pause_workflow),
        route("POST", one + "/resume", turn("Lets it go on, also after a quarantine."),
              &resume_workflow),
    };
}

}  // namespace posthorn
