#include "otlp/collector.hpp"

#include <utility>

#include "base/async/cancellation.hpp"
#include "otlp/gzip.hpp"

namespace posthorn {

collector::collector(const environment& env, const otlp_options& options,
                     std::shared_ptr<tls_context> tls)
    : env_(env),
      headers_(options.headers),
      gzip_(options.gzip),
      timeout_(options.timeout),
      connections_(env.network),
      client_(
          {.where = env.network, .tasks = connections_, .time = env.timer, .tls = std::move(tls)}) {
}

result<std::unique_ptr<collector>> collector::make(const environment& env,
                                                   const otlp_options& options) {
    std::shared_ptr<tls_context> tls;
    if (!options.certificate.empty()) {
        POSTHORN_LET(read, make_tls_client(options.certificate));
        tls = std::move(read);
    }
    return std::unique_ptr<collector>(new collector(env, options, std::move(tls)));
}

task<result<http_response>> collector::post(std::string url, std::string body) {
    constexpr std::size_t reply_bytes_max = 64 * 1024;
    http_request request{
        .method = "POST", .path = {}, .query = {}, .headers = headers_, .body = {}};
    request.headers.add("Content-Type", "application/x-protobuf");
    request.headers.add("User-Agent", "Posthorn");
    if (gzip_) {
        request.headers.add("Content-Encoding", "gzip");
        request.body = gzip(body);
    } else {
        request.body = std::move(body);
    }
    const http_call_limits limits{.exchange_timeout = timeout_, .reply_bytes_max = reply_bytes_max};
    const auto begun = env_.clock.steady();
    auto answer = co_await client_.send(url, request, limits);
    // A connection that was kept may have been closed meanwhile, which is no one's fault.
    constexpr std::chrono::seconds soon{1};
    const bool was_quick = env_.clock.steady() - begun < soon;
    if (answer || answer.error().code() != error_code::unreachable || !was_quick) co_return answer;
    co_return co_await client_.send(std::move(url), std::move(request), limits);
}

task<> collector::close() {
    client_.stop();
    connections_.cancel();
    co_await connections_.join();
}

void collector::note_failure(const std::string& why) {
    counts_.failures.fetch_add(1, std::memory_order_relaxed);
    {
        const std::scoped_lock lock(mutex_);
        if (!std::exchange(trouble_, why).empty()) return;
    }
    env_.log.warn("Telemetry: the collector does not take what it is sent: {Error}",
                  {{"Error", why}});
}

void collector::note_success() {
    {
        const std::scoped_lock lock(mutex_);
        if (std::exchange(trouble_, {}).empty()) return;
    }
    env_.log.info("Telemetry: the collector takes what it is sent again");
}

std::string collector::trouble() const {
    const std::scoped_lock lock(mutex_);
    return trouble_;
}

}  // namespace posthorn
