#include <fstream>
#include <map>
#include <sstream>

#include <toml++/toml.h>

#include "app/config/config.hpp"
#include "app/config/config_type.hpp"
#include "base/text/hide_secrets.hpp"

namespace posthorn {
namespace {

// No key takes more; what a line can nest would end the stack.
constexpr int depth_max = 16;

/// Makes values of a parsed file, each with its line.
class value_maker {
public:
    explicit value_maker(std::string_view name) : name_(name) {}

    [[nodiscard]] std::string origin(std::uint32_t line) const {
        return fmt::format("{}:{}", name_, line);
    }

    [[nodiscard]] config_value value_of(const toml::node& node, int depth = 0) const {
        if (depth > depth_max) return config_other{"nested so deep"};
        if (const auto* text = node.as_string()) return text->get();
        if (const auto* number = node.as_integer()) return number->get();
        if (const auto* number = node.as_floating_point()) return number->get();
        if (const auto* truth = node.as_boolean()) return truth->get();
        if (const auto* list = node.as_array()) return list_of(*list, depth);
        if (const auto* table = node.as_table()) return fields_of(*table, depth);
        return config_other{"a date or time"};
    }

private:
    [[nodiscard]] config_list list_of(const toml::array& array, int depth) const {
        config_list list;
        for (const auto& each : array)
            list.items.push_back({"", origin(each.source().begin.line), value_of(each, depth + 1)});
        return list;
    }

    [[nodiscard]] config_fields fields_of(const toml::table& table, int depth) const {
        config_fields fields;
        for (const auto& [key, each] : table)
            fields.items.push_back({std::string(key.str()), origin(key.source().begin.line),
                                    value_of(each, depth + 1)});
        return fields;
    }

    std::string_view name_;
};

/// The set of defaults that a file names, before any of its keys is read; the section of a document
/// names that document's. One that does not exist is found again, and complained about, where it
/// stands.
std::optional<defaults_name> named_defaults(const toml::table& root) {
    const auto written = root["service"]["defaults"].value<std::string>();
    if (written) return config_type<defaults_name>::read(*written);
    if (root.contains("InboxOutbox")) return defaults_name::integration_events;
    return std::nullopt;
}

/// Carries a parsed file over into a config and collects what does not fit.
class reader {
public:
    reader(config& settings, std::string_view name) : settings_(settings), make_(name) {}

    void read(const toml::table& root) {
        for (const auto& [key, node] : root) read_section(key.str(), node);
    }

    [[nodiscard]] result<> outcome() && {
        if (problems_.empty()) return {};
        std::string all;
        for (const auto& [line, text] : problems_) all += (all.empty() ? "" : "\n") + text;
        return std::unexpected(error(error_code::invalid_configuration, all));
    }

private:
    void read_section(std::string_view section, const toml::node& node) {
        const auto line = node.source().begin.line;
        const auto* table = node.as_table();
        if (!table)
            note(line, fmt::format("{}: '{}' stands outside a section; write it below one such as "
                                   "[service]",
                                   make_.origin(line), section));
        else if (!is_config_section(section))
            note(line, unknown_section(section, make_.origin(line)).what());
        else
            for (const auto& [key, value] : *table) read_key(section, key, value);
    }

    void read_key(std::string_view section, const toml::key& key, const toml::node& node) {
        const auto line = key.source().begin.line;
        const auto set = set_config(settings_, fmt::format("{}.{}", section, key.str()),
                                    make_.value_of(node), make_.origin(line));
        if (!set) note(line, set.error().what());
    }

    void note(std::uint32_t line, std::string text) { problems_.emplace(line, std::move(text)); }

    config& settings_;
    value_maker make_;
    std::multimap<std::uint32_t, std::string> problems_;  // By line.
};

// A mistake may well be a secret in the wrong place, and errors are logged and pasted.
template <class T>
result<T> without_secrets(result<T> outcome) {
    if (outcome) return outcome;
    const auto& why = outcome.error();
    return std::unexpected(error(why.code(), hide_secrets(why.what())));
}

result<config> read_config(std::string_view text, std::string_view name) {
    config settings;
    reader fill(settings, name);
    try {
        const auto root = toml::parse(text, name);
        if (const auto set = named_defaults(root)) apply_defaults(settings, *set);
        fill.read(root);
    } catch (const toml::parse_error& failure) {
        return fail(error_code::invalid_configuration,
                    "{}:{}: this is not TOML: {}; see https://toml.io for how it is written", name,
                    failure.source().begin.line, failure.description());
    }
    POSTHORN_TRY(std::move(fill).outcome());
    POSTHORN_TRY(check_config(settings));
    return settings;
}

}  // namespace

result<config> parse_config(std::string_view text, std::string_view name) {
    return without_secrets(read_config(text, name));
}

result<config> load_config(const std::filesystem::path& file) {
    std::error_code ignored;
    std::ifstream stream(file, std::ios::binary);
    // A folder opens like a file and then reads as an empty one.
    if (!stream || std::filesystem::is_directory(file, ignored))
        return fail(error_code::invalid_configuration,
                    "{}: there is no such file or it cannot be read; check the path given with "
                    "--config, or leave it out to run with the defaults",
                    file.string());
    std::ostringstream text;
    text << stream.rdbuf();
    auto loaded = parse_config(std::move(text).str(), file.string());
    if (loaded) loaded->folder = file.parent_path();
    return loaded;
}

}  // namespace posthorn
