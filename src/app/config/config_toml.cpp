#include <fstream>

#include <toml++/toml.h>

#include "app/config/config_problems.hpp"
#include "app/config/config_type.hpp"

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
    if (root.contains("StoreAndForward")) return defaults_name::store_and_forward;
    return std::nullopt;
}

/// Carries a parsed file over into a config and collects what does not fit.
class reader {
public:
    reader(config& settings, std::string_view name, config_problems& found)
        : settings_(settings), make_(name), found_(found) {}

    void read(const toml::table& root) {
        for (const auto& [key, node] : root) read_section(key.str(), node);
    }

private:
    void read_section(std::string_view section, const toml::node& node) {
        const auto line = node.source().begin.line;
        const auto* table = node.as_table();
        if (!table)
            found_.add(make_.origin(line),
                       fmt::format("'{}' stands outside a section; write it below one such as "
                                   "[service]",
                                   section));
        else if (!is_config_section(section))
            found_.add(unknown_section(section, make_.origin(line)));
        else
            for (const auto& [key, value] : *table) read_key(section, key, value);
    }

    void read_key(std::string_view section, const toml::key& key, const toml::node& node) {
        const auto line = key.source().begin.line;
        const auto set = set_config(settings_, fmt::format("{}.{}", section, key.str()),
                                    make_.value_of(node), make_.origin(line));
        if (!set) found_.add(set.error());
    }

    config& settings_;
    value_maker make_;
    config_problems& found_;
};

config read_config(std::string_view text, std::string_view name, config_problems& found) {
    config settings;
    reader fill(settings, name, found);
    try {
        const auto root = toml::parse(text, name);
        if (const auto set = named_defaults(root)) apply_defaults(settings, *set);
        fill.read(root);
    } catch (const toml::parse_error& failure) {
        found.add(fmt::format("{}:{}", name, failure.source().begin.line),
                  fmt::format("this is not TOML: {}; see https://toml.io for how it is written",
                              failure.description()));
        return settings;
    }
    check_config(settings, found);
    return settings;
}

}  // namespace

result<config> parse_config(std::string_view text, std::string_view name) {
    config_problems found;
    auto settings = read_config(text, name, found);
    POSTHORN_TRY(found.outcome());
    return settings;
}

config read_config_file(const std::filesystem::path& file, config_problems& found) {
    std::error_code ignored;
    std::ifstream stream(file, std::ios::binary);
    // A folder opens like a file and then reads as an empty one.
    if (!stream || std::filesystem::is_directory(file, ignored)) {
        found.add(file.string(),
                  "there is no such file or it cannot be read; check the path given with --config, "
                  "or leave it out to run with the defaults");
        return {};
    }
    constexpr std::size_t size_max = std::size_t{4} * 1024 * 1024;
    std::string text(size_max + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (text.size() > size_max) {
        found.add(file.string(), "it has more than 4 MiB, so it cannot be a configuration");
        return {};
    }
    auto settings = read_config(text, file.string(), found);
    settings.file = file;
    settings.folder = file.parent_path();
    return settings;
}

result<config> load_config(const std::filesystem::path& file) {
    config_problems found;
    auto settings = read_config_file(file, found);
    POSTHORN_TRY(found.outcome());
    return settings;
}

}  // namespace posthorn
