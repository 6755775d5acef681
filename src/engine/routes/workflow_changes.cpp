#include "engine/routes/workflow_changes.hpp"

#include <utility>

#include <boost/json/parse.hpp>

#include "engine/routes/workflow_json.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

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

/// Its mail of such a kind, with the reason that the request gives.
task<http_response> tell_instance(const workflow_desk& with, http_request request, admin_caller who,
                                  std::string_view kind, std::string_view done) {
    const auto body = body_of(request);
    if (!body) co_return answer_to_error(body.error());
    auto reason = text_in(*body, "reason");
    if (!reason) co_return answer_to_error(reason.error());
    if (reason->empty()) *reason = fmt::format("{} by {}", done, who.name);
    const auto which = instance_in(request);
    co_return co_await change_one(
        with, which, "has ended", [=, why = *reason](store_transaction& tx) -> result<> {
            tx.announce();
            return require_change(
                change(tx,
                       fmt::format("INSERT INTO workflow_mailbox (instance, kind, payload)"
                                   " SELECT instance, ?, ? FROM workflow_instances"
                                   " WHERE workflow = ? AND id = ?{}",
                                   is_open_sql),
                       kind, why, which.workflow, which.id));
        });
}

}  // namespace

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
    return tell_instance(with, std::move(request), std::move(who), "cancel", "cancelled");
}

task<http_response> terminate_instance(const workflow_desk& with, http_request request,
                                       admin_caller who) {
    return tell_instance(with, std::move(request), std::move(who), termination_text, "ended");
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

}  // namespace posthorn
