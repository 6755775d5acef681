#include "app/node/network_connector.hpp"

#include <utility>

#include "app/config/route_url.hpp"
#include "base/async/run_on.hpp"
#include "transport/grpc/grpc_channel.hpp"
#include "transport/http/http_channel.hpp"
#include "transport/pipe/pipe_path.hpp"
#include "transport/unix/unix_channel.hpp"
#include "transport/wire/wire_transport.hpp"

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

/// What is shown to servers that ask for a certificate.
tls_files own_files(const config& settings) {
    if (!settings.tls.mutual) return {};
    return {.certificate = settings.path_of(settings.tls.certificate),
            .key = settings.path_of(settings.tls.key)};
}

}  // namespace

network_connector::network_connector(const config& settings, parts with,
                                     std::shared_ptr<tls_context> trusted)
    : with_(std::move(with)),
      service_(settings.service.id),
      answer_bytes_max_(settings.limits.answer.bytes),
      mutual_(settings.tls.mutual),
      authority_(settings.path_of(settings.tls.authority)),
      own_(own_files(settings)),
      trusted_(std::move(trusted)),
      connections_(with_.where),
      client_(client_parts()) {}

http_client_parts network_connector::client_parts() {
    return {.where = with_.where, .tasks = connections_, .time = with_.sleeper, .tls = trusted_};
}

result<std::unique_ptr<network_connector>> network_connector::open(const config& settings,
                                                                   parts with) {
    std::shared_ptr<tls_context> trusted;
    if (!settings.tls.authority.empty()) {
        auto read = make_tls_client(settings.path_of(settings.tls.authority), own_files(settings));
        if (!read) return std::unexpected(settings.at_key("tls.authority", read.error()));
        trusted = *std::move(read);
    }
    return std::unique_ptr<network_connector>(
        new network_connector(settings, std::move(with), std::move(trusted)));
}

const transport_function* network_connector::own(std::string_view url) const {
    const auto found = with_.by_scheme.find(url.substr(0, url.find(':')));
    return found == with_.by_scheme.end() ? nullptr : &found->second;
}

result<std::unique_ptr<transport>> network_connector::connect(const std::string& destination,
                                                              const core_route& route) {
    if (const auto* const function = own(route.url))
        return std::make_unique<own_transport>(with_.workers, *function, destination, route.url);
    POSTHORN_LET(url, parse_route_url(route.url));
    if (mutual_ && url.is_plain())
        return fail(error_code::invalid_configuration,
                    "the route {} has no TLS, but tls.mutual asks for a certificate of every peer; "
                    "write https:// or grpcs://",
                    route.url);
    std::unique_ptr<wire_channel> channel;
    const bool is_pipe = url.scheme == route_url::kind::pipe;
    if (is_pipe || url.scheme == route_url::kind::unix_socket) {
        POSTHORN_LET(path, is_pipe ? pipe_path(url.path) : result<std::string>(url.path));
        channel = std::make_unique<unix_channel>(
            with_.where, with_.sleeper,
            unix_channel_options{.path = std::move(path),
                                 .exchange_timeout = route.timeout,
                                 .replies = {.body_bytes_max = answer_bytes_max_}});
    } else if (url.scheme == route_url::kind::grpc || url.scheme == route_url::kind::grpcs) {
        POSTHORN_LET(opened,
                     grpc_channel::open({.host = url.host,
                                         .port = url.port,
                                         .exchange_timeout = route.timeout,
                                         .reply_bytes_max = answer_bytes_max_,
                                         .tls = url.scheme == route_url::kind::grpcs,
                                         .authority = authority_,
                                         .own = own_,
                                         .peer_name = mutual_ ? destination : std::string{}}));
        channel = std::move(opened);
    } else {
        POSTHORN_LET(
            opened,
            http_channel::open(
                client_parts(), route.url,
                {.pool = {.connections_max = static_cast<std::size_t>(route.connections)},
                 .call = {.exchange_timeout = route.timeout, .reply_bytes_max = answer_bytes_max_},
                 .peer_name = mutual_ ? destination : std::string{}}));
        channel = std::move(opened);
    }
    return std::make_unique<wire_transport>(
        std::move(channel), with_.keys, with_.time,
        wire_transport_options{.source = service_, .destination = destination});
}

result<> network_connector::reload_certificates() {
    return trusted_ ? renew_tls_client(*trusted_, authority_, own_) : result<>{};
}

bool network_connector::signs(const core_route& route) const { return own(route.url) == nullptr; }

bool network_connector::has_secret(std::string_view peer) const {
    const auto ring = with_.keys.find(peer);
    return ring != nullptr && !ring->keys().empty();
}

web_caller network_connector::caller() {
    return [this](web_call call) { return call_web(std::move(call)); };
}

task<result<http_response>> network_connector::call_web(web_call call) {
    http_request request{.method = "POST",
                         .path = {},
                         .query = {},
                         .headers = std::move(call.headers),
                         .body = std::move(call.body)};
    co_return co_await client_.send(
        std::move(call.url), std::move(request),
        {.exchange_timeout = call.timeout, .reply_bytes_max = answer_bytes_max_});
}

void network_connector::cut_off() {
    client_.stop();
    connections_.cancel();
}

task<> network_connector::close() {
    cut_off();
    co_await connections_.join();
}

}  // namespace posthorn
