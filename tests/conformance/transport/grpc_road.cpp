#include <atomic>
#include <memory>

#include "base/async/executor.hpp"
#include "base/async/task_group.hpp"
#include "conformance/transport/socket_road.hpp"
#include "transport/grpc/grpc_channel.hpp"
#include "transport/grpc/grpc_server.hpp"

namespace posthorn::conformance {
namespace {

class road_over_grpc final : public socket_road {
public:
    explicit road_over_grpc(const road_parts& parts) : socket_road(parts) { open({}); }
    ~road_over_grpc() override { close(); }

    // Its server says something as soon as it has seen the head of a request, so that harm to
    // answers begins when there is one.
    void lose_answers() override { harm_ = harm::loss; }
    void truncate_answers() override { harm_ = harm::truncation; }
    void mend() override {
        harm_ = harm::none;
        socket_road::mend();
    }

    task<> stop_peer(std::chrono::milliseconds patience) override {
        if (server_) co_await server_->stop(patience);
    }

private:
    enum class harm : std::uint8_t { none, loss, truncation };

    test::socket_address listen() override {
        server_ =
            grpc_server::listen(
                {"127.0.0.1", port_},
                {.env = env_,
                 .handler =
                     [this](wire_request request) { return answer_or_harm(std::move(request)); }})
                .value();
        port_ = server_->address().port;
        start(parts_.threads.executor(), begin(*server_)).get();
        return {.port = port_};
    }
    task<wire_reply> answer_or_harm(wire_request request) {
        auto reply = co_await answer(std::move(request));
        if (harm_ == harm::loss) socket_road::lose_answers();
        if (harm_ == harm::truncation) socket_road::truncate_answers();
        co_return reply;
    }
    static task<> begin(grpc_server& server) {
        server.start();
        co_return;
    }
    std::unique_ptr<wire_channel> make_channel(const test::socket_address& to,
                                               std::chrono::milliseconds patience) override {
        return grpc_channel::open(
                   {.host = "127.0.0.1", .port = to.port, .exchange_timeout = patience})
            .value();
    }

    std::uint16_t port_ = 0;  // The same after a restart.
    std::atomic<harm> harm_ = harm::none;
    std::unique_ptr<grpc_server> server_;
};

}  // namespace

std::unique_ptr<road> grpc_road(const road_parts& parts) {
    return std::make_unique<road_over_grpc>(parts);
}

}  // namespace posthorn::conformance
