#pragma once

namespace posthorn {

/// Keeps gRPC and protobuf from writing to standard error by themselves, unless `GRPC_VERBOSITY`
/// says otherwise: they have a line for each connection that comes to nothing and each request that
/// is none, so any peer could fill a disk. For programs of our own, before there are threads; a
/// library leaves that to the program it is in.
void silence_grpc();

}  // namespace posthorn
