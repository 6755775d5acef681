#include "transport/http/guarded/guarded_connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <sys/socket.h>

#include "base/async/cancellation.hpp"
#include "base/text/utf8.hpp"
#include "transport/http/message_io.hpp"
#include "transport/http/unread.hpp"

namespace posthorn {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t read_bytes = 4096;
constexpr int hints_max = 8;  // Of status 1xx, before the answer.
constexpr std::size_t proxy_head_bytes_max = 8192;

template <class... Args>
std::unexpected<guarded_failure> trouble(guarded_trouble what, fmt::format_string<Args...> text,
                                         Args&&... args) {
    return std::unexpected(guarded_failure{what, fmt::format(text, std::forward<Args>(args)...)});
}

std::unexpected<guarded_failure> unreadable(const boost::system::error_code& failure) {
    using enum guarded_trouble;
    if (failure == http::error::header_limit || failure == http::error::buffer_overflow)
        return trouble(malformed, "the answer's headers are longer than is taken");
    if (failure.category() == http::make_error_code(http::error::bad_version).category() &&
        failure != http::error::end_of_stream && failure != http::error::partial_message)
        return trouble(malformed, "the answer is not HTTP/1.1: {}", failure.message());
    return trouble(broken, "the connection ended before the answer: {}", failure.message());
}

std::optional<std::string> field(const http::fields& of, std::string_view name) {
    const auto found = of.find(name);
    if (found == of.end()) return std::nullopt;
    constexpr std::size_t characters_max = 200;
    return clean_utf8(found->value(), characters_max);
}

std::size_t count(const http::fields& all) {
    return static_cast<std::size_t>(std::distance(all.begin(), all.end()));
}

}  // namespace

guarded_connection::guarded_connection(parts made_of)
    : parts_(std::move(made_of)),
      stream_(http_stream::tcp_stream(parts_.where), parts_.to.tls ? parts_.tls : nullptr),
      buffer_(unread_bytes_max(parts_.limits.header_bytes_max)) {}

void guarded_connection::close() {
    if (std::exchange(closed_, true)) return;
    stream_.close();
}

bool guarded_connection::is_stale() {
    if (closed_ || !keeps_) return true;
    char ignored = 0;
    const auto seen =
        ::recv(stream_.tcp().socket().native_handle(), &ignored, 1, MSG_PEEK | MSG_DONTWAIT);
    return seen >= 0 || errno != EAGAIN;
}

// Both refer to what the coroutine holds that waits for them.

task<guarded_step<>> guarded_connection::run_to_end(task<guarded_step<>> step, bool& ended) {
    auto outcome = co_await cancellable(std::move(step));
    ended = true;
    co_return outcome;
}

task<bool> guarded_connection::close_after(std::chrono::nanoseconds limit, const bool& ended) {
    const auto passed = co_await cancellable(parts_.time.sleep_for(limit));
    if (!ended) close();
    co_return passed.has_value();
}

// What is late is closed, which ends every operation on it.
task<guarded_step<>> guarded_connection::within(std::chrono::nanoseconds limit,
                                                task<guarded_step<>> step, std::string_view what) {
    using namespace asio::experimental::awaitable_operators;
    bool ended = false;
    auto first = co_await (run_to_end(std::move(step), ended) || close_after(limit, ended));
    if (co_await is_cancelled()) {
        close();
        co_return trouble(guarded_trouble::cancelled, "stopped before it finished");
    }
    if (first.index() == 0) co_return std::get<0>(std::move(first));
    co_return trouble(guarded_trouble::late, "{} within {} ms", what,
                      std::chrono::ceil<std::chrono::milliseconds>(limit).count());
}

task<guarded_step<>> guarded_connection::connect(std::vector<ip_address> judged, std::uint16_t port,
                                                 std::chrono::nanoseconds limit) {
    if (judged.size() > parts_.limits.addresses_max) judged.resize(parts_.limits.addresses_max);
    guarded_step<> outcome = trouble(guarded_trouble::connect, "there is no address");
    // Each has its share of the time, so that one that is silent does not take it all.
    const auto share = limit / std::max<std::size_t>(judged.size(), 1);
    for (const auto& each : judged) {
        stream_.close();  // The last one may have been of the other family.
        closed_ = false;
        outcome = co_await within(share, connect_to(each, port), "no connection");
        if (outcome) address_ = each;
        if (outcome || outcome.error().what == guarded_trouble::cancelled) break;
        if (outcome.error().what == guarded_trouble::late)
            outcome.error().text =
                fmt::format("{} does not take a connection within {} ms", each.to_string(),
                            std::chrono::ceil<std::chrono::milliseconds>(share).count());
    }
    co_return outcome;
}

task<guarded_step<>> guarded_connection::connect_to(ip_address one, std::uint16_t port) {
    const asio::ip::tcp::endpoint there(one, port);
    const auto [failure] = co_await stream_.tcp().async_connect(there, as_result);
    if (failure)
        co_return trouble(guarded_trouble::connect, "{} does not take a connection: {}",
                          one.to_string(), failure.message());
    boost::system::error_code ignored;
    stream_.tcp().socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    co_return guarded_step<>{};
}

task<guarded_step<>> guarded_connection::pass_proxy(std::string target, std::string authorization,
                                                    std::chrono::nanoseconds limit) {
    auto text = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", target);
    if (!authorization.empty()) text += fmt::format("Proxy-Authorization: {}\r\n", authorization);
    co_return co_await within(limit, ask_proxy(text + "\r\n"), "no word from the proxy");
}

task<guarded_step<>> guarded_connection::ask_proxy(std::string request) {
    auto& tcp = stream_.tcp();  // TLS begins behind the proxy.
    const auto [unsent, sent] = co_await asio::async_write(tcp, asio::buffer(request), as_result);
    if (unsent)
        co_return trouble(guarded_trouble::proxy, "the proxy hung up: {}", unsent.message());
    // Byte by byte, since what follows the head is the server's.
    std::string head;
    while (!head.ends_with("\r\n\r\n")) {
        char next = 0;
        const auto [failure, got] = co_await tcp.async_read_some(asio::buffer(&next, 1), as_result);
        if (failure)
            co_return trouble(guarded_trouble::proxy, "the proxy hung up: {}", failure.message());
        head += next;
        if (head.size() > proxy_head_bytes_max)
            co_return trouble(guarded_trouble::proxy, "the proxy answers with too much");
    }
    const auto line = std::string_view(head).substr(0, head.find("\r\n"));
    if (!line.starts_with("HTTP/1.") || line.size() < 12 || line.substr(8, 2) != " 2")
        co_return trouble(guarded_trouble::proxy, "the proxy does not lead there: {}",
                          clean_utf8(line, 200));
    co_return guarded_step<>{};
}

task<guarded_step<>> guarded_connection::begin_tls(std::chrono::nanoseconds limit) {
    co_return co_await within(limit, agree_on_tls(), "no TLS");
}

task<guarded_step<>> guarded_connection::agree_on_tls() {
    if (const auto failure = co_await stream_.begin_tls(parts_.to.host))
        co_return trouble(guarded_trouble::tls,
                          "no TLS 1.2 or newer with a certificate that vouches for {}: {}",
                          parts_.to.host, failure.message());
    co_return guarded_step<>{};
}

task<guarded_step<>> guarded_connection::exchange(request message, guarded_answer& into,
                                                  std::chrono::nanoseconds limit) {
    answer_begun_ = keeps_ = false;
    const late_watch::watched watch(parts_.late, parts_.now.steady() + limit, [this] { close(); });
    auto outcome = co_await cancellable(ask(std::move(message), into));
    if (co_await is_cancelled()) {
        close();
        co_return trouble(guarded_trouble::cancelled, "stopped before it finished");
    }
    if (!watch.was_late()) co_return outcome;
    co_return trouble(guarded_trouble::late, "no whole answer within {} ms",
                      std::chrono::ceil<std::chrono::milliseconds>(limit).count());
}

task<guarded_step<>> guarded_connection::ask(request message, guarded_answer& into) {
    // A server may answer before it has read all, and close: so the answer is looked for even then.
    const auto unsent = co_await write_message(stream_, message);
    auto read = co_await read_answer(into);
    if (!read && unsent && unanswered())
        co_return trouble(guarded_trouble::broken, "the connection ended: {}", unsent.message());
    if (unsent) keeps_ = false;
    co_return read;
}

task<guarded_step<>> guarded_connection::read_answer(guarded_answer& into) {
    const auto& limits = parts_.limits;
    for (int hints = 0; hints <= hints_max; ++hints) {
        // A body into a string would make room for as much as the peer says is to come.
        http::response_parser<http::buffer_body> parser;
        parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes_max));
        parser.body_limit(boost::none);
        if (const auto failure =
                co_await read_message<false>(stream_, buffer_, parser, http_part::header)) {
            answer_begun_ = answer_begun_ || parser.got_some();
            co_return unreadable(failure);
        }
        answer_begun_ = true;
        const auto& head = parser.get();
        if (count(head) > limits.headers_max)
            co_return trouble(guarded_trouble::malformed, "the answer has {} headers; {} are taken",
                              count(head), limits.headers_max);
        if (head.result_int() < 200 && head.result_int() != 101) continue;

        std::string body;
        parser.eager(true);
        while (!parser.is_done() && body.size() < limits.body_bytes_max) {
            std::array<char, read_bytes> piece;
            auto& room = parser.get().body();
            room.data = piece.data();
            room.size = piece.size();
            room.more = true;
            boost::system::error_code failure = http::error::need_more;
            if (buffer_.size() > 0) {
                buffer_.consume(parser.put(buffer_.data(), failure));
                body.append(piece.data(), piece.size() - room.size);
            }
            if (!failure || failure == http::error::need_buffer) continue;
            if (failure != http::error::need_more) co_return unreadable(failure);
            if (buffer_.max_size() - buffer_.size() < read_bytes)
                co_return unreadable(http::error::buffer_overflow);
            const auto [ended, bytes] = co_await stream_.read_some(buffer_.prepare(read_bytes));
            buffer_.commit(bytes);
            if (!ended) continue;
            failure = {};
            if (ended == asio::error::eof || ended == asio::ssl::error::stream_truncated)
                parser.put_eof(failure);
            else
                failure = ended;
            if (failure) co_return unreadable(failure);
        }
        into.status = static_cast<std::uint16_t>(head.result_int());
        into.retry_after = field(head, "Retry-After");
        into.webhook_delivery = field(head, "webhook-delivery");
        into.body_cut = !parser.is_done() || body.size() > limits.body_bytes_max;
        body.resize(std::min(body.size(), limits.body_bytes_max));
        if (limits.verbatim) {
            for (const auto& each : head)
                into.headers.add(std::string(each.name_string()), std::string(each.value()));
            into.body = std::move(body);
        } else {
            into.body = clean_utf8(body, limits.body_characters_max);
        }
        keeps_ =
            parser.is_done() && parser.keep_alive() && buffer_.size() == 0 && into.status != 101;
        co_return guarded_step<>{};
    }
    co_return trouble(guarded_trouble::malformed, "the answer only says that it will come");
}

}  // namespace posthorn
