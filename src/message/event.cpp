#include "message/event.hpp"

#include <charconv>
#include <utility>

namespace posthorn {

std::string event_key(std::string_view user, std::string_view entity) {
    if (user.empty() && entity.empty()) return {};
    return std::to_string(user.size()) + ":" + std::string(user) + "," + std::string(entity);
}

std::string entity_of(std::string_view key) {
    std::size_t size = 0;
    const auto [end, failure] = std::from_chars(key.begin(), key.end(), size);
    const auto rest = key.substr(static_cast<std::size_t>(end - key.begin()));
    const bool is_ours = failure == std::errc{} && rest.starts_with(':') &&
                         size < rest.size() - 1 && rest[size + 1] == ',';
    return std::string(is_ours ? rest.substr(size + 2) : key);
}

namespace detail {

send_request event_request(std::string_view type, std::string_view payload,
                           publish_options options) {
    return {.destination = events_destination,
            .endpoint = type,
            .payload = std::string(payload),
            .options = {.id = options.id,
                        .content_type = std::move(options.content_type),
                        .headers = std::move(options.headers),
                        .correlation_id = std::move(options.correlation_id),
                        .tenant = std::move(options.tenant),
                        .order_key = event_key(options.user, options.entity),
                        .max_retries = retry_for_ever}};
}

}  // namespace detail

}  // namespace posthorn
