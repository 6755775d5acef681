#pragma once

// Included only where gRPC is built in.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include "base/result.hpp"
#include "transport/http/tls.hpp"

namespace posthorn {

/// What a gRPC server shows, and whom it asks for a certificate; plain where there is none. The
/// files are looked at again from time to time. `error_code::certificate_unusable`.
[[nodiscard]] result<std::shared_ptr<grpc::ServerCredentials>> grpc_server_credentials(
    const tls_files& files);

struct grpc_trust {
    std::string authority;    // PEM; the system's authorities if empty.
    tls_files own{};          // What to show a server that asks; nothing if empty.
    std::string host{};       // What the server's certificate must be for.
    std::string peer_name{};  // And the service that must be named in it; none if empty.
};

/// Reads the files; `error_code::certificate_unusable`.
[[nodiscard]] result<std::shared_ptr<grpc::ChannelCredentials>> grpc_channel_credentials(
    const grpc_trust& trust);

/// The names in a certificate in PEM, as `names_in`; none if it is not a certificate.
[[nodiscard]] std::vector<std::string> names_in_pem(std::string_view pem);

}  // namespace posthorn
