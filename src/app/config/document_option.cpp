#include "app/config/document_option.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "app/config/config_table.hpp"

namespace posthorn {
namespace {

std::string_view wanted_as(written_as how) {
    switch (how) {
        case written_as::number:
        case written_as::milliseconds:
        case written_as::days: return config_type<std::int64_t>::wanted;
        case written_as::truth: return config_type<bool>::wanted;
        case written_as::text: return config_type<std::string>::wanted;
        case written_as::span: break;
    }
    return R"(a time such as "00:00:05", or "5s")";
}

std::optional<std::int64_t> whole(std::string_view digits) {
    std::int64_t number = 0;
    const auto [rest, failure] = std::from_chars(digits.begin(), digits.end(), number);
    if (failure != std::errc{} || rest != digits.end() || number < 0) return std::nullopt;
    return number;
}

/// `hh:mm:ss`, as the document writes it.
std::optional<config_value> span_of(std::string_view text) {
    const auto first = text.find(':');
    const auto second = first == std::string_view::npos ? first : text.find(':', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    const auto hours = whole(text.substr(0, first));
    const auto minutes = whole(text.substr(first + 1, second - first - 1));
    const auto seconds = whole(text.substr(second + 1));
    constexpr std::int64_t hours_max = 24 * 366;
    if (!hours || !minutes || !seconds || *hours > hours_max || *minutes > 59 || *seconds > 59)
        return std::nullopt;
    return fmt::format("{}s", (*hours * 60 + *minutes) * 60 + *seconds);
}

/// The value as our key has it; empty if it is not of the option's type.
std::optional<config_value> as_key_has_it(written_as how, const config_value& value) {
    const auto number = config_type<std::int64_t>::read(value);
    switch (how) {
        case written_as::number: return number ? std::optional(value) : std::nullopt;
        case written_as::truth:
            return config_type<bool>::read(value) ? std::optional(value) : std::nullopt;
        case written_as::milliseconds:
        case written_as::days:
            if (!number || *number < 0) return std::nullopt;
            return fmt::format("{}{}", *number, how == written_as::days ? "d" : "ms");
        case written_as::text:
            return config_type<std::string>::read(value) ? std::optional(value) : std::nullopt;
        case written_as::span: break;
    }
    if (config_type<std::chrono::milliseconds>::read(value)) return value;
    const auto* const text = std::get_if<std::string>(&value);
    return text != nullptr ? span_of(*text) : std::nullopt;
}

}  // namespace

result<read_option> read_document_option(const document_section& of, std::string_view name,
                                         const config_value& value, std::string_view origin) {
    const auto found = std::ranges::find(of.options, name, &document_option::name);
    if (found == of.options.end()) {
        std::vector<std::string_view> names;
        for (const auto& each : of.options) names.push_back(each.name);
        return fail(error_code::invalid_configuration, "{}: unknown key '{}' in [{}]; {}", origin,
                    name, of.name, suggestion(name, names));
    }
    auto ours = as_key_has_it(found->how, value);
    if (!ours)
        return wrong_value(origin, fmt::format("{}.{}", of.name, name), value,
                           wanted_as(found->how));
    return read_option{&*found, *std::move(ours)};
}

result<> set_document_option(config& settings, const read_option& said, std::string_view origin) {
    for (const auto key : {said.what->key, said.what->also})
        if (!key.empty()) POSTHORN_TRY(set_config(settings, key, said.value, origin));
    return {};
}

}  // namespace posthorn
