#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "transport/http/tls.hpp"
#include "transport/wire/exchange.hpp"

namespace posthorn {

struct grpc_channel_options {
    std::string host;
    std::uint16_t port = 0;
    std::chrono::milliseconds exchange_timeout = std::chrono::seconds(30);
    std::size_t reply_bytes_max = std::size_t{4} << 20;
    bool tls = false;
    std::string authority{};  // PEM; the system's if empty.
    tls_files own{};          // What to show a server that asks; nothing if empty.
    std::string peer_name{};  // The service that the server's certificate must name; any if empty.
};

/// A way to one peer over gRPC: one connection, made when there is a request and kept. A request
/// that breaks off with a kept connection is sent once more on a new one.
///
/// Lifetime: outlives the exchanges on it.
/// Threads:  `exchange` runs on one executor; gRPC's own threads only wake it.
/// Cancel:   as every channel's; the others' requests stay.
class grpc_channel final : public wire_channel {
public:
    /// `error_code::invalid_configuration` in a build without gRPC, `certificate_unusable` for
    /// files that cannot be read.
    static result<std::unique_ptr<grpc_channel>> open(grpc_channel_options options);
    ~grpc_channel() override;

    task<result<wire_reply>> exchange(wire_request request) override;

private:
    class impl;  // Keeps gRPC out of this header.
    explicit grpc_channel(std::unique_ptr<impl> made);

    std::unique_ptr<impl> impl_;
};

}  // namespace posthorn
