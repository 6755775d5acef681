#include "inbox/configured/message_values.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include <posthorn/error.hpp>
#include <posthorn/json/reader.hpp>

namespace posthorn {
namespace {

constexpr std::array<std::string_view, 8> of_message{
    "_message_id",     "_source",  "_endpoint", "_message_type",
    "_correlation_id", "_payload", "_headers",  "_received_at"};
constexpr std::array<std::string_view, 4> of_dead_letter{"_destination", "_error", "_attempts",
                                                         "_may_have_taken_effect"};

}  // namespace

std::span<const std::string_view> names_of_message() noexcept { return of_message; }
std::span<const std::string_view> names_of_dead_letter() noexcept { return of_dead_letter; }

message_values::message_values(const message& of, wall_time received_at)
    : message_values(of, gaps::refused, received_at) {}

message_values::message_values(const dead_letter& of, wall_time now)
    : message_values(of.body, gaps::null, now) {
    add_text("_destination", of.body.destination);
    add_text("_error", of.error);
    fields_.insert_or_assign("_attempts", field{std::int64_t{of.attempts}});
    fields_.insert_or_assign("_may_have_taken_effect",
                             field{std::int64_t{of.may_have_taken_effect ? 1 : 0}});
}

message_values::message_values(const message& of, gaps missing, wall_time received_at)
    : of_(of), missing_(missing) {
    if (of.content_type != "application/json")
        why_no_fields_ = fmt::format(", since its payload is {}", of.content_type);
    else
        add_payload(of.payload);
    // After the payload, whose fields do not take their place.
    add_text("_message_id", keep(of.id.to_string()));
    add_text("_source", of.source);
    add_text("_endpoint", of.endpoint);
    add_text("_message_type", to_string(of.type));
    add_text("_correlation_id", of.correlation_id);
    add_text("_payload", of.payload);
    add_text("_headers", of.headers);
    fields_.insert_or_assign("_received_at", field{received_at.time_since_epoch().count()});
}

// What is not there is NULL; a payload is there even if it is empty.
void message_values::add_text(std::string_view name, std::string_view text) {
    const bool is_missing = text.empty() && name != "_payload";
    fields_.insert_or_assign(std::string(name), field{is_missing ? sql_param(nullptr) : text});
}

void message_values::add_payload(std::string_view payload) {
    const auto start = payload.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos || payload[start] != '{') {
        why_no_fields_ = ", since its payload is not a JSON object";
        return;
    }
    try {
        json_reader::read(payload, [&](json_reader& document) {
            document.members([&](std::string_view name, json_reader& value) {
                fields_.try_emplace(std::string(name), read(value.raw()));
            });
        });
    } catch (const error& why) {
        if (missing_ == gaps::null) return fields_.clear();
        throw permanent(fmt::format("the payload cannot be read: {}", why.what()));
    }
}

message_values::field message_values::read(std::string_view raw) {
    switch (raw.front()) {
        case 'n': return {};
        case 't': return {std::int64_t{1}};
        case 'f': return {std::int64_t{0}};
        case '{':
        case '[': return {keep(std::string(raw))};
        case '"': {
            std::string text;
            json_reader::read(raw, [&](json_reader& value) { text = value.string(); });
            return {keep(std::move(text))};
        }
        default: break;
    }
    const auto* const end = raw.end();
    std::int64_t whole = 0;
    if (const auto [rest, failure] = std::from_chars(raw.begin(), end, whole); rest == end)
        return failure == std::errc{} ? field{whole} : field{nullptr, false};
    double real = 0;
    const auto [rest, failure] = std::from_chars(raw.begin(), end, real);
    return failure == std::errc{} && rest == end ? field{real} : field{nullptr, false};
}

std::string_view message_values::keep(std::string text) {
    return *kept_.emplace_back(std::make_unique<std::string>(std::move(text)));
}

std::vector<sql_param> message_values::bind(const sql_statement& to) const {
    std::vector<sql_param> values;
    for (const auto& name : to.parameters) {
        const auto found = fields_.find(name);
        const bool has_value = found != fields_.end() && found->second.fits;
        if (!has_value && missing_ == gaps::null) {
            values.emplace_back(nullptr);
            continue;
        }
        if (found == fields_.end())
            throw permanent(fmt::format("{} has no field '{}' for the parameter :{} of its SQL{}",
                                        of_.endpoint, name, name, why_no_fields_));
        if (!found->second.fits)
            throw permanent(
                fmt::format("the number in field '{}' of {} is too large for the "
                            "database; send it as text",
                            name, of_.endpoint));
        values.push_back(found->second.value);
    }
    return values;
}

}  // namespace posthorn
