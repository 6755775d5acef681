#include "store/postgres/commit/news_watcher.hpp"

#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <libpq-fe.h>
#include <unistd.h>

#include "base/async/cancellation.hpp"
#include "base/async/run_on.hpp"
#include "store/postgres/commit/session.hpp"
#include "store/postgres/driver/sql_text.hpp"

namespace posthorn::postgres {

namespace asio = boost::asio;

news_watcher::news_watcher(connect_options where, std::string own, const parts& with,
                           std::function<void()> on_news)
    : where_(std::move(where)), own_(std::move(own)), with_(with), on_news_(std::move(on_news)) {}

result<std::unique_ptr<connection>> news_watcher::open() {
    auto opened = connection::open(where_, with_.time);
    if (!opened) return opened;
    POSTHORN_TRY(limit_silence(**opened));
    POSTHORN_TRY((*opened)->script("LISTEN " + quoted_identifier(channel_of((*opened)->schema()))));
    return opened;
}

task<> news_watcher::run() {
    constexpr std::chrono::seconds pause{1};
    bool told = false;
    while (!co_await is_cancelled()) {
        auto opened = co_await run_on(with_.blocking, [this] { return open(); });
        if (opened) {
            told = false;
            on_news_();  // Of what came while it did not listen.
            co_await listen(**opened);
        } else if (!std::exchange(told, true)) {
            with_.log.warn("Store: no news from other nodes until it is connected again: {Error}",
                           {{"Error", opened.error().what()}});
        }
        if (!co_await with_.sleeper.sleep_for(pause)) co_return;
    }
}

// Until the connection is lost, or it is cancelled.
task<> news_watcher::listen(connection& database) {
    auto* const handle = database.handle();
    // A descriptor of its own: libpq closes the other.
    asio::posix::stream_descriptor events(co_await asio::this_coro::executor,
                                          ::dup(PQsocket(handle)));
    for (;;) {
        bool has_news = false;
        while (PGnotify* const heard = PQnotifies(handle)) {
            has_news |= own_ != heard->extra;
            PQfreemem(heard);
        }
        if (has_news) on_news_();
        // It may have been while it connected, and nothing tells this wait of it.
        if (co_await is_cancelled()) co_return;
        const auto [failure] = co_await events.async_wait(asio::posix::stream_descriptor::wait_read,
                                                          asio::as_tuple(asio::use_awaitable));
        if (failure || PQconsumeInput(handle) != 1) co_return;
    }
}

}  // namespace posthorn::postgres
