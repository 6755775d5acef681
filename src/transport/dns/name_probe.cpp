#include "transport/dns/name_probe.hpp"

#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/async/task_group.hpp"

namespace posthorn {
namespace {

std::unexpected<error> no_more() {
    return fail(error_code::cancelled, "names are not asked for any more");
}

task<> look(resolver& by, std::string name, result<>& said) {
    const auto found = co_await by.find(std::move(name));
    if (found) co_return;
    const auto code = found.error().code();
    if (code == error_code::timed_out || code == error_code::cancelled)
        said = std::unexpected(found.error());
}

}  // namespace

/// One name, on the thread that asks.
struct name_probe::question {
    explicit question(const resolver_options& options) : names(time, options) {}

    real_timer time;
    resolver names;
    boost::asio::io_context loop{1};
    task_group group{loop.get_executor()};
};

name_probe::name_probe(resolver_options options) : options_(std::move(options)) {}

result<> name_probe::ask(const std::string& name) {
    question one(options_);
    {
        const std::lock_guard held(mutex_);
        if (is_cut_) return no_more();
        under_way_.push_back(&one);
    }
    result<> said;
    one.group.spawn(look(one.names, name, said));
    auto ended = start(one.loop.get_executor(), one.group.join());
    one.loop.run();
    {
        const std::lock_guard held(mutex_);
        std::erase(under_way_, &one);
    }
    ended.get();
    return said;
}

void name_probe::cut() {
    const std::lock_guard held(mutex_);
    is_cut_ = true;
    for (auto* const each : under_way_)
        boost::asio::post(each->loop, [each] { each->group.cancel(); });
}

}  // namespace posthorn
