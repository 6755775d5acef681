#include "base/async/bell.hpp"

#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "base/async/cancellation.hpp"

namespace posthorn {

void bell::ring() {
    std::shared_ptr<waiter> woken;
    {
        const std::scoped_lock lock(mutex_);
        rung_ = true;
        woken = std::exchange(waiting_, nullptr);
    }
    if (woken) woken->wake();  // Without the lock, which it is about to take.
}

std::shared_ptr<waiter> bell::listen() {
    const std::scoped_lock lock(mutex_);
    auto turn = waiter::make();
    if (rung_)
        turn->wake();
    else
        waiting_ = turn;
    return turn;
}

bool bell::take() {
    const std::scoped_lock lock(mutex_);
    waiting_ = nullptr;
    return std::exchange(rung_, false);
}

task<bool> bell::wait() {
    if (co_await is_cancelled()) co_return false;
    co_await listen()->wait();
    if (co_await is_cancelled()) co_return false;
    co_return take();
}

task<bool> bell::wait_for(timer& time, std::chrono::nanoseconds limit) {
    using namespace boost::asio::experimental::awaitable_operators;
    if (co_await is_cancelled()) co_return false;
    const auto turn = listen();
    // Which of the two came first does not matter: the ring itself says whether it was heard.
    co_await (cancellable(turn->wait()) || cancellable(time.sleep_for(limit)));
    if (co_await is_cancelled()) co_return false;
    co_return take();
}

}  // namespace posthorn
