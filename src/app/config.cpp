#include "app/config.hpp"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "app/config_type.hpp"
#include "app/nearest.hpp"

namespace posthorn {
namespace {

struct key_row {
    std::string_view key;
    std::string_view type;
    std::string_view wanted;
    std::string_view doc;
    bool (*set)(config&, const config_value&);
    std::string (*show)(const config&);
};

// `Member` gives the member of a config that a key sets; its type says how it is written.
template <auto Member>
consteval key_row row(std::string_view key, std::string_view doc) {
    using type = config_type<std::remove_cvref_t<decltype(Member(std::declval<config&>()))>>;
    return {
        .key = key,
        .type = type::name,
        .wanted = type::wanted,
        .doc = doc,
        .set =
            [](config& settings, const config_value& value) {
                auto read = type::read(value);
                if (!read) return false;
                Member(settings) = *std::move(read);
                return true;
            },
        .show = [](const config& settings) { return type::show(Member(settings)); },
    };
}

#define KEY(member, doc) row<[](auto& settings) -> auto& { return settings.member; }>(#member, doc)

// Every key there is, in the order in which people should see them.
constexpr std::array table{
    KEY(service.id, "the name under which other services know this one"),
    KEY(listen.http, "where other services reach this one"),
    KEY(listen.admin, "where operators and their tools do; keep it on loopback"),
    KEY(log.level, "the least important lines to write"),
    KEY(log.format, "for people or for programs"),
};

#undef KEY

constexpr auto keys = [] {
    std::array<std::string_view, table.size()> names{};
    std::ranges::transform(table, names.begin(), &key_row::key);
    return names;
}();

std::string quoted(const config_value& value) {
    struct {
        std::string operator()(const std::string& text) const {
            return fmt::format("\"{}\"", text);
        }
        std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
        std::string operator()(double number) const { return fmt::format("{}", number); }
        std::string operator()(bool truth) const { return truth ? "true" : "false"; }
        std::string operator()(const config_other& other) const { return other.kind; }
    } const as_written;
    return std::visit(as_written, value);
}

std::string_view section_of(std::string_view key) { return key.substr(0, key.find('.')); }
std::string_view name_in_section(std::string_view key) { return key.substr(key.find('.') + 1); }

std::vector<std::string_view> sections() {
    std::vector<std::string_view> names;
    for (const std::string_view key : keys)
        if (std::ranges::find(names, section_of(key)) == names.end())
            names.push_back(section_of(key));
    return names;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> names) {
    if (const auto near = nearest(word, names)) return fmt::format("did you mean '{}'?", *near);
    return fmt::format("write one of: {}", fmt::join(names, ", "));
}

std::unexpected<error> unknown_key(std::string_view key, std::string_view origin) {
    // Compared without the section, which is right and would make everything look near.
    std::vector<std::string_view> siblings;
    for (const std::string_view each : keys)
        if (section_of(each) == section_of(key)) siblings.push_back(name_in_section(each));
    return fail(error_code::invalid_configuration, "{}: unknown key '{}' in [{}]; {}", origin,
                name_in_section(key), section_of(key), suggestion(name_in_section(key), siblings));
}

}  // namespace

std::span<const std::string_view> config_keys() { return keys; }

std::vector<config_entry> list_config(const config& settings) {
    std::vector<config_entry> entries;
    for (const key_row& each : table) {
        const auto origin = settings.origins.find(each.key);
        entries.push_back({each.key, each.type, each.doc, each.show(settings),
                           origin == settings.origins.end() ? "default" : origin->second});
    }
    return entries;
}

result<> set_config(config& settings, std::string_view key, const config_value& value,
                    std::string_view origin) {
    const auto found = std::ranges::find(table, key, &key_row::key);
    if (found == table.end()) return unknown_key(key, origin);
    if (!found->set(settings, value))
        return fail(error_code::invalid_configuration, "{}: {} cannot be {}; write {}", origin, key,
                    quoted(value), found->wanted);
    settings.origins.insert_or_assign(std::string(key), std::string(origin));
    return {};
}

bool is_config_section(std::string_view section) {
    const auto names = sections();
    return std::ranges::find(names, section) != names.end();
}

error unknown_section(std::string_view section, std::string_view origin) {
    const auto names = sections();
    return error(
        error_code::invalid_configuration,
        fmt::format("{}: unknown section [{}]; {}", origin, section, suggestion(section, names)));
}

}  // namespace posthorn
