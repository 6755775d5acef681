#include "transport/http/receive_routes.hpp"

#include <fmt/format.h>

#include "transport/http/wire_headers.hpp"

namespace posthorn {
namespace {

bool is_for_messages(std::string_view path) {
    return path == receive_path || path == receive_batch_path ||
           path.starts_with(workflow_inbox_path);
}

task<http_response> receive(wire_server& to, http_request request) {
    if (const auto twice = find_repeated(request.headers); !twice.empty())
        co_return error_response(
            400, "malformed_request",
            fmt::format("the header {} is there twice; send it once", twice.substr(0, 64)));
    co_return write_wire_reply(co_await to.answer(read_wire_request(std::move(request))));
}

}  // namespace

wire_request read_wire_request(http_request request) {
    wire_request incoming;
    incoming.path = std::move(request.path);
    incoming.content_type = read_header(request.headers, "content-type");
    incoming.signature = read_signature(request.headers);
    incoming.traceparent = read_header(request.headers, "traceparent");
    incoming.workflow_signature = read_header(request.headers, "x-workflow-signature");
    incoming.certified = std::move(request.certified);
    incoming.body = std::move(request.body);
    return incoming;
}

std::optional<http_response> refuse_by_head(wire_server& to, const http_request& head) {
    if (head.method != "POST" || !is_for_messages(head.path)) return std::nullopt;
    auto refusal = to.refuse_by_head(read_wire_request(head));
    if (!refusal) return std::nullopt;
    return write_wire_reply(*std::move(refusal));
}

http_response write_wire_reply(wire_reply reply) {
    http_response response;
    response.status = reply.status;
    if (!reply.content_type.empty())
        response.headers.add("Content-Type", std::move(reply.content_type));
    write_signature(response.headers, reply.signature);
    if (reply.retry_after)
        response.headers.add("Retry-After", format_retry_after(*reply.retry_after));
    response.body = std::move(reply.body);
    response.known_caller = reply.known_caller;
    return response;
}

void add_receive_routes(router& routes, wire_server& to) {
    for (const auto path : {receive_path, receive_batch_path})
        routes.add("POST", std::string(path),
                   [&to](http_request request) { return receive(to, std::move(request)); });
    routes.add("POST", std::string(workflow_inbox_path) + "{MethodId}",
               [&to](http_request request) { return receive(to, std::move(request)); });
}

}  // namespace posthorn
