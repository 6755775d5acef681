#include "transport/grpc/grpc_log.hpp"

#include <cstdlib>

#include <google/protobuf/stubs/logging.h>

namespace posthorn {

void silence_grpc() {
    ::setenv("GRPC_VERBOSITY", "NONE", 0);
    google::protobuf::SetLogHandler(nullptr);
}

}  // namespace posthorn
