#pragma once

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
#error \
    "<posthorn/workflow.hpp> holds coroutines, which GCC before 14 miscompiles; use Clang or GCC 14, or <posthorn/posthorn.hpp>"
#endif

/// Workflows: coroutines whose progress is recorded, so that they go on after a crash as if nothing
/// had happened.
///
///     posthorn::workflow<receipt> approve_order(posthorn::flow<phase>& f, order o) {
///         co_await f.call<stock>(reserve{o.id}).undo(release{o.id});
///         const auto answer = co_await f.wait(posthorn::the<&decided::order_id> == o.id).within(72h);
///         if (!answer) throw posthorn::failed("nothing was decided in three days");
///         co_return co_await f.call<billing>(charge{o.id, o.cents});
///     }
///     POSTHORN_WORKFLOW(approve_order, "ApproveOrder", 1)
#include <posthorn/workflow/failure.hpp>
#include <posthorn/workflow/flow.hpp>
#include <posthorn/workflow/function.hpp>
#include <posthorn/workflow/hosting.hpp>
#include <posthorn/workflow/match.hpp>
#include <posthorn/workflow/pending.hpp>
