#include "transport/broker/broker_message.hpp"

#include <algorithm>
#include <array>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::string_view ours = "rf-";
constexpr std::array names{std::string_view("endpoint"), std::string_view("destination"),
                           std::string_view("tenant"), std::string_view("type"),
                           std::string_view("order_key")};

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool is_alike(std::string_view one, std::string_view other) {
    return std::ranges::equal(one, other, {}, lower, lower);
}

std::string_view value_of(std::string_view name, const message& from) {
    if (name == "endpoint") return from.endpoint;
    if (name == "destination") return from.destination;
    if (name == "tenant") return from.tenant;
    if (name == "type") return to_string(from.type);
    return from.order_key;
}

/// Without what would end a header early, or make it another's.
bool can_travel(std::string_view name, std::string_view value) {
    const auto is_plain = [](char each) { return each > ' ' && each < '\x7f' && each != ':'; };
    const auto is_control = [](char each) { return each == '\0' || each == '\r' || each == '\n'; };
    return !name.empty() && name.size() <= 255 && std::ranges::all_of(name, is_plain) &&
           std::ranges::none_of(value, is_control) &&
           !is_alike(name.substr(0, ours.size()), ours) && !is_alike(name.substr(0, 5), "nats-");
}

void add_own_headers(const message& from, broker_message& to) {
    if (from.headers.empty()) return;
    boost::system::error_code wrong;
    const auto read = json::parse(from.headers, wrong);
    const auto* const fields = wrong ? nullptr : read.if_object();
    if (fields == nullptr) return;
    for (const auto& [name, value] : *fields) {
        auto text = value.is_string() ? std::string(value.as_string()) : json::serialize(value);
        if (can_travel(name, text)) to.headers.emplace_back(name, std::move(text));
    }
}

}  // namespace

const std::string* broker_message::header(std::string_view name) const {
    const auto found =
        std::ranges::find_if(headers, [&](const auto& each) { return is_alike(each.first, name); });
    return found == headers.end() ? nullptr : &found->second;
}

std::string fill_address(std::string_view pattern, const message& from) {
    std::string filled;
    while (!pattern.empty()) {
        const auto open = pattern.find('{');
        const auto close = pattern.find('}', open == pattern.npos ? pattern.size() : open);
        if (open == pattern.npos || close == pattern.npos) break;
        filled += pattern.substr(0, open);
        filled += value_of(pattern.substr(open + 1, close - open - 1), from);
        pattern.remove_prefix(close + 1);
    }
    return filled += pattern;
}

result<> check_address(std::string_view pattern) {
    for (auto open = pattern.find('{'); open != pattern.npos; open = pattern.find('{')) {
        pattern.remove_prefix(open + 1);
        const auto name = pattern.substr(0, pattern.find('}'));
        if (name.size() == pattern.size() || std::ranges::find(names, name) == names.end())
            // Unquoted: it may be a password that stands in the wrong place.
            return fail(error_code::invalid_configuration,
                        "what it has in braces stands for nothing; there may be endpoint, "
                        "destination, tenant, type or order_key");
    }
    return {};
}

broker_message to_broker(const message& from, std::string_view address_pattern) {
    broker_message to{
        .id = from.id.to_string(),
        .address = fill_address(address_pattern, from),
        .body = from.payload,
        .content_type = from.content_type,
        .correlation_id = from.correlation_id,
        .created_seconds =
            std::chrono::floor<std::chrono::seconds>(from.created_at).time_since_epoch().count(),
        .priority = from.priority};
    const auto add = [&](std::string_view name, std::string_view value) {
        const bool breaks = value.find_first_of(std::string_view("\r\n\0", 3)) != value.npos;
        if (!value.empty() && !breaks) to.headers.emplace_back(name, value);
    };
    add(broker_header::endpoint, from.endpoint);
    add(broker_header::type, to_string(from.type));
    add(broker_header::source, from.source);
    add(broker_header::tenant, from.tenant);
    add(broker_header::order_key, from.order_key);
    add(broker_header::correlation_id, from.correlation_id);
    if (from.parent_id) add(broker_header::parent_id, from.parent_id->to_string());
    if (from.causation_id) add(broker_header::causation_id, from.causation_id->to_string());
    if (from.created_at != wall_time{}) add(broker_header::created_at, to_iso8601(from.created_at));
    if (from.expires_at != wall_time{}) add(broker_header::expires_at, to_iso8601(from.expires_at));
    add_own_headers(from, to);
    return to;
}

std::size_t bytes_of(const broker_message& one) {
    auto bytes = one.id.size() + one.address.size() + one.body.size() + one.content_type.size() +
                 one.correlation_id.size();
    for (const auto& [name, value] : one.headers) bytes += name.size() + value.size();
    return bytes;
}

}  // namespace posthorn
