#include <memory>

#include <fmt/format.h>

#include "base/async/task_group.hpp"
#include "conformance/transport/socket_road.hpp"
#include "transport/http/http_channel.hpp"
#include "transport/http/receive_routes.hpp"
#include "transport/http/server.hpp"
#include "transport/http/tls.hpp"
#include "unit/transport/http/test_certificate.hpp"

namespace posthorn::conformance {
namespace {

class road_over_http : public socket_road {
public:
    explicit road_over_http(const road_parts& parts, bool tls) : socket_road(parts) {
        if (tls) {
            const auto files = test::make_certificate(folder_, "stock");
            tls_ = tls_server::load({files.certificate, files.key}, clock_).value();
            trusted_ = make_tls_client(files.certificate).value();
        }
        open({});
    }
    ~road_over_http() override {
        close();
        start(parts_.threads.executor(), clients_.join()).get();
    }

    task<> stop_peer(std::chrono::milliseconds patience) override {
        if (server_) co_await server_->stop(patience);
    }

private:
    test::socket_address listen() override {
        server_ = http_server::listen({"127.0.0.1", port_}, {env_,
                                                             [this](http_request request) {
                                                                 return respond(std::move(request));
                                                             },
                                                             {},
                                                             tls_.get()})
                      .value();
        port_ = server_->address().port;
        start(parts_.threads.executor(), begin(*server_)).get();
        return {.port = port_};
    }
    static task<> begin(http_server& server) {
        server.start();
        co_return;
    }
    task<http_response> respond(http_request request) {
        co_return write_wire_reply(co_await answer(read_wire_request(std::move(request))));
    }

    std::unique_ptr<wire_channel> make_channel(const test::socket_address& to,
                                               std::chrono::milliseconds patience) override {
        return http_channel::open(
                   {parts_.threads.executor(), clients_, parts_.time, trusted_},
                   fmt::format("{}://127.0.0.1:{}", tls_ ? "https" : "http", to.port),
                   {.call = {.exchange_timeout = patience}})
            .value();
    }

    std::unique_ptr<tls_server> tls_;
    std::shared_ptr<tls_context> trusted_;
    std::uint16_t port_ = 0;  // The same after a restart.
    std::unique_ptr<http_server> server_;
    task_group clients_{parts_.threads.executor()};
};

}  // namespace

std::unique_ptr<road> http_road(const road_parts& parts) {
    return std::make_unique<road_over_http>(parts, false);
}

std::unique_ptr<road> https_road(const road_parts& parts) {
    return std::make_unique<road_over_http>(parts, true);
}

}  // namespace posthorn::conformance
