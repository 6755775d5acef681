#include "app/config/config.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "app/config/config_table.hpp"
#include "app/config/nearest.hpp"
#include "base/text/comma_list.hpp"
#include "base/text/hide_secrets.hpp"
#include "base/text/without_password.hpp"

namespace posthorn {
namespace {

const std::vector<std::string_view>& keys() {
    static const auto names = [] {
        std::vector<std::string_view> all;
        for (const auto& row : key_table()) all.push_back(row.key);
        return all;
    }();
    return names;
}

std::string_view section_of(std::string_view key) { return key.substr(0, key.find('.')); }
std::string_view name_in_section(std::string_view key) { return key.substr(key.find('.') + 1); }

std::vector<std::string_view> sections() {
    std::vector<std::string_view> names;
    for (const std::string_view key : keys())
        if (std::ranges::find(names, section_of(key)) == names.end())
            names.push_back(section_of(key));
    for (const auto& open : open_sections()) names.push_back(open.section);
    return names;
}

std::unexpected<error> unknown_key(std::string_view key, std::string_view origin) {
    // Compared without the section, which is right and would make everything look near.
    std::vector<std::string_view> siblings;
    for (const std::string_view each : keys())
        if (section_of(each) == section_of(key)) siblings.push_back(name_in_section(each));
    return fail(error_code::invalid_configuration, "{}: unknown key '{}' in [{}]; {}", origin,
                name_in_section(key), section_of(key), suggestion(name_in_section(key), siblings));
}

result<> set_known(config& settings, std::string_view key, const config_value& value,
                   std::string_view origin) {
    const auto open = std::ranges::find(open_sections(), section_of(key), &open_section::section);
    if (open != open_sections().end())
        return open->set(settings, name_in_section(key), value, origin);
    const auto row = std::ranges::find(key_table(), key, &key_row::key);
    if (row == key_table().end()) return unknown_key(key, origin);
    return row->set(*row, settings, value, origin);
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
    return text;
}

}  // namespace

std::string show_value(const config_value& value) {
    struct {
        std::string operator()(const std::string& text) const {
            return fmt::format("\"{}\"", without_password(text));
        }
        std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
        std::string operator()(double number) const { return fmt::format("{}", number); }
        std::string operator()(bool truth) const { return truth ? "true" : "false"; }
        std::string operator()(const config_list&) const { return "an array"; }
        std::string operator()(const config_fields&) const { return "a table"; }
        std::string operator()(const config_other& other) const { return other.kind; }
    } const as_written;
    return std::visit(as_written, value);
}

std::unexpected<error> wrong_value(std::string_view origin, std::string_view key,
                                   const config_value& value, std::string_view wanted) {
    return fail(error_code::invalid_configuration, "{}: {} cannot be {}; write {}", origin, key,
                show_value(value), wanted);
}

std::unexpected<error> wrong_shape(std::string_view origin, std::string_view key,
                                   const config_value& value, std::string_view wanted) {
    const auto shown =
        std::holds_alternative<std::string>(value) ? std::string("a text") : show_value(value);
    return fail(error_code::invalid_configuration, "{}: {} cannot be {}; write {}", origin, key,
                shown, wanted);
}

std::unexpected<error> wrong_value(std::string_view origin, std::string_view text) {
    return fail(error_code::invalid_configuration, "{}: {}", origin, text);
}

result<> read_time(const config_item& item, std::optional<wall_time>& into) {
    const auto* const text = std::get_if<std::string>(&item.value);
    if (text) into = parse_iso8601(*text);
    if (into) return {};
    return wrong_value(
        item.origin,
        fmt::format("{} is not a time; write one such as \"2026-03-01T00:00:00Z\"", item.name));
}

std::string suggestion(std::string_view word, std::span<const std::string_view> names) {
    if (const auto near = nearest(word, names)) return fmt::format("did you mean '{}'?", *near);
    return fmt::format("write one of: {}", fmt::join(names, ", "));
}

const config_item* field_reader::find(std::string_view name) const {
    const auto found = std::ranges::find(fields_.items, name, &config_item::name);
    return found == fields_.items.end() ? nullptr : &*found;
}

result<> field_reader::finish() const {
    POSTHORN_TRY(outcome_);
    for (const auto& item : fields_.items)
        if (std::ranges::find(names_, item.name) == names_.end())
            return fail(error_code::invalid_configuration, "{}: unknown key '{}' in {}; {}",
                        item.origin, item.name, key_, suggestion(item.name, names_));
    return {};
}

std::string config::path_of(const std::filesystem::path& written) const {
    return written.empty() ? std::string{} : (folder / written).string();
}

std::string config::path_of(const database_url& url) const {
    if (url.on_server) return replaced(url.path, "{service}", service.id);
    return path_of(std::filesystem::path(replaced(url.path, "{service}", service.id)));
}

std::string config::shown_database() const {
    if (store.url.in_memory) return "a database in memory";
    const auto path = path_of(store.url);
    if (store.url.on_server)
        return fmt::format("{} (schema {})", without_password(path), store.schema);
    std::error_code unusable;
    const auto absolute = std::filesystem::absolute(path, unusable);
    return unusable ? path : absolute.lexically_normal().string();
}

std::vector<std::string> config::service_urls() const { return split_at_commas(service.urls); }

std::string config::pipe_name() const { return replaced(listen.pipe, "{service}", service.id); }

signature_scheme config::scheme_of(std::string_view peer) const {
    if (const auto route = routes.find(peer); route != routes.end() && route->second.signature)
        return *route->second.signature;
    const auto said = signatures.find(peer);
    return said == signatures.end() ? signature_scheme::v2 : said->second.scheme;
}

std::string config::origin_of(std::string_view key) const {
    const auto found = origins.find(key);
    return found == origins.end() ? "default" : found->second;
}

error config::at_key(std::string_view key, const error& why) const {
    const auto found = origins.find(key);
    const auto where = found == origins.end() ? std::string{} : found->second + ": ";
    return error(why.code(), hide_secrets(fmt::format("{}{}: {}", where, key, why.what())));
}

std::span<const std::string_view> config_keys() { return keys(); }

std::vector<config_entry> list_config(const config& settings) {
    std::vector<config_entry> entries;
    for (const key_row& each : key_table())
        entries.push_back({std::string(each.key), each.type, each.doc,
                           hide_secrets(each.show(each, settings)), settings.origin_of(each.key),
                           note_on(settings, each.key)});
    for (const auto& open : open_sections())
        for (auto& [name, value] : open.show(settings)) {
            auto key = hide_secrets(fmt::format("{}.{}", open.section, name));
            auto origin = settings.origin_of(key);
            entries.push_back(
                {std::move(key), open.type, open.doc, hide_secrets(value), std::move(origin), {}});
        }
    return entries;
}

result<> set_config(config& settings, std::string_view key, const config_value& value,
                    std::string_view origin) {
    POSTHORN_TRY(set_known(settings, key, value, origin));
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
