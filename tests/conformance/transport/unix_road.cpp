#include <memory>

#include "base/async/task_group.hpp"
#include "conformance/transport/socket_road.hpp"
#include "transport/pipe/pipe_path.hpp"
#include "transport/unix/unix_channel.hpp"
#include "transport/unix/unix_server.hpp"

namespace posthorn::conformance {
namespace {

class road_over_unix final : public socket_road {
public:
    road_over_unix(const road_parts& parts, socket_folder folder)
        : socket_road(parts), kind_(folder) {
        open({.path = path_of("proxy")});
    }
    ~road_over_unix() override { close(); }

    task<> stop_peer(std::chrono::milliseconds patience) override {
        if (server_) co_await server_->stop(patience);
    }

private:
    [[nodiscard]] std::string path_of(const std::string& name) const {
        if (kind_ == socket_folder::closed) return folder_.file(name + ".sock");
        return pipe_path(name, folder_.path().string()).value();
    }
    test::socket_address listen() override {
        const auto path = path_of("stock");
        server_ = unix_server::listen(
                      path, {env_,
                             [this](wire_request request) { return answer(std::move(request)); },
                             {},
                             64,
                             kind_})
                      .value();
        start(parts_.threads.executor(), begin(*server_)).get();
        return {.path = path};
    }
    static task<> begin(unix_server& server) {
        server.start();
        co_return;
    }

    std::unique_ptr<wire_channel> make_channel(const test::socket_address& to,
                                               std::chrono::milliseconds patience) override {
        return std::make_unique<unix_channel>(
            parts_.threads.executor(), parts_.time,
            unix_channel_options{.path = to.path, .exchange_timeout = patience});
    }

    const socket_folder kind_;
    std::unique_ptr<unix_server> server_;
};

}  // namespace

std::unique_ptr<road> unix_road(const road_parts& parts) {
    return std::make_unique<road_over_unix>(parts, socket_folder::closed);
}

std::unique_ptr<road> pipe_road(const road_parts& parts) {
    return std::make_unique<road_over_unix>(parts, socket_folder::shared);
}

}  // namespace posthorn::conformance
