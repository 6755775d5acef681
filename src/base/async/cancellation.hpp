#pragma once

#include <boost/asio/this_coro.hpp>

#include "base/async/task.hpp"
#include "base/result.hpp"

namespace posthorn {

/// Whether the running coroutine was asked to stop.
///
/// Asio tells only operations that are under way; one that starts after the request would wait for
/// ever. Every primitive of ours that waits asks this first.
inline task<bool> is_cancelled() {
    const auto state = co_await boost::asio::this_coro::cancellation_state;
    co_return state.cancelled() != boost::asio::cancellation_type::none;
}

[[nodiscard]] inline std::unexpected<error> cancelled() {
    return fail(error_code::cancelled, "stopped before it finished");
}

/// Runs `body` with cancellation as an error value instead of an exception out of `co_await`.
template <class T>
task<T> cancellable(task<T> body) {
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    co_return co_await std::move(body);
}

}  // namespace posthorn
