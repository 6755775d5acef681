#include "transport/grpc/grpc_channel.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>

#include "base/async/cancellation.hpp"
#include "base/async/waiter.hpp"
#include "base/text/utf8.hpp"
#include "transport/grpc/grpc_fields.hpp"
#include "transport/grpc/grpc_library.hpp"
#include "transport/grpc/grpc_tls.hpp"
#include "transport/grpc/rf_receiver.grpc.pb.h"
#include "transport/host_port.hpp"
#include "transport/http/types.hpp"

namespace posthorn {
namespace {

constexpr int keep_alive_ms = 30'000;
constexpr int keep_alive_patience_ms = 10'000;
constexpr int connect_timeout_ms = 10'000;
constexpr std::size_t reply_head_bytes_max = std::size_t{16} * 1024;
constexpr std::size_t quoted_characters_max = 300;

grpc::ChannelArguments arguments_of(const grpc_channel_options& options) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, keep_alive_ms);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keep_alive_patience_ms);
    // Its name notwithstanding, it is how long connecting may take.
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, connect_timeout_ms);
    // Messages are tried again by the lane that sends them; and the connection is ours alone.
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    constexpr std::size_t most = std::numeric_limits<int>::max();
    arguments.SetMaxReceiveMessageSize(
        static_cast<int>(std::min(most, options.reply_bytes_max + reply_head_bytes_max)));
    return arguments;
}

/// One request on its way. gRPC writes into it until it has called back.
struct exchange_state {
    std::optional<grpc::ClientContext> context;  // Of one attempt.
    RFRequest request;
    RFReply reply;
    grpc::Status status;
};

struct connection {
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<RFReceiver::Stub> stub;
};

}  // namespace

class grpc_channel::impl {
public:
    explicit impl(grpc_channel_options options) : options_(std::move(options)) {}

    result<> open() {
        std::shared_ptr<grpc::ChannelCredentials> with = grpc::InsecureChannelCredentials();
        if (options_.tls) {
            POSTHORN_LET(read, grpc_channel_credentials({.authority = options_.authority,
                                                         .own = options_.own,
                                                         .host = options_.host,
                                                         .peer_name = options_.peer_name}));
            with = std::move(read);
        }
        // With the scheme, so that no host is taken for one.
        auto channel = grpc::CreateCustomChannel("dns:///" + name(), with, arguments_of(options_));
        auto stub = RFReceiver::NewStub(channel);
        connection_ = std::make_shared<connection>(std::move(channel), std::move(stub));
        return {};
    }

    task<result<wire_reply>> exchange(wire_request request) {
        if (co_await is_cancelled()) co_return cancelled();
        exchange_state one;
        from_wire(std::move(request), one.request);
        for (bool is_repeat = false;; is_repeat = true) {
            POSTHORN_CO_TRY(renew());
            const auto over = connection_;
            const bool was_kept = over->channel->GetState(false) == GRPC_CHANNEL_READY;
            if (!co_await call(*over, one)) co_return cancelled();
            if (one.status.ok()) co_return to_wire(std::move(one.reply));
            // A peer that finds a request too large, or whose answer is, is there: what came of it
            // is for the lane to judge, as it is over HTTP.
            if (is_too_large(one.status))
                co_return wire_reply{.status = 413, .body = too_large(one.status)};
            // A kept connection may turn out to be gone. A receiver knows a message by its id, so
            // it is sent once more.
            if (is_repeat || !was_kept || one.status.error_code() != grpc::StatusCode::UNAVAILABLE)
                co_return failure(one.status);
            if (over == connection_) POSTHORN_CO_TRY(open());
        }
    }

private:
    [[nodiscard]] std::string name() const {
        return to_string(host_port{options_.host, options_.port});
    }

    /// After a failure gRPC would let requests fail for a while without trying. How long to leave a
    /// peer alone is for its lane to say, so a new one takes its place; that reads the certificates
    /// anew as well.
    result<> renew() {
        if (connection_->channel->GetState(false) != GRPC_CHANNEL_TRANSIENT_FAILURE) return {};
        return open();
    }

    /// False if it was cancelled. Nothing of it is in use when it returns, and gRPC's thread holds
    /// nothing but what wakes us: with the last of a channel its threads end, which none of them
    /// may wait for.
    task<bool> call(connection& over, exchange_state& one) const {
        one.context.emplace();
        one.context->set_deadline(
            gpr_time_from_millis(options_.exchange_timeout.count(), GPR_TIMESPAN));
        const auto answered = waiter::make();
        const auto ended = waiter::make();
        over.stub->async()->Receive(&*one.context, &one.request, &one.reply,
                                    [&one, answered, ended](grpc::Status status) {
                                        one.status = std::move(status);
                                        answered->wake();
                                        ended->wake();
                                    });
        const bool came = co_await answered->wait();
        if (!came) one.context->TryCancel();
        co_await ended->wait_regardless();
        co_return came;
    }

    // A server that has no memory left ends calls with the same status, which says nothing of them.
    static bool is_too_large(const grpc::Status& status) {
        return status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED &&
               status.error_message().find("RST_STREAM") == std::string::npos;
    }

    static std::string too_large(const grpc::Status& status) {
        return error_response(413, "body_too_large",
                              clean_utf8(status.error_message(), quoted_characters_max))
            .body;
    }

    [[nodiscard]] std::unexpected<error> failure(const grpc::Status& status) const {
        if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED)
            return fail(error_code::unreachable, "no answer from {} within {} ms", name(),
                        options_.exchange_timeout.count());
        return fail(error_code::unreachable, "{} cannot be reached by gRPC: {}", name(),
                    clean_utf8(status.error_message(), quoted_characters_max));
    }

    grpc_library library_;
    grpc_channel_options options_;
    std::shared_ptr<connection> connection_;
};

result<std::unique_ptr<grpc_channel>> grpc_channel::open(grpc_channel_options options) {
    auto made = std::make_unique<impl>(std::move(options));
    POSTHORN_TRY(made->open());
    return std::unique_ptr<grpc_channel>(new grpc_channel(std::move(made)));
}

task<result<wire_reply>> grpc_channel::exchange(wire_request request) {
    co_return co_await impl_->exchange(std::move(request));
}

grpc_channel::grpc_channel(std::unique_ptr<impl> made) : impl_(std::move(made)) {}
grpc_channel::~grpc_channel() = default;

}  // namespace posthorn
