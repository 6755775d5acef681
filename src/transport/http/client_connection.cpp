#include "transport/http/client_connection.hpp"

#include <algorithm>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/parser.hpp>

#include "base/assert.hpp"
#include "base/async/cancellation.hpp"
#include "transport/http/message_io.hpp"
#include "transport/http/unread.hpp"

namespace posthorn {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t first_read_bytes = 4096;

http_response take_response(http::response<http::string_body> message) {
    http_response response;
    response.status = static_cast<std::uint16_t>(message.result_int());
    for (const auto& field : message)
        response.headers.add(std::string(field.name_string()), std::string(field.value()));
    response.body = std::move(message.body());
    return response;
}

task<result<tcp::resolver::results_type>> resolve(http_url to) {
    boost::system::error_code no_address;
    if (const auto address = asio::ip::make_address(to.host, no_address); !no_address)
        co_return tcp::resolver::results_type::create(tcp::endpoint(address, to.port), to.host, "");
    // A lookup under way cannot be broken off: it ends when the system's own patience does.
    tcp::resolver resolver(co_await asio::this_coro::executor);
    auto [failure, found] =
        co_await resolver.async_resolve(to.host, std::to_string(to.port), as_result);
    if (failure)
        co_return fail(error_code::unreachable, "{} cannot be resolved: {}; check the name",
                       to.host, failure.message());
    co_return found;
}

}  // namespace

client_connection::client_connection(client_connection_deps parts)
    : parts_(std::move(parts)),
      stream_(http_stream::tcp_stream(parts_.where), parts_.to.tls ? parts_.tls : nullptr),
      buffer_(unread_bytes_max(parts_.limits.reply_header_bytes_max)) {
    POSTHORN_ASSERT(!parts_.to.tls || parts_.tls != nullptr);
}

task<> client_connection::run(std::shared_ptr<client_connection> self) {
    if (auto opened = co_await self->open(); !opened) {
        self->close(opened.error());
        co_return;
    }
    co_await self->carry();
}

task<result<>> client_connection::open() {
    auto opened = co_await connect();
    if (co_await is_cancelled()) co_return cancelled();
    co_return opened;
}

task<result<>> client_connection::connect() {
    POSTHORN_CO_LET(found, co_await resolve(parts_.to));
    if (closed_) co_return cancelled();
    stream_.expires_after(parts_.limits.connect_timeout);
    const auto [refused, endpoint] = co_await stream_.tcp().async_connect(found, as_result);
    if (refused)
        co_return fail(error_code::unreachable, "{} cannot be reached: {}", origin(parts_.to),
                       refused.message());
    boost::system::error_code ignored;
    stream_.tcp().socket().set_option(tcp::no_delay(true), ignored);
    // A peer that vanishes without a word shows after a while even where nothing is sent.
    stream_.tcp().socket().set_option(asio::socket_base::keep_alive(true), ignored);
    stream_.expires_after(parts_.limits.connect_timeout);
    if (const auto failure = co_await stream_.begin_tls(parts_.to.host))
        co_return fail(error_code::unreachable,
                       "no TLS with {}: {}; check its certificate, its name and the authority",
                       origin(parts_.to), failure.message());
    stream_.expires_never();
    if (parts_.to.tls && !parts_.peer_name.empty()) {
        const auto names = stream_.certified().value_or(std::vector<std::string>{});
        if (std::ranges::find(names, parts_.peer_name) == names.end())
            co_return fail(
                error_code::unreachable,
                "the certificate of {} is not that of the service {}; its common name or "
                "an alternative one must be the service's id",
                origin(parts_.to), parts_.peer_name);
    }
    co_return result<>{};
}

// Whichever ends first, for a failure or because nothing more may come, ends the other.
task<> client_connection::carry() {
    using namespace asio::experimental::awaitable_operators;
    const auto ended = co_await (cancellable(read_replies()) || cancellable(write_requests()));
    if (co_await is_cancelled()) co_return close(cancelled().error());
    close(ended.index() == 0 ? std::get<0>(ended) : std::get<1>(ended));
}

task<error> client_connection::write_requests() {
    while (!closed_) {
        if (unsent_.empty()) {
            writer_ = waiter::make();
            if (!co_await writer_->wait()) break;
            continue;
        }
        // Counts as sent from here on: part of it may have gone out whatever comes of the rest.
        const auto call = sent_.emplace_back(std::move(unsent_.front()));
        unsent_.pop_front();
        if (const auto failure = co_await write_message(stream_, call->message))
            co_return broken(failure);
    }
    co_return cancelled().error();
}

task<error> client_connection::read_replies() {
    for (;;) {
        if (auto begun = co_await await_reply(); !begun) co_return begun.error();
        const auto keeps = co_await read_reply();
        if (!keeps) co_return keeps.error();
        if (!*keeps) {
            // Whatever was sent after a request with such a reply, the peer does not look at.
            quiet_ = kept_ = true;
            co_return error(error_code::unreachable,
                            fmt::format("{} closed the connection", origin(parts_.to)));
        }
        kept_ = true;
    }
}

// Waits for the first byte, so that a peer that closes between requests is seen at once.
task<result<>> client_connection::await_reply() {
    if (buffer_.size() == 0) {
        const auto [failure, bytes] = co_await stream_.read_some(buffer_.prepare(first_read_bytes));
        buffer_.commit(bytes);
        if (failure) co_return std::unexpected(broken(failure));
    }
    quiet_ = false;
    if (sent_.empty())
        co_return fail(error_code::unreachable, "{} answers what was not asked", origin(parts_.to));
    co_return result<>{};
}

// Gives the oldest request its reply; whether the peer keeps the connection.
task<result<bool>> client_connection::read_reply() {
    const auto call = sent_.front();
    for (;;) {
        http::response_parser<http::string_body> parser;
        parser.header_limit(static_cast<std::uint32_t>(parts_.limits.reply_header_bytes_max));
        parser.body_limit(call->reply_bytes_max);
        parser.skip(call->message.method() == http::verb::head);
        if (const auto failure =
                co_await read_message<false>(stream_, buffer_, parser, http_part::whole))
            co_return std::unexpected(broken(failure));
        // The peer closed in the meantime, or a caller gave up and closed.
        if (closed_) co_return cancelled();
        if (parser.get().result_int() < 200) continue;  // Says only that the reply will come.
        sent_.pop_front();
        const bool keeps = parser.keep_alive();
        call->outcome = take_response(parser.release());
        call->done->wake();
        co_return keeps;
    }
}

void client_connection::submit(std::shared_ptr<http_call> call) {
    POSTHORN_ASSERT(has_room());
    if (load() == 0) quiet_ = kept_;
    call->done = waiter::make();
    call->outcome.reset();
    call->unseen = false;
    unsent_.push_back(std::move(call));
    if (writer_) writer_->wake();
}

void client_connection::forget(const std::shared_ptr<http_call>& call) {
    if (std::erase(unsent_, call) > 0) return;
    if (std::ranges::find(sent_, call) == sent_.end()) return;
    quiet_ = false;  // The peer may well be at work on the others.
    // Its reply would be taken for that of the next one.
    close(error(error_code::unreachable,
                fmt::format("a request before this one to {} was given up", origin(parts_.to))));
}

void client_connection::close(const error& why) {
    if (std::exchange(closed_, true)) return;
    stream_.close();
    if (writer_) writer_->wake();
    finish(sent_, why, quiet_);
    finish(unsent_, why, true);
}

void client_connection::finish(calls& from, const error& why, bool unseen) {
    for (const auto& call : std::exchange(from, {})) {
        call->unseen = unseen && kept_;
        call->outcome = std::unexpected(why);
        call->done->wake();
    }
}

bool client_connection::has_room() const noexcept {
    return !closed_ && load() < (kept_ ? parts_.limits.pipeline_max : 1);
}

error client_connection::broken(const boost::system::error_code& failure) const {
    if (failure == http::error::body_limit || failure == http::error::header_limit ||
        failure == http::error::buffer_overflow)
        return {error_code::unreachable,
                fmt::format("{} answers with more than is taken", origin(parts_.to))};
    return {error_code::unreachable, fmt::format("the connection to {} broke off: {}",
                                                 origin(parts_.to), failure.message())};
}

}  // namespace posthorn
