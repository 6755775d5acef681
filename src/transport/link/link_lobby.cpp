#include "transport/link/link_lobby.hpp"

#include <algorithm>
#include <utility>

#include <poll.h>

#include "base/assert.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

}  // namespace

milliseconds link_lobby::until_next(milliseconds at_most) const {
    if (waiting_.empty()) return at_most;
    const auto left = waiting_.front().since + most_.patience - with_.time.steady();
    return std::clamp(std::chrono::ceil<milliseconds>(left), milliseconds{0}, at_most);
}

void link_lobby::drop_overdue(news& into) {
    const auto now = with_.time.steady();
    while (!waiting_.empty() && now - waiting_.front().since >= most_.patience) {
        into.trouble.emplace_back("one that connected did not say who it is in time");
        waiting_.erase(waiting_.begin());
    }
}

void link_lobby::drop_oldest(news& into) {
    into.trouble.emplace_back("too many have connected and not said who they are");
    waiting_.erase(waiting_.begin());
}

void link_lobby::let_in(link_socket came, news& into) {
    while (waiting_.size() >= most_.waiting_max) drop_oldest(into);
    const auto with = with_.security();
    if (!with) {
        into.trouble.emplace_back("its own certificate cannot be read");
        return;
    }
    guest one{.socket = std::move(came),
              .greeting = with_.greet(),
              .since = with_.time.steady(),
              .is_secure = with->is_plain()};
    if (const auto ready = one.socket.expect(*with); !ready) {
        into.trouble.emplace_back(ready.error().what());
        return;
    }
    waiting_.push_back(std::move(one));
}

link_lobby::progress link_lobby::shake(guest& one) {
    const auto step = one.socket.shake();
    one.is_secure = step.what == link_step::kind::done;
    one.wants_to_write = step.what == link_step::kind::wait_to_write;
    if (step.what != link_step::kind::ended) return progress::waits;
    one.trouble = one.socket.trouble();
    return progress::gone;
}

link_lobby::progress link_lobby::listen(guest& one) {
    for (;;) {
        const auto wanted = one.greeting->wanted();
        if (wanted == 0) return progress::over;
        POSTHORN_ASSERT(wanted <= bytes_max);
        const auto had = one.heard.size();
        one.heard.resize(wanted);
        const auto step = one.socket.read_some(std::span(one.heard).subspan(had));
        one.heard.resize(had + step.bytes);
        one.wants_to_write = step.what == link_step::kind::wait_to_write;
        if (step.what == link_step::kind::ended) return progress::gone;
        if (step.what != link_step::kind::done) return progress::waits;
        if (one.heard.size() < wanted) continue;
        const auto answer = one.greeting->take(one.heard);
        one.heard.clear();
        // Who does not take these few bytes at once has asked for something else.
        if (!answer.empty() && one.socket.write_some(answer).bytes != answer.size())
            return progress::gone;
    }
}

link_lobby::progress link_lobby::go_on(guest& one) {
    if (!one.is_secure) {
        const auto shaken = shake(one);
        if (shaken == progress::gone || !one.is_secure) return shaken;
    }
    return listen(one);
}

link_lobby::news link_lobby::look(milliseconds at_most) {
    news found;
    std::vector<pollfd> all;
    const auto add = [&](int descriptor, short events) {
        all.push_back({.fd = descriptor, .events = events, .revents = 0});
    };
    add(has_no_room_ ? -1 : with_.at.descriptor(), POLLIN);
    has_no_room_ = false;
    for (const auto& each : waiting_)
        add(each.socket.descriptor(), each.wants_to_write ? POLLOUT : POLLIN);
    ::poll(all.data(), all.size(), static_cast<int>(until_next(at_most).count()));

    std::vector<guest> still;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
        auto& one = waiting_[i];
        const auto came = all[i + 1].revents == 0 ? progress::waits : go_on(one);
        if (came == progress::over)
            found.over.push_back({std::move(one.socket), std::move(one.greeting)});
        else if (came == progress::gone)
            found.trouble.push_back(one.trouble.empty() ? "one that connected went away again"
                                                        : std::move(one.trouble));
        else
            still.push_back(std::move(one));
    }
    waiting_ = std::move(still);
    drop_overdue(found);
    if (all.front().revents != 0) {
        auto came = with_.at.accept(milliseconds{0});
        found.is_closed = !came;
        if (came && *came)
            let_in(**std::move(came), found);
        else
            has_no_room_ = true;
    }
    return found;
}

}  // namespace posthorn
