#include "transport/link/link_tls.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include <boost/asio/ssl/context.hpp>
#include <fmt/ranges.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

int descriptor_of(BIO* pipe) {
    return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(pipe)));
}

bool may_be_tried_again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

// As OpenSSL's own for sockets, but a connection that is gone raises no signal.
int send_on(BIO* pipe, const char* data, int size) {
    BIO_clear_retry_flags(pipe);
    const auto put =
        ::send(descriptor_of(pipe), data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (put < 0 && may_be_tried_again()) BIO_set_retry_write(pipe);
    return static_cast<int>(put);
}

int receive_on(BIO* pipe, char* data, int size) {
    BIO_clear_retry_flags(pipe);
    const auto got = ::recv(descriptor_of(pipe), data, static_cast<std::size_t>(size), 0);
    if (got < 0 && may_be_tried_again()) BIO_set_retry_read(pipe);
    return static_cast<int>(got);
}

long control(BIO* /*pipe*/, int what, long /*number*/, void* /*more*/) {
    return what == BIO_CTRL_FLUSH ? 1 : 0;
}

const BIO_METHOD* methods() {
    static BIO_METHOD* const made = [] {
        auto* const fresh =
            BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "link of a pair");
        BIO_meth_set_write(fresh, send_on);
        BIO_meth_set_read(fresh, receive_on);
        BIO_meth_set_ctrl(fresh, control);
        return fresh;
    }();
    return made;
}

std::string last_words_of_openssl() {
    std::array<char, 160> text{};
    const auto code = ERR_get_error();
    if (code == 0) return "the connection ended";
    ERR_error_string_n(code, text.data(), text.size());
    return text.data();
}

bool is_same_name(std::string_view one, std::string_view other) {
    const auto lower = [](char each) {
        return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
    };
    return std::ranges::equal(one, other, {}, lower, lower);
}

}  // namespace

result<link_tls> link_tls::make(const link_security& with, end self, int descriptor) {
    ERR_clear_error();
    auto* const session = SSL_new(with.context->native_handle());
    auto* const pipe = BIO_new(methods());
    if (session == nullptr || pipe == nullptr) {
        SSL_free(session);
        BIO_free(pipe);
        return fail(error_code::certificate_unusable, "no session of TLS: {}",
                    last_words_of_openssl());
    }
    BIO_set_data(pipe, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)));
    BIO_set_init(pipe, 1);
    SSL_set_bio(session, pipe, pipe);
    SSL_set_mode(session, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (self == end::client) {
        SSL_set_connect_state(session);
        SSL_set_tlsext_host_name(session, with.peer_name.c_str());
    } else {
        SSL_set_accept_state(session);
    }
    return link_tls(session, with);
}

link_tls::~link_tls() { SSL_free(session_); }

link_tls::link_tls(link_tls&& other) noexcept
    : session_(std::exchange(other.session_, nullptr)),
      context_(std::move(other.context_)),
      peer_name_(std::move(other.peer_name_)),
      trouble_(std::move(other.trouble_)) {}

link_tls& link_tls::operator=(link_tls&& other) noexcept {
    std::swap(session_, other.session_);
    std::swap(context_, other.context_);
    std::swap(peer_name_, other.peer_name_);
    std::swap(trouble_, other.trouble_);
    return *this;
}

link_step link_tls::step_after(int code) const {
    switch (SSL_get_error(session_, code)) {
        case SSL_ERROR_WANT_READ: return {link_step::kind::wait_to_read};
        case SSL_ERROR_WANT_WRITE: return {link_step::kind::wait_to_write};
        default: return {link_step::kind::ended};
    }
}

bool link_tls::has_the_name() {
    const X509* const shown = SSL_get0_peer_certificate(session_);
    if (shown == nullptr) {
        trouble_ = "it has shown no certificate";
        return false;
    }
    const auto names = names_in(shown);
    const auto fits = [&](const std::string& each) { return is_same_name(each, peer_name_); };
    if (std::ranges::any_of(names, fits)) return true;
    constexpr std::size_t quoted_max = 200;
    trouble_ = fmt::format(
        "its certificate is of {}, and not of {}; give it one of that name, or name it in "
        "standby.peer_name",
        names.empty() ? "nothing"
                      : clean_utf8(fmt::format("{}", fmt::join(names, ", ")), quoted_max),
        peer_name_);
    return false;
}

link_step link_tls::shake() {
    ERR_clear_error();
    const int code = SSL_do_handshake(session_);
    if (code == 1) {
        if (has_the_name()) return {link_step::kind::done, 1};
        return {link_step::kind::ended};
    }
    const auto step = step_after(code);
    if (step.what == link_step::kind::ended)
        trouble_ = fmt::format("no agreement by TLS: {}", last_words_of_openssl());
    return step;
}

link_step link_tls::read(std::span<std::byte> into) {
    ERR_clear_error();
    std::size_t got = 0;
    const int code = SSL_read_ex(session_, into.data(), into.size(), &got);
    return code == 1 ? link_step{link_step::kind::done, got} : step_after(code);
}

link_step link_tls::write(std::span<const std::byte> bytes) {
    ERR_clear_error();
    std::size_t put = 0;
    const int code = SSL_write_ex(session_, bytes.data(), bytes.size(), &put);
    return code == 1 ? link_step{link_step::kind::done, put} : step_after(code);
}

}  // namespace posthorn
