#include "app/config/config_type.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/text/without_password.hpp"

namespace posthorn {
namespace {

constexpr std::array<std::string_view, 5> level_names{"trace", "debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 2> format_names{"text", "json"};
constexpr std::array<std::string_view, 2> synchronous_names{"full", "normal"};
constexpr std::array<std::string_view, 3> vacuum_names{"incremental", "weekly", "never"};
constexpr std::array<std::string_view, 1> algorithm_names{"HMAC-SHA256"};
constexpr std::array<std::string_view, 2> order_names{"park", "pass"};
constexpr std::array<std::string_view, 3> parts_names{"both", "inbox", "outbox"};
constexpr std::array<std::string_view, 2> retry_names{"exponential", "fixed"};
constexpr std::array<std::string_view, 5> defaults_names{
    "messaging", "webhooks", "store-and-forward", "integration-events", "workflow"};

// The names stand in the order of the enumeration.
template <class Enum, std::size_t Size>
std::optional<Enum> read_name(const config_value& value,
                              const std::array<std::string_view, Size>& names) {
    const auto* text = std::get_if<std::string>(&value);
    if (!text) return std::nullopt;
    const auto found = std::ranges::find(names, *text);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
}

struct scale {
    std::string_view unit;
    std::int64_t factor;
};

// The smallest first.
constexpr std::array time_units{scale{"ms", 1}, scale{"s", 1'000}, scale{"m", 60'000},
                                scale{"h", 3'600'000}, scale{"d", 86'400'000}};
constexpr std::array size_units{scale{"B", 1}, scale{"KiB", 1 << 10}, scale{"MiB", 1 << 20},
                                scale{"GiB", 1 << 30}};
constexpr std::int64_t size_max = std::int64_t{1} << 53;  // 8 PiB.
// A hundred years: what is added to the time of now, in nanoseconds, must not overflow.
constexpr std::int64_t time_max = std::int64_t{36'500} * 86'400'000;

/// `10s`: digits, then a unit, nothing else.
std::optional<std::int64_t> read_scaled(std::string_view text, std::span<const scale> units,
                                        std::int64_t max) {
    std::int64_t number = 0;
    const auto* const end = text.end();
    const auto [rest, failure] = std::from_chars(text.begin(), end, number);
    if (failure != std::errc{} || number < 0) return std::nullopt;
    const auto found = std::ranges::find(units, std::string_view(rest, end), &scale::unit);
    if (found == units.end() || number > max / found->factor) return std::nullopt;
    return number * found->factor;
}

/// In the largest unit that leaves a whole number.
std::string show_scaled(std::int64_t number, std::span<const scale> units) {
    const scale* best = &units.front();
    for (const scale& each : units)
        if (number != 0 && number % each.factor == 0) best = &each;
    return fmt::format("{}{}", number / best->factor, best->unit);
}

const std::string* text_of(const config_value& value) { return std::get_if<std::string>(&value); }

/// A field of a table as text; a table of texts as a JSON object.
std::optional<std::string> plain_text(const config_value& value) {
    if (const auto* const text = std::get_if<std::string>(&value)) return *text;
    if (const auto* const number = std::get_if<std::int64_t>(&value))
        return std::to_string(*number);
    if (const auto* const truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
    const auto* const fields = std::get_if<config_fields>(&value);
    if (fields == nullptr) return std::nullopt;
    boost::json::object made;
    for (const auto& field : fields->items) {
        const auto* const text = std::get_if<std::string>(&field.value);
        if (text == nullptr) return std::nullopt;
        made[field.name] = *text;
    }
    return boost::json::serialize(made);
}

}  // namespace

std::optional<std::string> config_type<std::string>::read(const config_value& value) {
    const auto* text = text_of(value);
    if (!text || text->empty()) return std::nullopt;
    return *text;
}

std::optional<sql_setting> config_type<sql_setting>::read(const config_value& value) {
    constexpr std::string_view prefix = "sql:";
    const auto* text = text_of(value);
    if (!text) return std::nullopt;
    if (text->empty()) return sql_setting{};
    if (!text->starts_with(prefix) || text->size() == prefix.size()) return std::nullopt;
    return sql_setting{text->substr(prefix.size())};
}

std::optional<bool> config_type<bool>::read(const config_value& value) {
    const auto* truth = std::get_if<bool>(&value);
    return truth ? std::optional(*truth) : std::nullopt;
}

std::optional<std::int64_t> config_type<std::int64_t>::read(const config_value& value) {
    const auto* number = std::get_if<std::int64_t>(&value);
    return number ? std::optional(*number) : std::nullopt;
}

std::optional<double> config_type<double>::read(const config_value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    const auto* number = std::get_if<double>(&value);
    return number ? std::optional(*number) : std::nullopt;
}
std::string config_type<double>::show(double value) { return fmt::format("{}", value); }

std::optional<std::chrono::milliseconds> config_type<std::chrono::milliseconds>::read(
    const config_value& value) {
    const auto* text = text_of(value);
    if (!text) return std::nullopt;
    const auto number = read_scaled(*text, time_units, time_max);
    return number ? std::optional(std::chrono::milliseconds(*number)) : std::nullopt;
}
std::string config_type<std::chrono::milliseconds>::show(std::chrono::milliseconds value) {
    return show_scaled(value.count(), time_units);
}

std::optional<std::optional<std::chrono::milliseconds>>
config_type<std::optional<std::chrono::milliseconds>>::read(const config_value& value) {
    using kept = std::optional<std::chrono::milliseconds>;
    if (const auto* text = text_of(value); text && *text == "never") return kept{};
    const auto time = config_type<std::chrono::milliseconds>::read(value);
    return time ? std::optional<kept>(*time) : std::nullopt;
}

std::optional<feature_tables> config_type<feature_tables>::read(const config_value& value) {
    const auto* const list = std::get_if<config_list>(&value);
    if (list == nullptr) return std::nullopt;
    feature_tables made;
    for (const auto& item : list->items) {
        const auto* const fields = std::get_if<config_fields>(&item.value);
        if (fields == nullptr) return std::nullopt;
        auto& one = made.items.emplace_back();
        for (const auto& field : fields->items) {
            auto text = plain_text(field.value);
            if (!text) return std::nullopt;
            one.insert_or_assign(field.name, *std::move(text));
        }
    }
    return made;
}
std::string config_type<feature_tables>::show(const feature_tables& value) {
    if (value.items.empty()) return "[]";
    return fmt::format("{} of them", value.items.size());
}

std::optional<vacuum_mode> config_type<vacuum_mode>::read(const config_value& value) {
    return read_name<vacuum_mode>(value, vacuum_names);
}
std::string config_type<vacuum_mode>::show(vacuum_mode value) {
    return std::string(vacuum_names[static_cast<std::size_t>(value)]);
}

std::optional<byte_size> config_type<byte_size>::read(const config_value& value) {
    std::optional<std::int64_t> number;
    if (const auto* bytes = std::get_if<std::int64_t>(&value);
        bytes && *bytes >= 0 && *bytes <= size_max)
        number = *bytes;
    if (const auto* text = text_of(value)) number = read_scaled(*text, size_units, size_max);
    if (!number) return std::nullopt;
    return byte_size{static_cast<std::size_t>(*number)};
}
std::string config_type<byte_size>::show(byte_size value) {
    return show_scaled(static_cast<std::int64_t>(value.bytes), size_units);
}

std::optional<std::filesystem::path> config_type<std::filesystem::path>::read(
    const config_value& value) {
    const auto* text = text_of(value);
    return text ? std::optional<std::filesystem::path>(*text) : std::nullopt;
}

bool is_server_url(std::string_view text) noexcept {
    return text.starts_with("postgresql://") || text.starts_with("postgres://");
}

result<> require_path(std::string_view text) {
    if (!text.contains("://")) return {};
    return fail(error_code::invalid_argument,
                "'{}' is no database; write a path, or postgresql://USER@HOST/DATABASE",
                without_password(text));
}

std::string config_type<database_url>::show(const database_url& value) {
    if (value.in_memory) return "memory:";
    if (!value.on_server) return "sqlite:" + value.path;
    return without_password(value.path);
}

std::optional<database_url> config_type<database_url>::read(const config_value& value) {
    constexpr std::string_view scheme = "sqlite:";
    const auto* text = text_of(value);
    if (text && *text == "memory:") return database_url{.path = {}, .in_memory = true};
    if (text && is_server_url(*text)) return database_url{.path = *text, .on_server = true};
    if (!text || !text->starts_with(scheme) || text->size() == scheme.size()) return std::nullopt;
    return database_url{text->substr(scheme.size())};
}

std::optional<std::optional<database_url>> config_type<std::optional<database_url>>::read(
    const config_value& value) {
    if (const auto* text = text_of(value); text && text->empty())
        return std::optional<database_url>{};
    auto url = config_type<database_url>::read(value);
    if (!url) return std::nullopt;
    return url;
}

std::optional<std::optional<host_port>> config_type<std::optional<host_port>>::read(
    const config_value& value) {
    const auto* text = text_of(value);
    if (!text) return std::nullopt;
    if (text->empty()) return std::optional<host_port>{};
    auto parsed = parse_host_port(*text);
    if (!parsed) return std::nullopt;
    return std::optional(*std::move(parsed));
}

std::optional<defaults_name> config_type<defaults_name>::read(const config_value& value) {
    return read_name<defaults_name>(value, defaults_names);
}
std::string config_type<defaults_name>::show(defaults_name value) {
    return std::string(defaults_names.at(static_cast<std::size_t>(value)));
}

std::optional<order_policy> config_type<order_policy>::read(const config_value& value) {
    return read_name<order_policy>(value, order_names);
}
std::string config_type<order_policy>::show(order_policy value) {
    return std::string(to_string(value));
}

std::optional<node_parts> config_type<node_parts>::read(const config_value& value) {
    return read_name<node_parts>(value, parts_names);
}
std::string config_type<node_parts>::show(node_parts value) {
    return std::string(parts_names.at(static_cast<std::size_t>(value)));
}

std::optional<retry_kind> config_type<retry_kind>::read(const config_value& value) {
    return read_name<retry_kind>(value, retry_names);
}
std::string config_type<retry_kind>::show(retry_kind value) {
    return std::string(retry_names.at(static_cast<std::size_t>(value)));
}

std::optional<hmac_algorithm> config_type<hmac_algorithm>::read(const config_value& value) {
    return read_name<hmac_algorithm>(value, algorithm_names);
}
std::string config_type<hmac_algorithm>::show(hmac_algorithm value) {
    return std::string(algorithm_names.at(static_cast<std::size_t>(value)));
}

std::optional<sqlite::synchronous> config_type<sqlite::synchronous>::read(
    const config_value& value) {
    return read_name<sqlite::synchronous>(value, synchronous_names);
}
std::string config_type<sqlite::synchronous>::show(sqlite::synchronous value) {
    return std::string(synchronous_names.at(static_cast<std::size_t>(value)));
}

std::optional<log_level> config_type<log_level>::read(const config_value& value) {
    return read_name<log_level>(value, level_names);
}
std::string config_type<log_level>::show(log_level value) {
    return std::string(level_names.at(static_cast<std::size_t>(value)));
}

std::optional<log_format> config_type<log_format>::read(const config_value& value) {
    return read_name<log_format>(value, format_names);
}
std::string config_type<log_format>::show(log_format value) {
    return std::string(format_names.at(static_cast<std::size_t>(value)));
}

}  // namespace posthorn
