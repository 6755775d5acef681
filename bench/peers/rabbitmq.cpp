// RabbitMQ with publisher confirms and persistent messages, a durable classic or a quorum queue,
// with librabbitmq.
#include <array>
#include <stdexcept>
#include <vector>

#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <sys/time.h>

#include "measure/pace.hpp"
#include "peers/peer.hpp"
#include "peers/server.hpp"

namespace posthorn::bench {
namespace {

constexpr amqp_channel_t channel = 1;

amqp_bytes_t bytes_of(std::string_view text) {
    return {.len = text.size(), .bytes = const_cast<char*>(text.data())};
}

void check(int code, const char* what) {
    if (code < 0) throw std::runtime_error(std::string(what) + ": " + amqp_error_string2(code));
}

/// One connection with one channel.
class rabbit_wire {
public:
    explicit rabbit_wire(int port) : raw_(amqp_new_connection()) {
        try {
            auto* socket = amqp_tcp_socket_new(raw_);
            check(amqp_socket_open(socket, "127.0.0.1", port), "RabbitMQ");
            require(amqp_login(raw_, "/", 0, 131'072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest"),
                    "login");
            amqp_channel_open(raw_, channel);
            require(amqp_get_rpc_reply(raw_), "channel");
        } catch (...) {
            amqp_destroy_connection(raw_);
            throw;
        }
    }
    ~rabbit_wire() { amqp_destroy_connection(raw_); }
    rabbit_wire(const rabbit_wire&) = delete;
    rabbit_wire& operator=(const rabbit_wire&) = delete;

    [[nodiscard]] amqp_connection_state_t raw() const { return raw_; }
    void require(const amqp_rpc_reply_t& reply, const char* what) const {
        if (reply.reply_type != AMQP_RESPONSE_NORMAL)
            throw std::runtime_error(std::string("RabbitMQ refuses: ") + what);
    }
    void require(const char* what) const { require(amqp_get_rpc_reply(raw_), what); }

private:
    amqp_connection_state_t raw_;
};

class rabbit_publisher final : public publisher {
public:
    explicit rabbit_publisher(int port) : wire_(port) {
        amqp_confirm_select(wire_.raw(), channel);
        wire_.require("confirms");
    }

    void publish(std::span<const std::string> bodies) override {
        amqp_basic_properties_t with{};
        with._flags = AMQP_BASIC_DELIVERY_MODE_FLAG;
        with.delivery_mode = AMQP_DELIVERY_PERSISTENT;
        for (const auto& body : bodies)
            check(amqp_basic_publish(wire_.raw(), channel, amqp_empty_bytes, bytes_of("charges"), 0,
                                     0, &with, bytes_of(body)),
                  "publish");
        published_ += bodies.size();
        while (confirmed_ < published_) await_confirm();
        amqp_maybe_release_buffers(wire_.raw());
    }

private:
    // Those with lower numbers may come later: what is counted is how many came.
    void await_confirm() {
        amqp_frame_t frame;
        check(amqp_simple_wait_frame(wire_.raw(), &frame), "confirm");
        if (frame.frame_type != AMQP_FRAME_METHOD) return;
        if (frame.payload.method.id != AMQP_BASIC_ACK_METHOD)
            throw std::runtime_error("RabbitMQ did not confirm a message");
        const auto* ack = static_cast<amqp_basic_ack_t*>(frame.payload.method.decoded);
        if (ack->multiple == 0) {
            ++confirmed_;
            singles_.push_back(ack->delivery_tag);
            return;
        }
        // All up to that one, of which some may have come by themselves.
        const auto newly = ack->delivery_tag - floor_;
        std::size_t known = 0;
        std::erase_if(singles_, [&](std::uint64_t tag) {
            const auto is_below = tag <= ack->delivery_tag;
            known += is_below ? 1 : 0;
            return is_below;
        });
        floor_ = ack->delivery_tag;
        confirmed_ += newly - known;
    }

    rabbit_wire wire_;
    std::uint64_t published_ = 0;
    std::uint64_t confirmed_ = 0;
    std::uint64_t floor_ = 0;             // All up to here are confirmed.
    std::vector<std::uint64_t> singles_;  // Of those above.
};

class rabbit_consumer final : public consumer {
public:
    rabbit_consumer(int port, const std::string& queue) : wire_(port) {
        amqp_table_entry_t kind{};
        kind.key = amqp_cstring_bytes("x-queue-type");
        kind.value.kind = AMQP_FIELD_KIND_UTF8;
        kind.value.value.bytes = bytes_of(queue);
        const amqp_table_t with{.num_entries = 1, .entries = &kind};
        amqp_queue_declare(wire_.raw(), channel, bytes_of("charges"), 0, 1, 0, 0, with);
        wire_.require("the queue");
        amqp_basic_qos(wire_.raw(), channel, 0, 2 * batch_max, 0);
        wire_.require("prefetch");
        amqp_basic_consume(wire_.raw(), channel, bytes_of("charges"), amqp_empty_bytes, 0, 0, 0,
                           amqp_empty_table);
        wire_.require("consume");
    }
    ~rabbit_consumer() override { release(); }

    std::span<const std::string_view> receive() override {
        release();
        while (got_.size() < batch_max) {
            timeval wait{.tv_sec = 0, .tv_usec = got_.empty() ? 100'000 : 0};
            amqp_envelope_t one;
            const auto reply = amqp_consume_message(wire_.raw(), &one, &wait, 0);
            if (reply.reply_type == AMQP_RESPONSE_NORMAL) {
                got_.push_back(one);
                continue;
            }
            if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION &&
                reply.library_error == AMQP_STATUS_TIMEOUT)
                break;
            wire_.require(reply, "a delivery");
        }
        for (const auto& one : got_)
            bodies_.emplace_back(static_cast<const char*>(one.message.body.bytes),
                                 one.message.body.len);
        return bodies_;
    }

    void acknowledge() override {
        check(amqp_basic_ack(wire_.raw(), channel, got_.back().delivery_tag, 1), "acknowledge");
    }

private:
    void release() {
        for (auto& one : got_) amqp_destroy_envelope(&one);
        got_.clear();
        bodies_.clear();
        amqp_maybe_release_buffers(wire_.raw());
    }

    rabbit_wire wire_;
    std::vector<amqp_envelope_t> got_;
    std::vector<std::string_view> bodies_;
};

class rabbit_peer final : public peer {
public:
    rabbit_peer(const std::filesystem::path& folder, const arguments& given)
        : port_(free_port()),
          queue_(given.queue),
          names_port_(std::to_string(free_port())),
          // Its own, so that nothing of it stays behind.
          names_({.command = {"epmd", "-port", names_port_},
                  .folder = folder / "epmd",
                  .count_syncs = false}),
          server_(options_of(folder / "rabbitmq")) {
        const auto until = measure::now_ns() + 120'000'000'000;
        while (true) {
            try {
                const rabbit_wire wire(port_);
                return;
            } catch (const std::exception&) {
                if (measure::now_ns() > until) throw;
            }
            server_.check_alive();
            measure::sleep_until(measure::now_ns() + 200'000'000);
        }
    }

    std::unique_ptr<publisher> publish() override {
        return std::make_unique<rabbit_publisher>(port_);
    }
    std::unique_ptr<consumer> consume() override {
        return std::make_unique<rabbit_consumer>(port_, queue_);
    }
    void begin(const arguments& /*given*/) override {
        const rabbit_wire wire(port_);
        amqp_queue_delete(wire.raw(), channel, bytes_of("charges"), 0, 0);
        wire.require("to delete the queue");
    }
    [[nodiscard]] std::int64_t syncs() const override { return server_.syncs(); }

private:
    [[nodiscard]] server_options options_of(const std::filesystem::path& place) const {
        std::filesystem::create_directories(place);
        return {.command = {"/usr/lib/rabbitmq/bin/rabbitmq-server"},
                .folder = place,
                .environment = {{"HOME", place},
                                {"ERL_EPMD_PORT", names_port_},
                                {"RABBITMQ_NODENAME", "bench" + names_port_ + "@localhost"},
                                {"RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1"},
                                {"RABBITMQ_NODE_PORT", std::to_string(port_)},
                                {"RABBITMQ_DIST_PORT", std::to_string(free_port())},
                                {"RABBITMQ_MNESIA_BASE", place / "data"},
                                {"RABBITMQ_LOG_BASE", place / "log"},
                                {"RABBITMQ_PID_FILE", place / "pid"},
                                {"RABBITMQ_CONFIG_FILE", place / "none"},
                                {"RABBITMQ_CONF_ENV_FILE", place / "none.env"},
                                {"RABBITMQ_ENABLED_PLUGINS_FILE", place / "plugins"}}};
    }

    int port_;
    std::string queue_;
    std::string names_port_;
    server names_;
    server server_;
};

peer_program make(const arguments& given) {
    return {.what = {.name = "rabbitmq-" + given.queue, .transport = "tcp", .note = "confirms"},
            .start = [](const std::filesystem::path& folder, const arguments& with) {
                return std::make_shared<rabbit_peer>(folder, with);
            }};
}

}  // namespace
}  // namespace posthorn::bench

int main(int count, char** words) {
    return posthorn::bench::peer_main(count, words, posthorn::bench::make);
}
