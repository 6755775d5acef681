#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "engine/steps/step_writer.hpp"
#include "store/transaction.hpp"

/// Workflows that begin others, and wait for their ends; inside a unit. What cannot be, such as a
/// child of an id that was used before, is told to the workflow as an end.
namespace posthorn {

/// Whether there is another one to begin, once this step is committed. Pure.
[[nodiscard]] bool begins_others(const detail::flow_step& did);

result<> begin_child(store_transaction& tx, pending_step& step,
                     const detail::flow_command& command);
/// Of a bad id nothing hears: it is the bug of the step.
result<> begin_other(store_transaction& tx, pending_step& step,
                     const detail::flow_command& command);
result<> attach_to(store_transaction& tx, pending_step& step, const detail::flow_command& command);

/// The parent has come to its end: its children are cancelled or ended, as was said of each.
result<> leave_children(store_transaction& tx, std::int64_t parent, std::string_view why);

/// Tells those who wait for the end of a workflow what has become of it.
result<> tell_end(store_transaction& tx, std::int64_t instance, detail::event_kind how,
                  std::string_view payload);

/// Ends a workflow at once, and nothing that it did is undone: its mail says so. No step is taken.
result<> terminate(store_transaction& tx, std::int64_t instance, const mail& what, wall_time now,
                   const message_maker& maker);

}  // namespace posthorn
