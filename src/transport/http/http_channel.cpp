#include "transport/http/http_channel.hpp"

#include "transport/http/wire_headers.hpp"

namespace posthorn {
namespace {

http_request to_http(wire_request request, const std::string& prefix) {
    http_request outgoing;
    outgoing.method = "POST";
    outgoing.path = prefix + request.path;
    outgoing.headers = write_request_headers(request);
    outgoing.body = std::move(request.body);
    return outgoing;
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
    : prefix_(path_before_ours(to)),
      limits_(options.call),
      // A receiver knows a message by its id.
      pool_(
          std::move(parts), std::move(to),
          {.limits = options.pool, .repeats_are_harmless = true, .peer_name = options.peer_name}) {}

task<result<wire_reply>> http_channel::exchange(wire_request request) {
    POSTHORN_CO_LET(response, co_await pool_.send(to_http(std::move(request), prefix_), limits_));
    co_return read_reply(response.status, response.headers, std::move(response.body));
}

}  // namespace posthorn
