#include "base/async/timer.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/cancellation.hpp"

namespace posthorn {

namespace asio = boost::asio;

task<result<>> real_timer::sleep_for(std::chrono::nanoseconds delay) {
    if (co_await is_cancelled()) co_return cancelled();
    asio::steady_timer alarm(co_await asio::this_coro::executor, delay);
    const auto [failure] = co_await alarm.async_wait(asio::as_tuple(asio::use_awaitable));
    if (failure) co_return cancelled();
    co_return result<>{};
}

}  // namespace posthorn
