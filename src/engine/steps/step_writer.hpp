#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/rows/workflow_rows.hpp"
#include "engine/steps/step_span.hpp"
#include "store/message_maker.hpp"
#include "store/transaction.hpp"

namespace posthorn {

/// One step on its way into the database: the code has run, and what is left is to write.
///
/// Lifetime: until its unit was answered. Its unit may run more than once.
/// Threads:  made on the flow thread, then only the writer's until it is answered.
struct pending_step {
    instance_row of{};  // As it was before, but with the version that is pinned.
    std::int64_t number = 1;
    command_kinds made{};  // By this step and those before.
    mail cause{};
    detail::flow_step did{};
    std::vector<message> calls{};                    // In the order of their commands.
    std::string deeds{};                             // As the row of the history has them.
    std::map<std::uint32_t, std::string> refused{};  // Functions of `transact` that are not run.
    std::vector<mail> results{};                     // Of `transact`, in the mailbox by its unit.
    std::optional<std::string> bug{};                // Why it can never be stored.
    std::optional<step_span> span{};                 // None where nothing is traced.
};

/// Begins a step's span, if there is a tracer, and makes its messages and the text of its row. An
/// error says why a call cannot be sent.
result<> prepare_step(pending_step& step, const message_maker& maker, tracer* traces);

/// Writes a step: its row, what the code asked for, and that its cause is dealt with.
/// `error_code::state_changed` if another node, or another event, was first: what is in memory is
/// then of no use. `error_code::cancelled` if a function of `transact` refused for good, which the
/// step knows from now on: the unit is to run again.
result<> write_step(store_transaction& tx, pending_step& step, const message_maker& maker);

/// Puts what came of a command at once into the workflow's mailbox.
result<> add_result(store_transaction& tx, pending_step& step, std::uint32_t command,
                    detail::event_kind kind, std::string payload);

/// Something came that the workflow does not wait for any more: no step.
result<> drop_mail(store_transaction& tx, std::int64_t instance, const mail& what);
/// A signal came that is not what it says: the wait goes on, and the sender of a Command hears why.
result<> refuse_signal(store_transaction& tx, std::int64_t instance, const mail& what,
                       std::string_view why, const message_maker& maker);
/// Holds an instance until a person has looked.
result<> quarantine(store_transaction& tx, std::int64_t instance, std::string_view reason);

}  // namespace posthorn
