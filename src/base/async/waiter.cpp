#include "base/async/waiter.hpp"

#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/cancellation.hpp"

namespace posthorn {

namespace asio = boost::asio;

task<bool> waiter::wait() {
    if (co_await is_cancelled()) finish(state::cancelled);
    co_return co_await park(true);
}

task<> waiter::wait_regardless() { co_await park(false); }

task<bool> waiter::park(bool cancellable) {
    const auto suspend = [](auto handler, std::shared_ptr<waiter> self, bool heed) {
        const auto where = asio::get_associated_executor(handler);
        auto slot = asio::get_associated_cancellation_slot(handler);
        auto resume = [where, handler = std::move(handler)](bool woken) mutable {
            asio::post(where, [handler = std::move(handler), woken]() mutable { handler(woken); });
        };
        const std::scoped_lock lock(self->mutex_);
        if (self->state_ != state::idle) return resume(self->state_ == state::woken);
        self->resume_ = std::move(resume);
        if (heed && slot.is_connected())
            slot.assign([self](asio::cancellation_type) { self->finish(state::cancelled); });
    };
    return asio::async_initiate<const asio::use_awaitable_t<>, void(bool)>(
        suspend, asio::use_awaitable, shared_from_this(), cancellable);
}

bool waiter::finish(state to) {
    std::move_only_function<void(bool)> resume;
    {
        const std::scoped_lock lock(mutex_);
        if (state_ != state::idle) return false;
        state_ = to;
        resume = std::exchange(resume_, nullptr);
    }
    if (resume) resume(to == state::woken);
    return true;
}

}  // namespace posthorn
