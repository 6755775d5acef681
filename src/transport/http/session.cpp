#include "transport/http/session.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <fmt/format.h>

#include "transport/http/body_source.hpp"
#include "transport/http/message_io.hpp"
#include "transport/http/unread.hpp"

namespace posthorn {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t first_read_bytes = 4096;
// After a refusal the peer may still be sending. Closing at once would reset the connection and
// could take the refusal with it, so a little more is read and dropped first.
constexpr std::size_t linger_bytes_max = std::size_t{4} * 1024 * 1024;
constexpr auto linger_timeout = std::chrono::seconds(2);

// The refusal that a failure to read deserves, or nothing where no peer would read it.
std::optional<http_response> refusal_for(const boost::system::error_code& failure,
                                         const http_limits& limits) {
    if (failure == http::error::header_limit)
        return error_response(431, "headers_too_large",
                              fmt::format("request line and headers are limited to {} bytes",
                                          limits.header_bytes_max));
    if (failure == http::error::buffer_overflow)
        return error_response(431, "headers_too_large",
                              "the head of a chunk, or what follows the last, is too long");
    if (failure == http::error::body_limit)
        return error_response(413, "body_too_large",
                              fmt::format("a body is limited to {} bytes", limits.body_bytes_max));
    if (failure == http::error::end_of_stream || failure == http::error::partial_message)
        return std::nullopt;
    if (failure.category() == make_error_code(http::error::bad_method).category())
        return error_response(400, "malformed_request",
                              fmt::format("this is not HTTP/1.1: {}", failure.message()));
    return std::nullopt;
}

// Empty where the peer is gone already.
std::string address_of(const asio::ip::tcp::socket& socket) {
    boost::system::error_code failure;
    const auto address = socket.remote_endpoint(failure).address();
    if (failure) return {};
    // A socket of IPv6 that takes IPv4 too shows those peers inside an address of its own kind.
    if (address.is_v6() && address.to_v6().is_v4_mapped())
        return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
    return address.to_string();
}

// Beast takes two lengths that agree, and goes by none where a coding is not chunked; a proxy may
// have seen another end of the body, and what follows it would be a request of its own.
template <class Parser>
bool has_one_length(const Parser& incoming) {
    const auto& head = incoming.get();
    const auto codings = head.count(http::field::transfer_encoding);
    if (codings + head.count(http::field::content_length) > 1) return false;
    if (head[http::field::content_length].find(',') != boost::beast::string_view::npos)
        return false;
    return codings == 0 || (head.version() >= 11 &&
                            boost::beast::iequals(head[http::field::transfer_encoding], "chunked"));
}

// Nothing if it has no path, or not one host. Taken before the body is read: what follows a body in
// chunks is not a header, though it looks like one (RFC 9110, 6.5).
template <class Head>
std::optional<http_request> take_head(const Head& head) {
    const auto target = split_target(std::string_view(head.target()));
    if (!target || (head.version() >= 11 && head.count(http::field::host) != 1))
        return std::nullopt;
    http_request request;
    request.method = std::string(head.method_string());
    request.path = std::string(target->path);
    request.query = std::string(target->query);
    for (const auto& field : head)
        request.headers.add(std::string(field.name_string()), std::string(field.value()));
    return request;
}

template <class Body>
http::response<Body> make_message(const http_response& response, unsigned version) {
    http::response<Body> message;
    message.version(version);
    message.result(response.status);
    for (const auto& [name, value] : response.headers) message.insert(name, value);
    message.content_length(response.body.size());
    return message;
}

}  // namespace

http_session::http_session(http_stream stream, http_session_deps with)
    : stream_(std::move(stream)),
      peer_(address_of(stream_.tcp().socket())),
      buffer_(unread_bytes_max(with.limits.header_bytes_max)),
      with_(std::move(with)) {}

task<> http_session::run() {
    if (const auto failure = co_await agree_on_tls()) {
        with_.log.debug("No TLS with {Peer}: {Reason}",
                        {{"Peer", peer_}, {"Reason", failure.message()}});
        co_return stream_.close();
    }
    certified_ = stream_.certified();
    while (co_await begin_request()) {
        auto outgoing = co_await converse();
        if (!outgoing) break;
        if (finishing_) outgoing->keep_alive = false;
        const bool keep_alive = outgoing->keep_alive;
        if (!co_await write(*std::move(outgoing))) break;
        if (!keep_alive) {
            co_await linger();
            break;
        }
    }
    stream_.close();
}

void http_session::stop() {
    finishing_ = true;
    if (pieces_) pieces_->end();
    if (idle_) stream_.cancel();
}

void http_session::cut_off() {
    finishing_ = true;
    unknown_body_bytes_ = 0;
    if (pieces_) pieces_->end();
    stream_.close();
}

task<boost::system::error_code> http_session::agree_on_tls() {
    if (finishing_) co_return asio::error::operation_aborted;
    idle_ = true;
    stream_.expires_after(with_.limits.header_timeout);
    const auto failure = co_await stream_.accept_tls();
    idle_ = false;
    co_return failure;
}

// Waits for the first byte, which tells an idle connection from a slow request.
task<bool> http_session::begin_request() {
    if (finishing_) co_return false;
    if (buffer_.size() > 0) co_return true;  // The peer did not wait for our response.
    idle_ = true;
    stream_.expires_after(std::exchange(fresh_, false) ? with_.limits.header_timeout
                                                       : with_.limits.idle_timeout);
    const auto [failure, bytes] = co_await stream_.read_some(buffer_.prepare(first_read_bytes));
    idle_ = false;
    buffer_.commit(bytes);
    co_return !failure;
}

// Reads one request and has it answered; nothing if the peer is gone or was too slow.
task<std::optional<http_session::exchange>> http_session::converse() {
    parser incoming;
    incoming.header_limit(static_cast<std::uint32_t>(with_.limits.header_bytes_max));
    incoming.body_limit(with_.limits.body_bytes_max);
    const auto refused = [this](const boost::system::error_code& failure) {
        auto refusal = refusal_for(failure, with_.limits);
        return refusal ? std::optional(exchange{*std::move(refusal)}) : std::nullopt;
    };
    if (const auto failure = co_await read_head(incoming)) co_return refused(failure);
    exchange outgoing{.head = incoming.get().method() == http::verb::head,
                      .version = incoming.get().version()};
    auto request = take_head(incoming.get());
    if (!request) {
        outgoing.response = error_response(400, "malformed_request",
                                           "a request needs a path and, once, a Host header");
        co_return outgoing;
    }
    request->peer = peer_;
    request->has_hung_up = [this] { return stream_.has_hung_up(); };
    request->certified = certified_;
    // A body that has come with its headers costs nothing more.
    const auto length = incoming.content_length().value_or(with_.limits.body_bytes_max);
    const bool is_here = incoming.is_done() || (!incoming.chunked() && length <= buffer_.size());
    if (!is_here && with_.refuses) {
        if (auto refusal = with_.refuses(*request)) {
            outgoing.response = *std::move(refusal);
            co_return outgoing;
        }
    }
    if (!is_here && seen_ != standing::known) {
        unknown_body_bytes_ = std::min<std::size_t>(length, with_.limits.body_bytes_max);
        with_.reads_body(*this);
    }
    const auto failure = co_await read_body(incoming);
    unknown_body_bytes_ = 0;
    if (failure) co_return refused(failure);
    outgoing.keep_alive = incoming.keep_alive();
    request->body = std::move(incoming.get().body());
    outgoing.response = co_await answer(*std::move(request));
    if (outgoing.response.known_caller) seen_ = standing::known;
    co_return outgoing;
}

task<boost::system::error_code> http_session::read_head(parser& incoming) {
    stream_.expires_after(with_.limits.header_timeout);
    if (const auto failure =
            co_await read_message<true>(stream_, buffer_, incoming, http_part::header))
        co_return failure;
    if (!has_one_length(incoming)) co_return http::error::bad_content_length;
    seen_ = std::max(seen_, standing::sent_headers);
    co_return boost::system::error_code{};
}

task<boost::system::error_code> http_session::read_body(parser& incoming) {
    stream_.expires_after(with_.limits.idle_timeout);
    const auto& head = incoming.get();
    if (head.version() >= 11 && boost::beast::iequals(head[http::field::expect], "100-continue")) {
        const http::response<http::empty_body> go_on(http::status::continue_, 11);
        if (const auto failure = co_await write_message(stream_, go_on)) co_return failure;
    }
    const auto failure = co_await read_message<true>(stream_, buffer_, incoming, http_part::whole);
    if (!failure) seen_ = std::max(seen_, standing::sent_request);
    co_return failure;
}

task<http_response> http_session::answer(http_request request) {
    const std::string method = request.method;
    const std::string path = request.path;
    try {
        co_return co_await with_.handler(std::move(request));
    } catch (const std::exception& failure) {
        with_.log.error("{Method} {Path} failed: {Reason}",
                        {{"Method", method}, {"Path", path}, {"Reason", failure.what()}});
        // What went wrong is for the log, not for the peer.
        co_return error_response(500, "internal_error", "the request failed; see the node's log");
    }
}

task<bool> http_session::write(exchange outgoing) {
    if (outgoing.response.pieces && !outgoing.head)
        co_return co_await write_pieces(std::move(outgoing));
    stream_.expires_after(with_.limits.idle_timeout);
    if (outgoing.head) {
        auto message = make_message<http::empty_body>(outgoing.response, outgoing.version);
        message.keep_alive(outgoing.keep_alive);
        co_return !co_await write_message(stream_, message, http_part::header);
    }
    auto message = make_message<http::string_body>(outgoing.response, outgoing.version);
    message.keep_alive(outgoing.keep_alive);
    message.body() = std::move(outgoing.response.body);
    co_return !co_await write_message(stream_, message);
}

// In chunks, or for one who does not know these, until the connection ends. Nothing is read
// meanwhile, so a peer that hung up is noticed by the next piece.
task<bool> http_session::write_pieces(exchange outgoing) {
    pieces_ = outgoing.response.pieces;
    const bool chunked = outgoing.version >= 11;
    http::response<http::empty_body> head;
    head.version(outgoing.version);
    head.result(outgoing.response.status);
    for (const auto& [name, value] : outgoing.response.headers) head.insert(name, value);
    head.chunked(chunked);
    head.keep_alive(chunked && outgoing.keep_alive);
    stream_.expires_after(with_.limits.idle_timeout);
    auto failure = co_await write_message(stream_, head, http_part::header);
    if (finishing_) pieces_->end();
    while (!failure) {
        auto piece = co_await pieces_->next();
        if (!piece) break;
        stream_.expires_after(pieces_->patience());
        failure = co_await write_piece(*std::move(piece), chunked);
    }
    if (failure == boost::beast::error::timeout) pieces_->gave_up();
    pieces_->end();
    pieces_ = nullptr;
    if (failure || !chunked) co_return false;
    stream_.expires_after(with_.limits.idle_timeout);
    co_return !co_await write_piece({}, chunked);  // An empty chunk is the last.
}

task<boost::system::error_code> http_session::write_piece(std::string piece, bool chunked) {
    if (chunked) piece = fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
    const std::array bytes{asio::const_buffer(asio::buffer(piece))};
    co_return co_await stream_.write(bytes);
}

task<> http_session::linger() {
    stream_.expires_after(linger_timeout);
    co_await stream_.end_writing();
    stream_.expires_after(linger_timeout);
    buffer_.clear();
    for (std::size_t dropped = 0; dropped < linger_bytes_max;) {
        const auto [failure, bytes] =
            co_await stream_.tcp().async_read_some(buffer_.prepare(first_read_bytes), as_result);
        if (failure) co_return;
        dropped += bytes;
    }
}

}  // namespace posthorn
