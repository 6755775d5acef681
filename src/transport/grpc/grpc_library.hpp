#pragma once

// Included only where gRPC is built in.

#include <grpc/grpc.h>

namespace posthorn {

/// Keeps gRPC's own threads for as long as one of these lives; the last one ends them.
///
/// Lifetime: the last member to go of a class that uses gRPC, so that no thread is left behind.
/// Threads:  any but gRPC's own.
class grpc_library {
public:
    grpc_library() { grpc_init(); }
    ~grpc_library() { grpc_shutdown_blocking(); }
    grpc_library(const grpc_library&) = delete;
    grpc_library& operator=(const grpc_library&) = delete;
};

}  // namespace posthorn
