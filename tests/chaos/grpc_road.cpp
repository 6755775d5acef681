#include <fmt/format.h>

#include "chaos/road.hpp"
#include "chaos/storm.hpp"

namespace posthorn::chaos {
namespace {

/// Requests cannot be told apart in its bytes without reading them as gRPC does, so that harm comes
/// to bytes and to connections.
class road_over_grpc final : public road {
public:
    explicit road_over_grpc(const road_parts& parts)
        : parts_(parts),
          storm_({.seed = parts.seed, .size_of = request_size{}}, parts.counts, parts.answers) {}

    void reach(node_options& receiver) override { receiver.listen.grpc = "127.0.0.1:0"; }
    void lay(node_options& sender) override {
        sender.routes[parts_.to] = fmt::format("grpc://127.0.0.1:{}", storm_.address().port);
    }
    void open(const node& receiver) override {
        for (const auto& address : receiver.addresses())
            if (address.starts_with("grpc:")) {
                const auto port = address.substr(address.rfind(':') + 1);
                storm_.aim({.port = static_cast<std::uint16_t>(std::stoi(port))});
            }
    }
    void calm() override { storm_.calm(); }

private:
    road_parts parts_;
    storm storm_;
};

}  // namespace

std::unique_ptr<road> grpc_road(const road_parts& parts) {
    return std::make_unique<road_over_grpc>(parts);
}

}  // namespace posthorn::chaos
