#pragma once

#include <chrono>
#include <functional>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>

#include "base/assert.hpp"
#include "base/async/task_group.hpp"
#include "base/async/virtual_time.hpp"

namespace posthorn {

/// Runs coroutines on the calling thread under virtual time: the virtual version of `io_threads`.
///
/// Whatever is ready runs first; only when nothing is does time move on to the next sleeper, so an
/// hour passes in no time and every run of the same work is the same.
/// Threads: one only.
class virtual_loop {
public:
    [[nodiscard]] boost::asio::any_io_executor executor() { return context_.get_executor(); }
    [[nodiscard]] virtual_time& time() noexcept { return time_; }

    /// Runs what is ready, without moving the time.
    void settle();
    /// Runs until the condition holds; false if it does not within `limit` of virtual time.
    bool run_until(const std::function<bool()>& condition,
                   std::chrono::nanoseconds limit = std::chrono::hours{1});
    void run_for(std::chrono::nanoseconds span);

    /// Runs `body` to its end and gives its value.
    template <class T>
    T run(task<T> body) {
        auto outcome = start(executor(), std::move(body));
        constexpr std::chrono::hours year{24 * 365};
        const auto ended = [&] {
            return outcome.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
        };
        POSTHORN_ASSERT(run_until(ended, year));
        return outcome.get();
    }

private:
    boost::asio::io_context context_{1};
    virtual_time time_;
};

}  // namespace posthorn
