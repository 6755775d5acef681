#include "url/url_transport.hpp"

#include <utility>

#include "transport/http/guarded/guarded_channel.hpp"
#include "url/url_destination.hpp"

namespace posthorn {

std::expected<url_transport::way, delivery> url_transport::way_to(const std::string& destination) {
    const auto rules = client_.rules();
    if (!rules)
        return std::unexpected(delivery{.what = outcome::unanswered,
                                        .error = rules.error().what(),
                                        .code = rules.error().code()});
    const auto now = env_.clock.steady();
    if (auto known = ways_.find(destination, now)) return known;
    const auto to = judge_destination(destination, **rules);
    if (!to) return std::unexpected(delivery{.what = outcome::permanent, .error = to.error()});
    const auto send = [&client = client_](guarded_request request) {
        return client.send(std::move(request));
    };
    auto made = std::make_shared<wire_transport>(
        std::make_unique<guarded_channel>(send, *to), self_.keys, env_.clock,
        wire_transport_options{
            .source = self_.service, .destination = destination, .keys_else = origin(*to)});
    ways_.add(destination, made, now);
    return made;
}

task<std::vector<delivery>> url_transport::deliver(message_batch batch) {
    if (batch.empty()) co_return std::vector<delivery>{};
    // Held for as long as it is used: others may take its place.
    const auto way = way_to(batch.front()->destination);
    if (!way) co_return std::vector<delivery>(batch.size(), way.error());
    auto answers = co_await (*way)->deliver(std::move(batch));
    for (auto& each : answers) each = judge_attempt(std::move(each));
    co_return answers;
}

}  // namespace posthorn
