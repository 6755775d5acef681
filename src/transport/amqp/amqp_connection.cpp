#include "transport/amqp/amqp_connection.hpp"

#include <array>
#include <optional>
#include <utility>

#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/text/utf8.hpp"
#include "transport/amqp/amqp_fields.hpp"

namespace posthorn {
namespace {

constexpr amqp_channel_t channel = 1;
constexpr int frame_max = 131'072;
constexpr std::size_t aside_max = 64;
/// For the next frame of a message of which the first has come.
constexpr std::chrono::milliseconds content_patience = std::chrono::seconds{30};

timeval of(std::chrono::milliseconds time) {
    return {.tv_sec = time.count() / 1000, .tv_usec = (time.count() % 1000) * 1000};
}

result<> check(int code, std::string_view what) {
    if (code >= 0) return {};
    return fail(error_code::unreachable, "{}: {}", what, amqp_error_string2(code));
}

amqp_close read_close(const amqp_method_t& method) {
    if (method.id == AMQP_CHANNEL_CLOSE_METHOD) {
        const auto* const said = static_cast<const amqp_channel_close_t*>(method.decoded);
        return {said->reply_code, text_of(said->reply_text)};
    }
    const auto* const said = static_cast<const amqp_connection_close_t*>(method.decoded);
    return {said->reply_code, text_of(said->reply_text)};
}

result<> check(const amqp_rpc_reply_t& reply, std::string_view what) {
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) return {};
    if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION)
        return check(reply.library_error < 0 ? reply.library_error : AMQP_STATUS_SOCKET_ERROR,
                     what);
    const bool is_close = reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD ||
                          reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD;
    if (reply.reply_type != AMQP_RESPONSE_SERVER_EXCEPTION || !is_close)
        return fail(error_code::unreachable, "{}: RabbitMQ answers what is not understood", what);
    const auto why = read_close(reply.reply);
    return fail(why.code == 403 ? error_code::access_denied : error_code::unreachable,
                "{}: RabbitMQ answers {} {}", what, why.code, clean_utf8(why.text, 500));
}

// Heartbeats show that the broker's process lives. This is for what they cannot see: while a write
// waits for a broker that takes nothing, no heartbeat is looked for.
void keep_alive(int descriptor) {
    constexpr int on = 1;
    constexpr int idle_seconds = 30;
    constexpr int every_seconds = 10;
    constexpr int probes = 3;
    constexpr int silence_ms = 30'000;
    ::setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &every_seconds, sizeof every_seconds);
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof silence_ms);
}

/// What a method means that needs no content; empty if it is of no interest.
std::optional<amqp_event> read_method(const amqp_method_t& method) {
    switch (method.id) {
        case AMQP_BASIC_ACK_METHOD: {
            const auto* const ack = static_cast<amqp_basic_ack_t*>(method.decoded);
            return amqp_confirm{ack->delivery_tag, ack->multiple != 0, true};
        }
        case AMQP_BASIC_NACK_METHOD: {
            const auto* const nack = static_cast<amqp_basic_nack_t*>(method.decoded);
            return amqp_confirm{nack->delivery_tag, nack->multiple != 0, false};
        }
        case AMQP_CONNECTION_BLOCKED_METHOD: {
            const auto* const blocked = static_cast<amqp_connection_blocked_t*>(method.decoded);
            return amqp_blocked{true, text_of(blocked->reason)};
        }
        case AMQP_CONNECTION_UNBLOCKED_METHOD: return amqp_blocked{};
        case AMQP_BASIC_CANCEL_METHOD: return amqp_cancelled{};
        case AMQP_CHANNEL_CLOSE_METHOD: return amqp_closed{false, read_close(method)};
        case AMQP_CONNECTION_CLOSE_METHOD: return amqp_closed{true, read_close(method)};
        default: return std::nullopt;
    }
}

/// The next frame of a message's content. What else comes meanwhile is put aside.
result<amqp_frame_t> next_of_content(amqp_connection_state_t raw, std::uint8_t type,
                                     std::deque<amqp_event>& aside) {
    for (;;) {
        auto patience = of(content_patience);
        amqp_frame_t frame;
        POSTHORN_TRY(check(amqp_simple_wait_frame_noblock(raw, &frame, &patience),
                           "RabbitMQ went away in the middle of a message"));
        if (frame.channel == channel && frame.frame_type == type) return frame;
        auto other = frame.frame_type == AMQP_FRAME_METHOD ? read_method(frame.payload.method)
                                                           : std::nullopt;
        if (!other || aside.size() >= aside_max)
            return fail(error_code::unreachable,
                        "RabbitMQ sends something else in the middle of a message");
        if (const auto* const closed = std::get_if<amqp_closed>(&*other))
            return fail(error_code::unreachable,
                        "RabbitMQ closed in the middle of a message: {} {}", closed->why.code,
                        clean_utf8(closed->why.text, 500));
        aside.push_back(*std::move(other));
    }
}

amqp_table_entry_t yes(const char* name) {
    amqp_table_entry_t entry{};
    entry.key = amqp_cstring_bytes(name);
    entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
    entry.value.value.boolean = 1;
    return entry;
}

}  // namespace

amqp_connection::amqp_connection() : raw_(amqp_new_connection()) {}

amqp_connection::~amqp_connection() {
    // Without its leave: what it has not confirmed is answered for already.
    if (raw_ != nullptr) amqp_destroy_connection(raw_);
    if (descriptor_ >= 0) ::close(descriptor_);
}

result<> amqp_connection::open(const amqp_place& at, const std::string& password) {
    if (raw_ == nullptr) return fail(error_code::io_failed, "there is no memory for a connection");
    body_bytes_max_ = at.body_bytes_max;
    POSTHORN_TRY(connect(at));
    return log_in(at, password);
}

result<> amqp_connection::trust(void* socket, const amqp_place& at) {
    auto* const secured = static_cast<amqp_socket_t*>(socket);
    amqp_ssl_socket_set_verify_peer(secured, 1);
    amqp_ssl_socket_set_verify_hostname(secured, 1);
    if (amqp_ssl_socket_set_ssl_versions(secured, AMQP_TLSv1_2, AMQP_TLSvLATEST) != AMQP_STATUS_OK)
        return fail(error_code::certificate_unusable, "TLS 1.2 cannot be asked for");
    if (at.authority.empty()) {
        auto* const context = static_cast<SSL_CTX*>(amqp_ssl_socket_get_context(secured));
        if (SSL_CTX_set_default_verify_paths(context) != 1)
            return fail(error_code::certificate_unusable,
                        "the system's authorities cannot be read; name a file in tls.authority");
    } else if (amqp_ssl_socket_set_cacert(secured, at.authority.c_str()) != AMQP_STATUS_OK) {
        return fail(error_code::certificate_unusable, "{} cannot be read as authorities",
                    at.authority);
    }
    if (at.own.certificate.empty()) return {};
    if (amqp_ssl_socket_set_key(secured, at.own.certificate.c_str(), at.own.key.c_str()) !=
        AMQP_STATUS_OK)
        return fail(error_code::certificate_unusable, "{} cannot be shown", at.own.certificate);
    return {};
}

result<> amqp_connection::connect(const amqp_place& at) {
    auto* const socket = at.url.tls ? amqp_ssl_socket_new(raw_) : amqp_tcp_socket_new(raw_);
    if (socket == nullptr) return fail(error_code::io_failed, "there is no memory for a socket");
    if (at.url.tls) POSTHORN_TRY(trust(socket, at));
    auto patience = of(at.patience);
    amqp_set_handshake_timeout(raw_, &patience);
    amqp_set_rpc_timeout(raw_, &patience);
    POSTHORN_TRY(
        check(amqp_socket_open_noblock(socket, at.url.host.c_str(), at.url.port, &patience),
              fmt::format("RabbitMQ at {}:{} is not reached", at.url.host, at.url.port)));
    // One of our own: the library closes its after a timeout, and the number may be another's then.
    descriptor_ = ::fcntl(amqp_get_sockfd(raw_), F_DUPFD_CLOEXEC, 0);
    if (descriptor_ < 0) return fail(error_code::io_failed, "there is no descriptor left");
    keep_alive(descriptor_);
    // One who cut it before found no descriptor.
    if (is_cut_) return fail(error_code::unreachable, "the connection is not wanted any more");
    return {};
}

result<> amqp_connection::log_in(const amqp_place& at, const std::string& password) {
    std::array can{yes("publisher_confirms"), yes("basic.nack"), yes("consumer_cancel_notify"),
                   yes("connection.blocked"), yes("authentication_failure_close")};
    std::array<amqp_table_entry_t, 2> says{};
    says[0].key = amqp_cstring_bytes("capabilities");
    says[0].value.kind = AMQP_FIELD_KIND_TABLE;
    says[0].value.value.table = {.num_entries = static_cast<int>(can.size()),
                                 .entries = can.data()};
    says[1].key = amqp_cstring_bytes("connection_name");
    says[1].value.kind = AMQP_FIELD_KIND_UTF8;
    says[1].value.value.bytes = bytes_of_text(at.name);
    const amqp_table_t about{.num_entries = static_cast<int>(says.size()), .entries = says.data()};
    const auto* const user = at.url.user.empty() ? "guest" : at.url.user.c_str();
    const auto* const host = at.url.path.empty() ? "/" : at.url.path.c_str();
    POSTHORN_TRY(check(
        amqp_login_with_properties(raw_, host, 0, frame_max, static_cast<int>(at.heartbeat.count()),
                                   &about, AMQP_SASL_METHOD_PLAIN, user, password.c_str()),
        fmt::format("RabbitMQ at {}:{} does not let '{}' in", at.url.host, at.url.port, user)));
    amqp_channel_open(raw_, channel);
    return check(amqp_get_rpc_reply(raw_), "RabbitMQ opens no channel");
}

result<> amqp_connection::ask_for_confirms() {
    amqp_confirm_select(raw_, channel);
    return check(amqp_get_rpc_reply(raw_), "RabbitMQ does not confirm");
}

result<> amqp_connection::consume(const std::string& queue, std::uint16_t messages_max) {
    amqp_basic_qos(raw_, channel, 0, messages_max, 0);
    POSTHORN_TRY(check(amqp_get_rpc_reply(raw_), "RabbitMQ takes no prefetch"));
    amqp_basic_consume(raw_, channel, bytes_of_text(queue), amqp_empty_bytes, 0, 0, 0,
                       amqp_empty_table);
    return check(amqp_get_rpc_reply(raw_),
                 fmt::format("the queue '{}' cannot be consumed", clean_utf8(queue, 255)));
}

bool amqp_connection::carries(const broker_message& one) const {
    return header_frame_bytes(one) <= frame_bytes_max();
}

std::size_t amqp_connection::frame_bytes_max() const {
    return static_cast<std::size_t>(amqp_get_frame_max(raw_));
}

result<> amqp_connection::publish(const std::string& exchange, const broker_message& one) {
    const amqp_properties with(one);
    return check(
        amqp_basic_publish(raw_, channel, bytes_of_text(exchange), bytes_of_text(one.address), 1, 0,
                           with.get(), bytes_of_text(one.body)),
        "RabbitMQ went away");
}

result<> amqp_connection::acknowledge(std::uint64_t number) {
    return check(amqp_basic_ack(raw_, channel, number, 0), "RabbitMQ went away");
}

result<> amqp_connection::put_back(std::uint64_t number) {
    return check(amqp_basic_nack(raw_, channel, number, 0, 1), "RabbitMQ went away");
}

// What follows a Return or a delivery; the broker sends it at once. The library would take as much
// memory as the header says, before any of it has come.
result<amqp_event> amqp_connection::read_content(amqp_event begun) {
    POSTHORN_LET(head, next_of_content(raw_, AMQP_FRAME_HEADER, aside_));
    const auto& properties = head.payload.properties;
    if (properties.class_id != AMQP_BASIC_CLASS)
        return fail(error_code::unreachable, "RabbitMQ sends a header that is not understood");
    auto read = read_amqp_properties(*static_cast<amqp_basic_properties_t*>(properties.decoded));
    const std::uint64_t size = properties.body_size;
    const bool fits = size <= body_bytes_max_;
    for (std::uint64_t came = 0; came < size;) {
        amqp_maybe_release_buffers_on_channel(raw_, channel);  // The frame before is done with.
        POSTHORN_LET(frame, next_of_content(raw_, AMQP_FRAME_BODY, aside_));
        const auto& part = frame.payload.body_fragment;
        if (part.len > size - came)
            return fail(error_code::unreachable, "RabbitMQ sends more of a message than it said");
        if (fits) read.body += text_of(part);
        came += part.len;
    }
    if (auto* const returned = std::get_if<amqp_return>(&begun)) {
        returned->id = std::move(read.id);
    } else if (auto* const came = std::get_if<amqp_delivered>(&begun)) {
        came->deliveries = deliveries_of(read, came->deliveries > 1);
        read.address = std::move(came->what.address);
        came->what = std::move(read);
        came->dropped_bytes = fits ? 0 : size;
    }
    return begun;
}

result<amqp_event> amqp_connection::next() {
    if (!aside_.empty()) {
        auto first = std::move(aside_.front());
        aside_.pop_front();
        return first;
    }
    amqp_maybe_release_buffers(raw_);
    for (;;) {
        timeval at_once{};
        amqp_frame_t frame;
        const auto code = amqp_simple_wait_frame_noblock(raw_, &frame, &at_once);
        if (code == AMQP_STATUS_TIMEOUT) return amqp_event{};
        POSTHORN_TRY(check(code, "RabbitMQ went away"));
        if (frame.frame_type != AMQP_FRAME_METHOD) continue;
        const auto& method = frame.payload.method;
        if (method.id == AMQP_BASIC_RETURN_METHOD) {
            const auto* const back = static_cast<amqp_basic_return_t*>(method.decoded);
            return read_content(amqp_return{.id = {},
                                            .code = back->reply_code,
                                            .text = text_of(back->reply_text),
                                            .exchange = text_of(back->exchange),
                                            .key = text_of(back->routing_key)});
        }
        if (method.id == AMQP_BASIC_DELIVER_METHOD) {
            const auto* const came = static_cast<amqp_basic_deliver_t*>(method.decoded);
            return read_content(amqp_delivered{.number = came->delivery_tag,
                                               .deliveries = came->redelivered != 0 ? 2U : 1U,
                                               .what = {.address = text_of(came->routing_key)}});
        }
        if (auto read = read_method(method)) return *std::move(read);
    }
}

result<> amqp_connection::beat() {
    amqp_frame_t frame{};
    frame.frame_type = AMQP_FRAME_HEARTBEAT;
    return check(amqp_send_frame(raw_, &frame), "RabbitMQ went away");
}

std::chrono::milliseconds amqp_connection::look_every() const {
    const std::chrono::seconds agreed(amqp_get_heartbeat(raw_));
    if (agreed <= agreed.zero()) return std::chrono::milliseconds{-1};
    return std::chrono::milliseconds(agreed) / 4;
}

int amqp_connection::descriptor() const { return descriptor_; }

void amqp_connection::cut() {
    is_cut_ = true;
    if (const int open = descriptor_; open >= 0) ::shutdown(open, SHUT_RDWR);
}

}  // namespace posthorn
