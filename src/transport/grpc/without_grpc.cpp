// What stands for gRPC in a build that has none.
#include "transport/grpc/grpc_channel.hpp"
#include "transport/grpc/grpc_log.hpp"
#include "transport/grpc/grpc_server.hpp"

namespace posthorn {
namespace {

std::unexpected<error> without_grpc() {
    return fail(error_code::invalid_configuration,
                "this program was built without gRPC; build it with -DPOSTHORN_GRPC=ON, or use "
                "http://");
}

}  // namespace

bool has_grpc() noexcept { return false; }

void silence_grpc() {}

class grpc_channel::impl {};

grpc_channel::grpc_channel(std::unique_ptr<impl> made) : impl_(std::move(made)) {}
grpc_channel::~grpc_channel() = default;

result<std::unique_ptr<grpc_channel>> grpc_channel::open(grpc_channel_options) {
    return without_grpc();
}

task<result<wire_reply>> grpc_channel::exchange(wire_request) { co_return without_grpc(); }

class grpc_server::impl {
public:
    host_port address;
};

grpc_server::grpc_server(std::unique_ptr<impl> made) : impl_(std::move(made)) {}
grpc_server::~grpc_server() = default;

result<std::unique_ptr<grpc_server>> grpc_server::listen(const host_port&, grpc_server_deps) {
    return without_grpc();
}

const host_port& grpc_server::address() const noexcept { return impl_->address; }
std::string grpc_server::url() const { return {}; }
void grpc_server::start() {}
task<> grpc_server::stop(std::chrono::milliseconds) { co_return; }
void grpc_server::cut_off() {}

}  // namespace posthorn
