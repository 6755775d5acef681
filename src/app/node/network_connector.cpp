#include "app/node/network_connector.hpp"

#include <utility>

#include "app/config/core_settings.hpp"
#include "app/config/private_text.hpp"
#include "app/config/route_url.hpp"
#include "app/transports.hpp"
#include "base/async/run_on.hpp"
#include "transport/addresses.hpp"

namespace posthorn {

/// An application's function as a transport.
class network_connector::own_transport final : public transport {
public:
    own_transport(executor& workers, transport_function deliver, std::string destination,
                  std::string url)
        : workers_(workers),
          deliver_(std::move(deliver)),
          destination_(std::move(destination)),
          url_(std::move(url)) {}

    task<std::vector<delivery>> deliver(message_batch batch) override {
        co_return co_await run_on(workers_,
                                  [this, batch = std::move(batch)] { return ask(batch); });
    }

private:
    [[nodiscard]] std::vector<delivery> ask(const message_batch& batch) const {
        std::string why;
        try {
            auto answers = deliver_({destination_, url_, batch});
            if (answers.size() == batch.size()) return answers;
            why = fmt::format("the transport gave {} answers to {} messages", answers.size(),
                              batch.size());
        } catch (const std::exception& thrown) {
            why = thrown.what();
        } catch (...) {
            why = "the transport threw something unknown";
        }
        return {batch.size(), delivery{.what = outcome::transient, .error = why}};
    }

    executor& workers_;
    transport_function deliver_;
    std::string destination_;
    std::string url_;
};

namespace {

/// From where it lies, for each connection anew. Without its space, as a file's last line has one.
std::function<result<std::string>()> password_of(const core_route& route) {
    if (route.password.empty()) return {};
    return [place = route.password] { return private_text_at(place, "the broker's password"); };
}

}  // namespace

network_connector::network_connector(const config& settings, deps on, tls_trust trusted)
    : on_(std::move(on)),
      identity_{.keys = on_.keys,
                .service = settings.service.id,
                .answer_bytes_max = settings.limits.answer.bytes},
      mutual_(settings.tls.mutual),
      tls_(std::move(trusted)),
      connections_(on_.env.network),
      client_({.where = on_.env.network,
               .tasks = connections_,
               .time = on_.env.timer,
               .tls = tls_.context}) {}

result<std::unique_ptr<network_connector>> network_connector::open(const config& settings,
                                                                   deps on) {
    tls_trust trusted{.authority = settings.path_of(settings.tls.authority),
                      .own = client_files_of(settings)};
    if (!settings.tls.authority.empty()) {
        auto read = make_tls_client(trusted.authority, trusted.own);
        if (!read) return std::unexpected(settings.at_key("tls.authority", read.error()));
        trusted.context = *std::move(read);
    }
    return std::unique_ptr<network_connector>(
        new network_connector(settings, std::move(on), std::move(trusted)));
}

const transport_function* network_connector::own(std::string_view url) const {
    const auto found = on_.by_scheme.find(url.substr(0, url.find(':')));
    return found == on_.by_scheme.end() ? nullptr : &found->second;
}

result<std::unique_ptr<transport>> network_connector::connect(const std::string& destination,
                                                              const core_route& route) {
    const auto addresses = addresses_in(route.url);
    if (addresses.size() == 1) return connect_to_one(destination, route);
    std::vector<std::unique_ptr<transport>> ways;
    for (const auto each : addresses) {
        auto one = route;
        one.url = each;
        POSTHORN_LET(way, connect_to_one(destination, one));
        ways.push_back(std::move(way));
    }
    return std::make_unique<several_addresses>(std::move(ways));
}

result<std::unique_ptr<transport>> network_connector::connect_to_one(const std::string& destination,
                                                                     const core_route& route) {
    if (const auto* const function = own(route.url))
        return std::make_unique<own_transport>(on_.env.workers, *function, destination, route.url);
    POSTHORN_LET(url, parse_route_url(route.url));
    if (mutual_ && is_plain(url))
        return fail(error_code::invalid_configuration,
                    "the route {} has no TLS, but tls.mutual asks for a certificate of every peer; "
                    "write https:// or grpcs://",
                    route.url);
    const auto* const kind = transport_of(route.url);
    if (kind->connect == nullptr)
        return fail(error_code::invalid_configuration, "nothing is reached by {}", route.url);
    return kind->connect({.env = on_.env,
                          .connections = connections_,
                          .keys = on_.keys,
                          .tls = tls_,
                          .service = identity_.service,
                          .destination = destination,
                          .url = route.url,
                          .to = std::move(url),
                          .peer_name = mutual_ ? destination : std::string{},
                          .timeout = route.timeout,
                          .connections_max = static_cast<std::size_t>(route.connections),
                          .reply_bytes_max = identity_.answer_bytes_max,
                          .options = route.options,
                          .password = password_of(route)});
}

result<> network_connector::reload_certificates() {
    return tls_.context ? renew_tls_client(*tls_.context, tls_.authority, tls_.own) : result<>{};
}

bool network_connector::signs(const core_route& route) const {
    return own(route.url) == nullptr && is_signed(route.url);
}

bool network_connector::has_secret(std::string_view peer) const {
    const auto ring = on_.keys.find(peer);
    return ring != nullptr && !ring->keys().empty();
}

web_caller network_connector::caller() {
    return [this](web_call call) { return call_web(std::move(call)); };
}

web_client network_connector::web() {
    return [this](std::string url, http_request request, http_call_limits limits) {
        return client_.send(std::move(url), std::move(request), limits);
    };
}

task<result<http_response>> network_connector::call_web(web_call call) {
    http_request request{.method = "POST",
                         .path = {},
                         .query = {},
                         .headers = std::move(call.headers),
                         .body = std::move(call.body)};
    co_return co_await client_.send(
        std::move(call.url), std::move(request),
        {.exchange_timeout = call.timeout, .reply_bytes_max = identity_.answer_bytes_max});
}

void network_connector::cut_off() {
    client_.stop();
    connections_.cancel();
}

task<> network_connector::stop() {
    cut_off();
    co_await connections_.join();
}

}  // namespace posthorn
