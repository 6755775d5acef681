#include "message/event.hpp"

#include <charconv>
#include <utility>

#include <posthorn/error.hpp>
#include <posthorn/json/reader.hpp>
#include <posthorn/json/writer.hpp>

#include "base/planted.hpp"
#include "message/fields.hpp"

namespace posthorn {
namespace {

constexpr std::string_view user_name = "user-id";

// Beside the order key, to be read by people and views. Headers that name a user stay as they are,
// and so do those that are none, to be refused for that.
std::string with_user(std::string headers, std::string_view user) {
    if (user.empty()) return headers;
    std::string made;
    json_writer writer(made);
    writer.open('{');
    try {
        bool has_own = false;
        if (!headers.empty())
            json_reader::read(headers, [&](json_reader& whole) {
                whole.members([&](std::string_view name, json_reader& value) {
                    has_own = has_own || name == user_name;
                    writer.key(name);
                    made += trimmed(value.document());
                });
            });
        if (has_own) return headers;
        writer.key(user_name);
        writer.string(user);
    } catch (const error&) {
        return headers;
    }
    writer.close('}');
    return made;
}

}  // namespace

std::string event_key(std::string_view user, std::string_view entity) {
    if (user.empty() && entity.empty()) return {};
    if (POSTHORN_PLANTED(order_without_user)) return "0:," + std::string(entity);
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
                        .headers = with_user(std::move(options.headers), options.user),
                        .correlation_id = std::move(options.correlation_id),
                        .tenant = std::move(options.tenant),
                        .order_key = event_key(options.user, options.entity),
                        .max_retries = retry_for_ever}};
}

}  // namespace detail

}  // namespace posthorn
