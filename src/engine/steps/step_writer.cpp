#include "engine/steps/step_writer.hpp"

#include <exception>
#include <utility>

#include "base/planted.hpp"
#include "engine/rows/call_ids.hpp"
#include "engine/steps/family.hpp"
#include "engine/steps/matchmaker.hpp"
#include "engine/steps/requests.hpp"
#include "engine/steps/run_end.hpp"
#include "store/user_transaction.hpp"

namespace posthorn {
namespace {

using detail::command_kind;
using detail::event_kind;
using detail::flow_command;

detail::send_request request_of(const pending_step& step, const flow_command& command) {
    const call_name name{step.of.name, step.of.run, command.number};
    const auto& asked = command.options;
    send_options options{.id = id_of(name),
                         .type = message_type::command,
                         .headers = headers_from(step),
                         .correlation_id = to_correlation_id(name),
                         .tenant = asked.tenant.empty() ? step.of.tenant : asked.tenant,
                         .order_key = asked.order_key,
                         .priority = asked.priority,
                         .max_retries = asked.max_retries,
                         .expires_in = asked.expires_in};
    // What undoes a call must not overtake it.
    const bool has_order = command.undoes != 0 || !command.undo_name.empty();
    if (options.order_key.empty() && has_order) options.order_key = step.of.name.to_string();
    return {.destination = command.destination,
            .endpoint = command.name,
            .payload = std::string(step.did.of(command.payload)),
            .options = std::move(options),
            .described = true};
}

std::unexpected<error> was_first(const pending_step& step) {
    return fail(error_code::state_changed, "step {} of {} {} was taken elsewhere", step.number,
                step.of.workflow, step.of.id);
}

result<> write_history(store_transaction& tx, const pending_step& step) {
    const auto& event = step.cause.event;
    // The instance's row has the arguments of the first run for good.
    const bool is_in_row = event.kind == event_kind::start && step.of.run == 1;
    auto state = step.did.state ? std::optional(step.did.of(*step.did.state)) : std::nullopt;
    if (POSTHORN_PLANTED(snapshot_left_out) && event.kind == event_kind::answered) state.reset();
    POSTHORN_LET(
        written,
        change(tx,
               "INSERT INTO workflow_history (instance, run, step, at, version, cause,"
               " command, payload, did, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
               " ON CONFLICT (instance, run, step) DO NOTHING",
               step.of.instance, step.of.run, step.number, event.at.time_since_epoch().count(),
               step.of.version, cause_text(event.kind, event.may_have_taken_effect), event.command,
               is_in_row ? std::string_view() : std::string_view(event.payload), step.deeds,
               state));
    if (written != 1) return was_first(step);
    return {};
}

/// The event is dealt with; a second one who does finds it gone, and so does one whose workflow was
/// paused, or given to another version, meanwhile.
result<> take_cause(store_transaction& tx, const pending_step& step) {
    const auto& event = step.cause.event;
    if (event.kind == event_kind::start) {
        POSTHORN_LET(begun,
                     change(tx,
                            "UPDATE workflow_instances SET status = 'running', version = ?"
                            " WHERE instance = ? AND status = 'starting' AND run = ?"
                            " AND version IN (0, ?)",
                            step.of.version, step.of.instance, step.of.run, step.of.version));
        return begun == 1 ? result<>{} : was_first(step);
    }
    POSTHORN_LET(taken, change(tx,
                               "DELETE FROM workflow_mailbox WHERE seq = ? AND EXISTS"
                               " (SELECT 1 FROM workflow_instances WHERE instance = ?"
                               " AND status = 'running' AND run = ? AND version IN (0, ?))",
                               step.cause.seq, step.of.instance, step.of.run, step.of.version));
    if (taken != 1) return was_first(step);
    if (event.kind != event_kind::signalled) return {};
    POSTHORN_TRY(change(tx, "DELETE FROM workflow_waits WHERE instance = ? AND command = ?",
                        step.of.instance, event.command));
    if (step.made.has(command_kind::receive))
        POSTHORN_TRY(hold_request(tx, step.of.instance, step.cause));
    return {};
}

/// Its result is mail, or a crash would strand the workflow between this commit and the next step.
result<> run_transact(store_transaction& tx, pending_step& step, const flow_command& command,
                      const message_maker& maker) {
    if (const auto why = step.refused.find(command.number); why != step.refused.end())
        return add_result(tx, step, command.number, event_kind::refused, why->second);
    user_transaction seen(tx, maker, headers_from(step));
    std::string given;
    try {
        given = command.transact(seen);
    } catch (const permanent& why) {
        step.refused[command.number] = why.what();
        return fail(error_code::cancelled, "transact refused: {}", why.what());
    } catch (const error& failure) {
        if (failure.code() == error_code::invalid_payload)
            step.bug = fmt::format("command {}: what transact gave cannot be stored: {}",
                                   command.number, failure.what());
        return std::unexpected(failure);
    } catch (const std::exception& failure) {
        return fail(error_code::statement_failed, "transact: {}", failure.what());
    } catch (...) {
        return fail(error_code::statement_failed, "transact threw something unknown");
    }
    POSTHORN_TRY(seen.intact());
    if (POSTHORN_PLANTED(result_without_mail)) return {};
    return add_result(tx, step, command.number, event_kind::done, std::move(given));
}

result<> write_command(store_transaction& tx, pending_step& step, const flow_command& command,
                       const message_maker& maker) {
    const auto instance = step.of.instance;
    switch (command.kind) {
        case command_kind::call:
            return must_change(tx, "workflow_calls",
                               "INSERT INTO workflow_calls (instance, command, destination,"
                               " endpoint, undoes) VALUES (?, ?, ?, ?, ?)",
                               instance, command.number, command.destination, command.name,
                               command.undoes);
        case command_kind::wait:
        case command_kind::receive: {
            auto added = add_wait(tx, {.instance = instance,
                                       .command = command.number,
                                       .signal = command.name,
                                       .terms = step.did.of(command.payload),
                                       .exclusive = command.exclusive});
            if (!added && added.error().code() == error_code::invalid_argument)
                step.bug = fmt::format("command {}: {}", command.number, added.error().what());
            return added;
        }
        case command_kind::sleep:
            return must_change(
                tx, "workflow_timers",
                "INSERT INTO workflow_timers (due_at, instance, command) VALUES (?, ?, ?)",
                command.due.time_since_epoch().count(), instance, command.number);
        case command_kind::transact: return run_transact(tx, step, command, maker);
        case command_kind::run:
            return must_change(tx, "workflow_runs",
                               "INSERT INTO workflow_runs (instance, command) VALUES (?, ?)",
                               instance, command.number);
        case command_kind::patch:  // The record of the step has it.
        case command_kind::again: return {};
        case command_kind::child: return begin_child(tx, step, command);
        case command_kind::start: return begin_other(tx, step, command);
        case command_kind::attach: return attach_to(tx, step, command);
        case command_kind::answer: {
            auto sent = answer_request(tx, step, command, maker);
            if (!sent && is_about_message(sent.error().code()))
                step.bug = fmt::format("command {}: {} cannot be answered so: {}", command.number,
                                       command.name, sent.error().what());
            return sent;
        }
    }
    std::unreachable();
}

}  // namespace

result<> add_result(store_transaction& tx, pending_step& step, std::uint32_t command,
                    event_kind kind, std::string payload) {
    mail made{.event = {.kind = kind, .command = command, .payload = std::move(payload)}};
    POSTHORN_TRY(ask(
        tx,
        "INSERT INTO workflow_mailbox (instance, command, kind, payload) VALUES (?, ?, ?, ?)"
        " RETURNING seq",
        [&](const sql_row& row) { made.seq = row.integer(0); }, step.of.instance, command,
        cause_text(kind, true), made.event.payload));
    if (made.seq == 0) return swallowed("workflow_mailbox");
    step.results.push_back(std::move(made));
    return {};
}

result<> prepare_step(pending_step& step, const message_maker& maker, tracer* traces) {
    if (traces != nullptr) step.span = begin_step_span(step, *traces);
    if (const auto* const next = step.did.next_run(); next && next->name != step.of.workflow)
        return fail(error_code::invalid_argument,
                    "the next run of {} would be {}; give again a workflow of the same name",
                    step.of.workflow, next->name);
    step.deeds = encode_deeds(record(step.cause.event, step.did));
    for (const auto& command : step.did.commands) {
        if (command.kind != command_kind::call) continue;
        auto made = maker.make(request_of(step, command));
        if (!made)
            return fail(made.error().code(), "{} cannot be called: {}", command.name,
                        made.error().what());
        step.calls.push_back(*std::move(made));
    }
    return {};
}

result<> write_step(store_transaction& tx, pending_step& step, const message_maker& maker) {
    step.results.clear();  // Of a unit that was undone.
    POSTHORN_TRY(write_history(tx, step));
    POSTHORN_TRY(take_cause(tx, step));
    for (const auto& command : step.did.commands)
        POSTHORN_TRY(write_command(tx, step, command, maker));
    for (const auto& call : step.calls) POSTHORN_TRY(tx.outbox().insert(call));
    if (step.did.next_run() != nullptr) return write_next_run(tx, step);
    const bool has_others =
        step.made.has(command_kind::child) || step.made.has(command_kind::attach);
    // What one step both makes and drops was made above.
    for (const auto command : step.did.dropped) {
        if (POSTHORN_PLANTED(timer_row_kept)) {
            POSTHORN_TRY(drop_wait(tx, step.of.instance, command));
            continue;
        }
        POSTHORN_LET(slept,
                     change(tx, "DELETE FROM workflow_timers WHERE instance = ? AND command = ?",
                            step.of.instance, command));
        if (slept == 0 && !POSTHORN_PLANTED(loser_left_armed))
            POSTHORN_TRY(drop_wait(tx, step.of.instance, command));
        if (has_others)
            POSTHORN_TRY(change(tx,
                                "DELETE FROM workflow_watches WHERE instance = ? AND command = ?",
                                step.of.instance, command));
    }
    const bool has_children = step.made.has(command_kind::child) || step.of.run > 1;
    if (step.did.has_left && has_children)
        POSTHORN_TRY(leave_children(
            tx, step.of.instance,
            fmt::format("{} {}, which has begun it, has ended", step.of.workflow, step.of.id)));
    if (step.did.status != flow_status::running) return write_end(tx, step, maker);
    return {};
}

result<> drop_mail(store_transaction& tx, std::int64_t instance, const mail& what) {
    if (what.event.kind == event_kind::signalled)
        POSTHORN_TRY(drop_wait(tx, instance, what.event.command));
    POSTHORN_TRY(change(tx, "DELETE FROM workflow_mailbox WHERE seq = ?", what.seq));
    return {};
}

result<> refuse_signal(store_transaction& tx, std::int64_t instance, const mail& what,
                       std::string_view why, const message_maker& maker) {
    POSTHORN_TRY(refuse_request(tx, what.signal, why, maker));
    POSTHORN_TRY(change(tx, "DELETE FROM workflow_mailbox WHERE seq = ?", what.seq));
    return rearm_wait(tx, instance, what.event.command);
}

result<> quarantine(store_transaction& tx, std::int64_t instance, std::string_view reason) {
    POSTHORN_LET(held, change(tx,
                              "UPDATE workflow_instances SET status = 'quarantined', reason = ?"
                              " WHERE instance = ? AND status IN ('starting', 'running')",
                              reason, instance));
    if (held > 0) return {};
    POSTHORN_LET(is_open, is_there(tx,
                                   "SELECT 1 FROM workflow_instances WHERE instance = ?"
                                   " AND status IN ('starting', 'running')",
                                   instance));
    if (is_open) return swallowed("workflow_instances");
    return {};
}

}  // namespace posthorn
