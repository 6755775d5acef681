#pragma once

#include "base/result.hpp"
#include "engine/steps/step_writer.hpp"
#include "store/transaction.hpp"

/// What a step writes that ends a run, inside its unit.
namespace posthorn {

/// The workflow has ended: its row says how, and nothing is left that waits for it.
result<> write_end(store_transaction& tx, const pending_step& step, const message_maker& maker);

/// The run has ended, and the next one is to begin. What came for the workflow and not for a command
/// of this run stays: its signals, and a cancellation. Of the history this run is kept, and those
/// before it go.
result<> write_next_run(store_transaction& tx, const pending_step& step);

}  // namespace posthorn
