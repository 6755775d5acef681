#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include "base/async/executor.hpp"
#include "base/async/task.hpp"
#include "base/async/timer.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/run/environment.hpp"
#include "transport/host_port.hpp"
#include "transport/http/limits.hpp"
#include "transport/http/tls.hpp"
#include "transport/listener.hpp"
#include "transport/wire/exchange.hpp"

namespace posthorn {

/// Whether this build speaks gRPC.
[[nodiscard]] bool has_grpc() noexcept;

/// What a gRPC server is built from; timer, log and workers outlive it.
struct grpc_server_deps {
    const environment& env;                                 // Outlives the server.
    std::function<task<wire_reply>(wire_request)> handler;  // What it uses outlives the server.
    http_limits limits{};           // Calls are limited as connections of HTTP are.
    std::size_t requests_max = 64;  // At once on one stream; beyond, it is not read.
    tls_files tls{};                // Plain if there is no certificate.
};

/// Answers requests over gRPC, one to a call or many to a stream, and tells others how it is and
/// what it speaks (`grpc.health.v1.Health`, server reflection).
///
/// gRPC has threads of its own. They carry bytes; each request is handed to the executor given, and
/// its handler runs there.
///
/// Lifetime, threads and cancelling: as every listener.
class grpc_server final : public listener {
public:
    /// Takes the address, and turns calls away until `start`. `error_code::address_unavailable`,
    /// `certificate_unusable`, or `invalid_configuration` in a build without gRPC.
    static result<std::unique_ptr<grpc_server>> listen(const host_port& address,
                                                       grpc_server_deps with);
    ~grpc_server() override;

    /// Where it listens; the port is the real one where any was asked for.
    [[nodiscard]] const host_port& address() const noexcept;

    [[nodiscard]] std::string url() const override;
    void start() override;
    task<> stop(std::chrono::milliseconds patience) override;
    void cut_off() override;

private:
    class impl;  // Keeps gRPC out of this header.
    explicit grpc_server(std::unique_ptr<impl> made);

    std::unique_ptr<impl> impl_;
};

}  // namespace posthorn
