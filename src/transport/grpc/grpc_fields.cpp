#include "transport/grpc/grpc_fields.hpp"

#include <utility>

#include <fmt/format.h>

#include "transport/http/types.hpp"

namespace posthorn {
namespace {

constexpr unsigned status_max = 599;

template <class Map>
void put_headers(const http_headers& from, Map& to) {
    for (const auto& [name, value] : from) to[name] = value;
}

template <class Map>
http_headers take_headers(const Map& from) {
    http_headers made;
    for (const auto& [name, value] : from)
        made.add(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
    return made;
}

wire_reply refusal(std::uint16_t status, std::string_view code, std::string_view message) {
    return {.status = status, .body = error_response(status, code, message).body};
}

}  // namespace

std::optional<wire_reply> refuse_request(const RFRequest& request, const http_headers& headers,
                                         const http_limits& limits) {
    if (request.body().size() > limits.body_bytes_max)
        return refusal(413, "body_too_large",
                       fmt::format("a body is limited to {} bytes", limits.body_bytes_max));
    std::size_t size = request.path().size();
    for (const auto& [name, value] : headers) size += name.size() + value.size();
    if (size > limits.header_bytes_max)
        return refusal(
            431, "headers_too_large",
            fmt::format("path and headers are limited to {} bytes", limits.header_bytes_max));
    // A map keeps names apart that differ by case.
    if (const auto twice = find_repeated(headers); !twice.empty())
        return refusal(
            400, "malformed_request",
            fmt::format("the header {} is there twice; send it once", twice.substr(0, 64)));
    return std::nullopt;
}

http_headers headers_of(const RFRequest& request, const grpc_metadata& call) {
    return request.headers().empty() ? take_headers(call) : take_headers(request.headers());
}

wire_request to_wire(RFRequest from, const http_headers& headers) {
    wire_request request;
    request.path =
        from.path().empty() ? std::string(receive_path) : std::move(*from.mutable_path());
    // In metadata it is that of the call.
    if (!from.headers().empty()) request.content_type = read_header(headers, "content-type");
    if (request.content_type.empty()) request.content_type = wire_content_type;
    request.signature = read_signature(headers);
    request.traceparent = read_header(headers, "traceparent");
    request.workflow_signature = read_header(headers, "x-workflow-signature");
    request.body = std::move(*from.mutable_body());
    return request;
}

void from_wire(wire_request from, RFRequest& to) {
    to.set_path(std::move(from.path));
    http_headers headers;
    headers.add("content-type", std::move(from.content_type));
    write_signature(headers, from.signature);
    if (!from.traceparent.empty()) headers.add("traceparent", std::move(from.traceparent));
    if (!from.workflow_signature.empty())
        headers.add("x-workflow-signature", std::move(from.workflow_signature));
    put_headers(headers, *to.mutable_headers());
    to.set_body(std::move(from.body));
}

wire_reply to_wire(RFReply from) {
    const auto headers = take_headers(from.headers());
    wire_reply reply;
    reply.status = static_cast<std::uint16_t>(from.status() > status_max ? 0 : from.status());
    reply.content_type = read_header(headers, "content-type");
    reply.signature = read_signature(headers);
    if (const auto text = headers.find("retry-after")) reply.retry_after = parse_retry_after(*text);
    reply.body = std::move(*from.mutable_body());
    return reply;
}

void from_wire(wire_reply from, RFReply& to) {
    to.set_status(from.status);
    http_headers headers;
    if (!from.content_type.empty()) headers.add("content-type", std::move(from.content_type));
    write_signature(headers, from.signature);
    if (from.retry_after) headers.add("retry-after", format_retry_after(*from.retry_after));
    put_headers(headers, *to.mutable_headers());
    to.set_body(std::move(from.body));
}

}  // namespace posthorn
