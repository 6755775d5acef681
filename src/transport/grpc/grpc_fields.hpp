#pragma once

// Included only where gRPC is built in.

#include <map>
#include <optional>

#include <grpcpp/support/string_ref.h>

#include "transport/grpc/rf_receiver.pb.h"
#include "transport/http/limits.hpp"
#include "transport/http/wire_headers.hpp"
#include "transport/wire/exchange.hpp"

namespace posthorn {

using grpc_metadata = std::multimap<grpc::string_ref, grpc::string_ref>;

/// What the listener itself has against a request; nothing if that may be read.
std::optional<wire_reply> refuse_request(const RFRequest& request, const http_headers& headers,
                                         const http_limits& limits);

/// A request's headers: its own or, if it has none, those of its call.
http_headers headers_of(const RFRequest& request, const grpc_metadata& call);

wire_request to_wire(RFRequest from, const http_headers& headers);
void from_wire(wire_request from, RFRequest& to);
wire_reply to_wire(RFReply from);
void from_wire(wire_reply from, RFReply& to);

}  // namespace posthorn
