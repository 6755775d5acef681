#include "transport/http/wire_headers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

namespace posthorn {
namespace {

struct signature_field {
    std::string_view name;
    std::string signature_headers::* value;
};

constexpr std::array signature_fields{
    signature_field{"rf-scheme", &signature_headers::scheme},
    signature_field{"rf-key", &signature_headers::key},
    signature_field{"rf-source", &signature_headers::source},
    signature_field{"rf-destination", &signature_headers::destination},
    signature_field{"rf-timestamp", &signature_headers::timestamp},
    signature_field{"rf-hmac", &signature_headers::hmac},
};

// A century; what lies beyond says no more, and must not overflow.
constexpr std::uint64_t seconds_max = std::uint64_t{100} * 365 * 24 * 3600;

}  // namespace

std::string read_header(const http_headers& headers, std::string_view name) {
    return std::string(headers.find(name).value_or(""));
}

signature_headers read_signature(const http_headers& headers) {
    signature_headers signature;
    for (const auto& each : signature_fields)
        signature.*each.value = read_header(headers, each.name);
    return signature;
}

std::string find_repeated(const http_headers& headers) {
    std::vector<std::string> seen;
    for (const auto& [written, value] : headers) {
        std::string name(written);
        for (char& each : name)
            if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
        if (!name.starts_with("rf-") && name != "content-type" && name != "x-workflow-signature")
            continue;
        if (std::ranges::find(seen, name) != seen.end()) return name;
        seen.push_back(std::move(name));
    }
    return {};
}

void write_signature(http_headers& headers, const signature_headers& signature) {
    for (const auto& each : signature_fields)
        if (const auto& value = signature.*each.value; !value.empty())
            headers.add(std::string(each.name), value);
}

http_headers write_request_headers(wire_request& request) {
    http_headers headers;
    headers.add("content-type", std::move(request.content_type));
    write_signature(headers, request.signature);
    if (!request.workflow_signature.empty())
        headers.add("X-Workflow-Signature", std::move(request.workflow_signature));
    if (!request.traceparent.empty()) headers.add("traceparent", std::move(request.traceparent));
    return headers;
}

wire_reply read_reply(std::uint16_t status, const http_headers& headers, std::string body) {
    wire_reply reply;
    reply.status = status;
    reply.content_type = read_header(headers, "content-type");
    reply.signature = read_signature(headers);
    if (const auto text = headers.find("retry-after")) reply.retry_after = parse_retry_after(*text);
    reply.body = std::move(body);
    return reply;
}

std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text) {
    std::uint64_t seconds = 0;
    const auto [stop, failure] = std::from_chars(text.begin(), text.end(), seconds);
    if (text.empty() || stop != text.end() || failure == std::errc::invalid_argument)
        return std::nullopt;
    if (failure != std::errc{}) seconds = seconds_max;
    return std::chrono::seconds(std::min(seconds, seconds_max));
}

std::string format_retry_after(std::chrono::milliseconds time) {
    return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count());
}

}  // namespace posthorn
