#include "transport/http/http_channel.hpp"

#include "transport/http/wire_headers.hpp"

namespace posthorn {
namespace {

http_request to_http(wire_request request, const std::string& prefix) {
    http_request outgoing;
    outgoing.method = "POST";
    outgoing.path = prefix + request.path;
    outgoing.headers.add("content-type", std::move(request.content_type));
    write_signature(outgoing.headers, request.signature);
    if (!request.workflow_signature.empty())
        outgoing.headers.add("X-Workflow-Signature", std::move(request.workflow_signature));
    if (!request.traceparent.empty())
        outgoing.headers.add("traceparent", std::move(request.traceparent));
    outgoing.body = std::move(request.body);
    return outgoing;
}

wire_reply to_wire(http_response response) {
    wire_reply reply;
    reply.status = response.status;
    reply.content_type = read_header(response.headers, "content-type");
    reply.signature = read_signature(response.headers);
    if (const auto text = response.headers.find("retry-after"))
        reply.retry_after = parse_retry_after(*text);
    reply.body = std::move(response.body);
    return reply;
}

std::string prefix_of(const http_url& to) {
    const auto last = to.path.find_last_not_of('/');
    return last == std::string::npos ? "" : to.path.substr(0, last + 1);
}

}  // namespace

result<std::unique_ptr<http_channel>> http_channel::open(http_client_deps parts,
                                                         std::string_view url,
                                                         http_channel_options options) {
    POSTHORN_LET(to, parse_http_url(url));
    if (!to.query.empty())
        return fail(error_code::invalid_argument, "'{}' may not have a query; leave it out", url);
    if (to.tls && !parts.tls) {
        POSTHORN_LET(trusted, make_tls_client(""));
        parts.tls = std::move(trusted);
    }
    return std::unique_ptr<http_channel>(
        new http_channel(std::move(parts), std::move(to), options));
}

http_channel::http_channel(http_client_deps parts, http_url to, const http_channel_options& options)
    : prefix_(prefix_of(to)),
      limits_(options.call),
      // A receiver knows a message by its id.
      pool_(
          std::move(parts), std::move(to),
          {.limits = options.pool, .repeats_are_harmless = true, .peer_name = options.peer_name}) {}

task<result<wire_reply>> http_channel::exchange(wire_request request) {
    POSTHORN_CO_LET(response, co_await pool_.send(to_http(std::move(request), prefix_), limits_));
    co_return to_wire(std::move(response));
}

}  // namespace posthorn
