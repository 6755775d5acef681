#include "transport/unix/unix_channel.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "base/async/cancellation.hpp"

namespace posthorn {
namespace {

using call_ptr = std::shared_ptr<unix_connection::call>;

task<result<wire_reply>> answer_to(std::shared_ptr<unix_connection> on, call_ptr one) {
    if (co_await one->answered->wait()) co_return std::move(one->answer);
    on->forget(*one);
    on->suspect(*one);
    co_return cancelled();
}

}  // namespace

unix_channel::unix_channel(boost::asio::any_io_executor where, timer& time,
                           unix_channel_options options)
    : where_(std::move(where)), time_(time), options_(std::move(options)) {}

unix_channel::~unix_channel() {
    if (!connection_) return;
    boost::asio::post(where_, [last = std::move(connection_)] { last->close("no longer needed"); });
}

result<> unix_channel::connect() {
    if (connection_ && connection_->is_usable()) return {};
    POSTHORN_LET(opened, unix_connection::open(where_, options_.path, options_.replies));
    // One that is not usable ends by itself, when the last of its requests has.
    connection_ = std::move(opened);
    connection_->keep_time(time_, options_.exchange_timeout);
    return {};
}

task<result<wire_reply>> unix_channel::exchange(wire_request request) {
    if (co_await is_cancelled()) co_return cancelled();
    POSTHORN_CO_TRY(connect());
    const auto on = connection_;
    POSTHORN_CO_LET(one, on->send(std::move(request)));
    auto answer = co_await answer_to(on, one);
    if (answer || answer.error().code() != error_code::timed_out) co_return answer;
    co_return fail(error_code::unreachable, "no answer on {} within {} ms", options_.path,
                   options_.exchange_timeout.count());
}

}  // namespace posthorn
