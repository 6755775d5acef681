#include "consume/consume_rules.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "inbox/horizon.hpp"
#include "security/digest.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;
using found_text = std::expected<std::string, std::string>;

constexpr std::string_view from_header = "header:";
constexpr std::string_view json_type = "application/json";
constexpr std::string_view bytes_type = "application/octet-stream";

uuid from_digest(const sha256_digest& digest) {
    uuid::bytes_type bytes{};
    std::ranges::transform(digest.begin(), digest.begin() + bytes.size(), bytes.begin(),
                           [](std::byte one) { return std::to_integer<std::uint8_t>(one); });
    bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0FU) | 0x80U);  // Version 8: our own way.
    bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3FU) | 0x80U);
    return uuid(bytes);
}

uuid hash_of(std::initializer_list<std::string_view> fields) {
    sha256 hash;
    for (const auto each : fields) hash.add_field(each);
    return from_digest(hash.finish());
}

std::string text_of(const broker_message& one, std::string_view header) {
    const auto* const found = one.header(header);
    return found == nullptr ? std::string() : *found;
}

/// What a rule says: a text, a header, or the address.
found_text find(const broker_message& one, std::string_view rule, std::string_view what) {
    if (rule == "address") return one.address;
    if (!rule.starts_with(from_header)) return std::string(rule);
    const auto name = rule.substr(from_header.size());
    if (const auto* const found = one.header(name); found != nullptr && !found->empty())
        return *found;
    return std::unexpected(
        fmt::format("it has no header {} for its {}; let its sender add one, or write another rule",
                    name, what));
}

std::expected<uuid, std::string> id_of(const received_message& from, const message& made,
                                       consume_id rule) {
    switch (rule) {
        case consume_id::hash:
            return hash_of({"posthorn.consume.body", made.endpoint, to_string(made.type),
                            made.content_type, made.payload});
        case consume_id::offset:
            if (from.offset.empty())
                return std::unexpected("the broker does not tell its place in a log");
            return hash_of({"posthorn.consume.offset", from.offset});
        case consume_id::message: break;
    }
    if (from.what.id.empty())
        return std::unexpected(
            "it has no id, so a repeat of it could not be known; let its sender give it one, or "
            "write id = \"hash\" if two that say the same are one");
    if (const auto id = uuid::parse(from.what.id); id && !id->is_nil()) return *id;
    return hash_of({"posthorn.consume.id", from.what.id});
}

/// Headers that are the sender's own, as the inbox has them.
std::string own_headers(const broker_message& one) {
    json::object all;
    for (const auto& [name, value] : one.headers) {
        const bool ours = name.starts_with("rf-") || name.starts_with("Nats-") ||
                          name.starts_with("x-") || name == "Content-Type";
        if (!ours && is_utf8(name) && is_utf8(value)) all[name] = value;
    }
    return all.empty() ? std::string() : json::serialize(all);
}

/// Of one whose sender says neither when it was made nor when it is over: the year 9999.
constexpr wall_time no_expiry{std::chrono::seconds{253'402'300'799}};

void take_times(const broker_message& one, message& into) {
    if (const auto made = parse_iso8601(text_of(one, broker_header::created_at)))
        into.created_at = *made;
    else if (one.created_seconds > 0)
        into.created_at = wall_time(std::chrono::seconds(one.created_seconds));
    if (const auto end = parse_iso8601(text_of(one, broker_header::expires_at)))
        into.expires_at = *end;
    else
        into.expires_at =
            into.created_at == wall_time{} ? no_expiry : into.created_at + message_life_max;
}

// Others do not always say what they send.
void choose_type(message& made, const message_limits& limits) {
    if (!made.content_type.empty()) return;
    made.content_type = json_type;
    if (!validate(made, limits)) made.content_type = bytes_type;
}

}  // namespace

std::expected<message, std::string> read_consumed(const received_message& from,
                                                  const consume_rules& rules) {
    const auto& one = from.what;
    const auto endpoint = find(one, rules.endpoint, "endpoint");
    if (!endpoint) return std::unexpected(endpoint.error());
    const auto source = find(one, rules.source, "source");
    if (!source) return std::unexpected(source.error());
    message made;
    made.type =
        parse_message_type(text_of(one, broker_header::type)).value_or(message_type::signal);
    made.source = *source;
    made.destination = rules.destination;
    made.endpoint = *endpoint;
    made.payload = one.body;
    made.content_type = one.content_type;
    made.headers = own_headers(one);
    made.correlation_id = text_of(one, broker_header::correlation_id);
    if (made.correlation_id.empty()) made.correlation_id = one.correlation_id;
    made.tenant = text_of(one, broker_header::tenant);
    made.order_key = text_of(one, broker_header::order_key);
    made.parent_id = uuid::parse(text_of(one, broker_header::parent_id));
    made.causation_id = uuid::parse(text_of(one, broker_header::causation_id));
    take_times(one, made);
    made.id = hash_of({"posthorn.consume.unknown"});  // So that the rest can be looked at.
    choose_type(made, rules.limits);
    const auto id = id_of(from, made, rules.id);
    if (!id) return std::unexpected(id.error());
    made.id = *id;
    if (const auto fit = validate(made, rules.limits); !fit)
        return std::unexpected(fmt::format("{}: {}", fit.error().name(), fit.error().what()));
    return made;
}

consume_verdict judge_consumed(const delivery& answer, std::uint32_t tries,
                               const consume_patience& patience) {
    using enum consume_verdict::kind;
    switch (answer.what) {
        case outcome::delivered: return {.what = acknowledge};
        case outcome::permanent: return {.what = put_aside};
        case outcome::throttled:
            return {
                .what = again,
                .pause = std::clamp(answer.retry_after, patience.pause_min, patience.pause_max)};
        case outcome::unanswered: return {.what = again, .pause = patience.pause_min};
        case outcome::transient:
            if (answer.duplicate) return {.what = acknowledge};
            break;
        case outcome::undeliverable: break;
    }
    if (tries + 1 >= patience.tries_max) return {.what = put_aside};
    const auto doubled = patience.pause_min * (std::int64_t{1} << std::min(tries, 20U));
    return {.what = again, .counted = true, .pause = std::min(doubled, patience.pause_max)};
}

}  // namespace posthorn
