#include "transport/http/stream.hpp"

#include <cerrno>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <openssl/ssl.h>
#include <sys/socket.h>

namespace posthorn {

namespace asio = boost::asio;
namespace ssl = asio::ssl;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

bool is_numeric(const std::string& host) {
    boost::system::error_code failure;
    asio::ip::make_address(host, failure);
    return !failure;
}

}  // namespace

task<http_stream::received> http_stream::read_some(asio::mutable_buffer into) {
    auto* secure = std::get_if<tls_stream>(&layers_);
    const auto [failure, bytes] = secure != nullptr
                                      ? co_await secure->async_read_some(into, as_result)
                                      : co_await tcp().async_read_some(into, as_result);
    co_return received{failure, bytes};
}

task<boost::system::error_code> http_stream::write(std::span<const asio::const_buffer> bytes) {
    auto* secure = std::get_if<tls_stream>(&layers_);
    const auto [failure, written] = secure != nullptr
                                        ? co_await asio::async_write(*secure, bytes, as_result)
                                        : co_await asio::async_write(tcp(), bytes, as_result);
    co_return failure;
}

task<boost::system::error_code> http_stream::accept_tls() {
    auto* secure = std::get_if<tls_stream>(&layers_);
    if (secure == nullptr) co_return boost::system::error_code{};
    const auto [failure] = co_await secure->async_handshake(ssl::stream_base::server, as_result);
    co_return failure;
}

task<boost::system::error_code> http_stream::begin_tls(std::string host) {
    auto* secure = std::get_if<tls_stream>(&layers_);
    if (secure == nullptr) co_return boost::system::error_code{};
    boost::system::error_code failure;
    secure->set_verify_mode(ssl::verify_peer, failure);
    if (!failure) secure->set_verify_callback(ssl::host_name_verification(host), failure);
    if (failure) co_return failure;
    // A server of several names chooses its certificate by this; addresses are not sent so.
    if (!is_numeric(host)) SSL_set_tlsext_host_name(secure->native_handle(), host.c_str());
    const auto [refused] = co_await secure->async_handshake(ssl::stream_base::client, as_result);
    co_return refused;
}

std::optional<std::vector<std::string>> http_stream::certified() {
    auto* secure = std::get_if<tls_stream>(&layers_);
    if (secure == nullptr) return std::nullopt;
    const X509* const shown = SSL_get0_peer_certificate(secure->native_handle());
    if (shown == nullptr) return std::nullopt;
    return names_in(shown);
}

task<> http_stream::end_writing() {
    if (auto* secure = std::get_if<tls_stream>(&layers_))
        co_await secure->async_shutdown(as_result);
    boost::system::error_code ignored;
    tcp().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

bool http_stream::has_hung_up() {
    char ignored = 0;
    const auto seen = ::recv(tcp().socket().native_handle(), &ignored, 1, MSG_PEEK | MSG_DONTWAIT);
    return seen == 0 || (seen < 0 && errno != EAGAIN);
}

}  // namespace posthorn
