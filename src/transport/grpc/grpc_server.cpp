#include "transport/grpc/grpc_server.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <grpc/support/time.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include "base/async/run_on.hpp"
#include "base/async/task_group.hpp"
#include "transport/grpc/grpc_calls.hpp"
#include "transport/grpc/grpc_library.hpp"
#include "transport/grpc/grpc_tls.hpp"
#include "transport/grpc/rf_receiver.grpc.pb.h"

namespace posthorn {

using std::chrono::milliseconds;

bool has_grpc() noexcept { return true; }

namespace {

constexpr milliseconds keep_alive = std::chrono::minutes(1);
constexpr milliseconds keep_alive_patience = std::chrono::seconds(20);
constexpr milliseconds ping_least = std::chrono::seconds(10);  // Beyond, a peer is cut off.
// A request that is never sent to its end is not handed to us, and ends with its connection.
constexpr milliseconds connection_age_max = std::chrono::minutes(10);
constexpr int streams_on_connection_max = 128;
constexpr int reflection_threads_max = 8;
// For connections to be closed in order, once every call has ended.
constexpr milliseconds farewell = milliseconds(200);

int as_int(std::size_t number) {
    return static_cast<int>(std::min<std::size_t>(number, std::numeric_limits<int>::max()));
}

gpr_timespec from_now(milliseconds time) {
    return gpr_time_from_millis(time.count(), GPR_TIMESPAN);
}

void set_limits(grpc::ServerBuilder& builder, const http_limits& limits) {
    const auto set = [&](const char* name, milliseconds time) {
        builder.AddChannelArgument(name, as_int(static_cast<std::size_t>(time.count())));
    };
    builder.SetMaxReceiveMessageSize(as_int(limits.body_bytes_max + limits.header_bytes_max));
    builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, as_int(limits.header_bytes_max));
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, streams_on_connection_max);
    set(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, limits.header_timeout);
    set(GRPC_ARG_MAX_CONNECTION_IDLE_MS, limits.idle_timeout);
    set(GRPC_ARG_MAX_CONNECTION_AGE_MS, connection_age_max);
    set(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, 2 * limits.idle_timeout);
    set(GRPC_ARG_KEEPALIVE_TIME_MS, keep_alive);
    set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keep_alive_patience);
    set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, ping_least);
    // Otherwise two nodes could share an address without a word.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    grpc::ResourceQuota all;
    all.SetMaxThreads(reflection_threads_max);
    all.Resize(limits.unknown_body_bytes_max);
    builder.SetResourceQuota(all);
}

}  // namespace

class grpc_server::impl final : public RFReceiver::CallbackService {
public:
    explicit impl(grpc_server_deps with)
        : with_(std::move(with)),
          tasks_(with_.env.network),
          watch_(with_.env.network),
          calls_(with_.limits.connections_max),
          answering_{.where = with_.env.network,
                     .handler = with_.handler,
                     .limits = with_.limits,
                     .requests_max = with_.requests_max,
                     .log = with_.env.log,
                     .tasks = tasks_,
                     .calls = calls_} {}
    ~impl() override {
        if (server_ != nullptr) server_->Shutdown(from_now(milliseconds(0)));
    }

    result<> bind(const host_port& address) {
        POSTHORN_LET(with, grpc_server_credentials(with_.tls));
        // Both for every server of the process: there is no other way.
        grpc::EnableDefaultHealthCheckService(true);
        grpc::reflection::InitProtoReflectionServerBuilderPlugin();
        grpc::ServerBuilder builder;
        int port = 0;
        builder.AddListeningPort(to_string(address), with, &port);
        builder.RegisterService(this);
        set_limits(builder, with_.limits);
        server_ = builder.BuildAndStart();
        if (server_ == nullptr || port == 0)
            return fail(error_code::address_unavailable,
                        "cannot listen on {} for gRPC; stop the program that listens there, or "
                        "choose another port",
                        to_string(address));
        address_ = {address.host, static_cast<std::uint16_t>(port)};
        tell_health(false);
        return {};
    }

    grpc::ServerUnaryReactor* Receive(grpc::CallbackServerContext* context,
                                      const RFRequest* request, RFReply* reply) override {
        return answer_call(answering_, *context, *request, *reply);
    }
    grpc::ServerBidiReactor<RFRequest, RFReply>* ReceiveStream(
        grpc::CallbackServerContext* context) override {
        return answer_stream(answering_, *context);
    }

    void start() {
        calls_.open();
        watch_.spawn(look_after_calls());
        tell_health(true);
    }

    // gRPC's own stop would wait for streams that others keep open, and cannot be hurried.
    task<> stop(milliseconds patience) {
        using namespace boost::asio::experimental::awaitable_operators;
        if (std::exchange(stopping_, true)) co_return;
        tell_health(false);
        calls_.close();
        // `left` heeds no cancellation, so the whole waits until the last call has ended.
        co_await (calls_.left() || cut_off_after(patience));
        co_await tasks_.join();
        watch_.cancel();
        co_await watch_.join();
        co_await run_on(with_.env.workers, [this] {
            server_->Shutdown(from_now(farewell));
            server_.reset();
            return true;
        });
    }

    void cut_off() {
        calls_.drop_all();
        tasks_.cancel();
    }

    [[nodiscard]] bool has_tls() const noexcept { return !with_.tls.certificate.empty(); }
    [[nodiscard]] const host_port& address() const { return address_; }

private:
    // Between one and two of its time-outs after the last move a stream ends.
    task<> look_after_calls() {
        while (co_await with_.env.timer.sleep_for(with_.limits.idle_timeout)) calls_.look_at_all();
    }

    task<> cut_off_after(milliseconds patience) {
        if (co_await with_.env.timer.sleep_for(patience)) cut_off();
    }

    void tell_health(bool well) {
        auto* const health = server_->GetHealthCheckService();
        if (health == nullptr) return;
        health->SetServingStatus(RFReceiver::service_full_name(), well);
        health->SetServingStatus(well);
    }

    grpc_library library_;
    grpc_server_deps with_;
    task_group tasks_;
    task_group watch_;
    grpc_calls calls_;
    grpc_call_deps answering_;
    host_port address_;
    std::unique_ptr<grpc::Server> server_;
    bool stopping_ = false;
};

result<std::unique_ptr<grpc_server>> grpc_server::listen(const host_port& address,
                                                         grpc_server_deps with) {
    auto made = std::make_unique<impl>(std::move(with));
    POSTHORN_TRY(made->bind(address));
    return std::unique_ptr<grpc_server>(new grpc_server(std::move(made)));
}

grpc_server::grpc_server(std::unique_ptr<impl> made) : impl_(std::move(made)) {}
grpc_server::~grpc_server() = default;

const host_port& grpc_server::address() const noexcept { return impl_->address(); }
std::string grpc_server::url() const {
    return fmt::format("{}://{}", impl_->has_tls() ? "grpcs" : "grpc", to_string(address()));
}
void grpc_server::start() { impl_->start(); }
task<> grpc_server::stop(milliseconds patience) { return impl_->stop(patience); }
void grpc_server::cut_off() { impl_->cut_off(); }

}  // namespace posthorn
