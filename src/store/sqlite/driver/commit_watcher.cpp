#include "store/sqlite/driver/commit_watcher.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/async/cancellation.hpp"
#include "base/async/with_timeout.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// The system's news of writes to one file.
class commit_watcher::announcements {
public:
    announcements(const asio::any_io_executor& where, const std::string& path)
        : events_(where, inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
        works_ = inotify_add_watch(events_.native_handle(), path.c_str(), IN_MODIFY) >= 0;
    }

    [[nodiscard]] bool work() const noexcept { return works_; }

    /// Waits for one; false when cancelled.
    task<bool> next() {
        if (co_await is_cancelled()) co_return false;
        const auto [failure, size] = co_await events_.async_read_some(
            asio::buffer(buffer_), asio::as_tuple(asio::use_awaitable));
        co_return !failure;
    }

    task<result<bool>> heard() { co_return co_await next(); }

    /// Whether there are any without waiting; they are used up.
    bool more() {
        bool any = false;
        while (::read(events_.native_handle(), buffer_.data(), buffer_.size()) > 0) any = true;
        return any;
    }

private:
    asio::posix::stream_descriptor events_;
    std::array<char, 4096> buffer_{};
    bool works_ = false;
};

/// Sees that there was a commit, ours or not. What it cannot see counts as a commit.
class commit_watcher::sight {
public:
    explicit sight(const std::string& path) {
        // Never waits: it runs among the network's work.
        auto opened = connection::open({.path = path, .busy_timeout = 0ms});
        if (!opened) return;
        database_ = *std::move(opened);
        version_.emplace(*database_, "PRAGMA data_version");
    }

    /// Whether there was a commit since it was last asked.
    bool changed() {
        if (!version_) return true;
        const auto version = version_->run();
        if (!version || version->empty()) return true;
        const auto now = version->front().integer(0);
        return std::exchange(seen_, now) != now;
    }

private:
    std::optional<connection> database_;
    std::optional<statement> version_;
    std::int64_t seen_ = -1;
};

commit_watcher::commit_watcher(std::string database_path, timer& sleeper, logger& log,
                               question changed, std::function<void()> on_change)
    : path_(std::move(database_path)),
      sleeper_(sleeper),
      log_(log),
      changed_(std::move(changed)),
      on_change_(std::move(on_change)) {}

task<> commit_watcher::run() {
    announcements news(co_await asio::this_coro::executor, path_ + "-wal");
    if (!news.work()) {
        log_.warn("Store: no news of other processes' commits; they are found by the sweep", {});
        co_return;
    }
    sight eyes(path_);
    do {  // At first for what was committed before there was news of it.
        co_await look_for_a_while(news, eyes);
    } while (co_await next_while_looking(news, eyes));
}

// The news is of the write; the commit shows after its sync, which a busy disk takes long for. So
// it looks now and then for a second, while it waits for more.
task<bool> commit_watcher::next_while_looking(announcements& from, sight& through) {
    for (const std::chrono::nanoseconds pause : {200ms, 300ms, 400ms}) {
        // The two that race below would not know of an end that came while we looked.
        if (co_await is_cancelled()) co_return false;
        const auto heard = co_await with_timeout(sleeper_, pause, from.heard());
        if (heard) co_return *heard;
        if (heard.error().code() != error_code::timed_out) co_return false;
        if (through.changed() && co_await changed_()) on_change_();
    }
    co_return co_await from.next();
}

// A look that finds nothing but our own, again and again, is for nothing: then it looks seldom, and
// news does not hurry it. But others that committed of late may do so again.
bool commit_watcher::is_sparing() const {
    constexpr int own_in_a_row_max = 8;
    constexpr std::chrono::nanoseconds others_matter = 1s;
    return own_in_a_row_ >= own_in_a_row_max && since_others_ >= others_matter;
}

task<> commit_watcher::look(sight& through) {
    if (!through.changed()) co_return;
    ++own_in_a_row_;
    if (!co_await changed_()) co_return;
    own_in_a_row_ = 0;
    since_others_ = 0ns;
    on_change_();
}

// Each pause is as long as all before it, so a commit is seen within twice the time of its sync;
// a quiet file, with but a beat of its holder now and then, does not wake us for long. News ends a
// longer pause; short ones are not worth a race of two.
task<> commit_watcher::look_for_a_while(announcements& from, sight& through) {
    constexpr std::chrono::nanoseconds pause_min = 50us;
    constexpr std::chrono::nanoseconds pause_short = 1ms;
    constexpr std::chrono::nanoseconds pause_sparing = 10ms;
    constexpr std::chrono::nanoseconds while_max = 100ms;
    std::chrono::nanoseconds pause = pause_min;
    std::chrono::nanoseconds waited{};
    own_in_a_row_ = 0;
    while (waited < while_max) {
        co_await look(through);
        const bool is_deaf = pause <= pause_short || is_sparing();
        if (co_await is_cancelled()) co_return;
        const auto heard = is_deaf ? co_await deaf_pause(from, pause)
                                   : co_await with_timeout(sleeper_, pause, from.heard());
        if (!heard && heard.error().code() != error_code::timed_out) co_return;
        waited += pause;
        since_others_ += pause;
        pause *= 2;
        if (!heard || !*heard) continue;
        waited = 0ns;  // The writing goes on.
        if (is_deaf)
            pause = std::min(pause, is_sparing() ? pause_sparing : pause_short);
        else
            pause = pause_min;
    }
}

/// Whether there was news meanwhile.
task<result<bool>> commit_watcher::deaf_pause(announcements& from, std::chrono::nanoseconds pause) {
    POSTHORN_CO_TRY(co_await sleeper_.sleep_for(pause));
    co_return from.more();
}

}  // namespace posthorn::sqlite
