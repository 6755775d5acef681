#pragma once

#include <memory>
#include <utility>

#include "base/async/executor.hpp"
#include "base/async/waiter.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Runs a unit and waits until it is on disk.
///
/// Cancel: not at all; a commit is never cancelled.
task<result<>> commit(store& where, unit::work_type work);

/// Reads on `readers`, so that the coroutine's thread is not blocked.
task<result<>> read(store& where, executor& readers, std::function<result<>(store_reader&)> look);

/// Waits until everything that is visible now survives a power cut.
task<result<>> barrier(store& where);

}  // namespace posthorn
