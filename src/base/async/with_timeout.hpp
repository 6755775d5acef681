#pragma once

#include <chrono>
#include <exception>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/async/timer.hpp"
#include "base/result.hpp"

namespace posthorn {

/// `body`'s outcome, or `error_code::timed_out` if it takes longer than `limit`.
///
/// A body that is late is cancelled and awaited, so that nothing it uses is left in use: one that
/// does not heed cancellation delays the answer.
template <class T>
task<result<T>> with_timeout(timer& time, std::chrono::nanoseconds limit, task<result<T>> body) {
    using namespace boost::asio::experimental::awaitable_operators;
    struct ended {
        result<T> outcome;
        std::exception_ptr failure;
    };

    // `||` takes an exception for "not yet", and would wait for the timer.
    const auto catching = [](task<result<T>> inner) -> task<ended> {
        try {
            co_return ended{co_await cancellable(std::move(inner)), nullptr};
        } catch (...) {
            co_return ended{cancelled(), std::current_exception()};
        }
    };
    auto first = co_await (catching(std::move(body)) || cancellable(time.sleep_for(limit)));
    if (first.index() == 0) {
        auto& body_ended = std::get<0>(first);
        if (body_ended.failure) std::rethrow_exception(body_ended.failure);
        co_return std::move(body_ended.outcome);
    }
    if (!std::get<1>(first)) co_return cancelled();
    co_return fail(error_code::timed_out, "not finished within {} ms",
                   std::chrono::duration_cast<std::chrono::milliseconds>(limit).count());
}

}  // namespace posthorn
