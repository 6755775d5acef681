#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/async/executor.hpp"
#include "base/async/task.hpp"
#include "base/async/waiter.hpp"

namespace posthorn {

/// Runs a blocking function on `where` and gives its value, while the coroutine's thread goes on.
///
/// Cancel: not at all; the function would go on without us.
template <class Function>
auto run_on(executor& where, Function function) -> task<decltype(function())> {
    using value_type = decltype(function());
    struct answer {
        std::shared_ptr<waiter> arrival = waiter::make();
        std::optional<value_type> value;
    };
    auto pending = std::make_shared<answer>();
    where.post([pending, function = std::move(function)]() mutable {
        pending->value.emplace(function());
        pending->arrival->wake();
    });
    co_await pending->arrival->wait_regardless();
    co_return *std::move(pending->value);
}

}  // namespace posthorn
