#include "transport/http/http_client.hpp"

namespace posthorn {

http_client::http_client(http_client_deps parts, http_pool_limits limits)
    : parts_(std::move(parts)), limits_(limits) {
    // Servers in general may answer requests that were sent ahead as they please.
    limits_.pipeline_max = 1;
}

task<result<http_response>> http_client::send(std::string url, http_request request,
                                              http_call_limits limits) {
    POSTHORN_CO_LET(to, parse_http_url(url));
    POSTHORN_CO_LET(pool, pool_for(to));
    request.path = to.path.empty() ? "/" : std::move(to.path);
    request.query = std::move(to.query);
    co_return co_await pool->send(std::move(request), limits);
}

result<client_pool*> http_client::pool_for(const http_url& to) {
    if (stopped_) return fail(error_code::closed, "the HTTP client was stopped");
    auto& pool = pools_[origin(to)];
    if (pool) return pool.get();
    if (to.tls && !parts_.tls) {
        POSTHORN_LET(trusted, make_tls_client(""));
        parts_.tls = std::move(trusted);
    }
    pool = std::make_unique<client_pool>(parts_, to, client_pool::options{.limits = limits_});
    return pool.get();
}

void http_client::stop() {
    stopped_ = true;
    for (const auto& [name, pool] : pools_)
        if (pool) pool->stop();
}

}  // namespace posthorn
