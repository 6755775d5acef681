#include "app/config/node_watch.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <sys/stat.h>

#include "base/text/hide_secrets.hpp"

namespace posthorn {
namespace {

std::string_view without_space(std::string_view text) {
    constexpr std::string_view space = " \t\r\n";
    const auto first = text.find_first_not_of(space);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(space) - first + 1);
}

/// A header carries it, so it can be neither empty nor hold anything but visible ASCII.
result<std::string> key_in(std::string_view text, std::string_view place) {
    const auto key = without_space(text);
    const bool is_visible =
        std::ranges::all_of(key, [](char each) { return each > ' ' && each <= '~'; });
    if (key.empty() || !is_visible)
        return fail(error_code::secret_unavailable,
                    "{} holds no admin key; put the phk_… there that `posthorn keys admin new` "
                    "printed for the other node",
                    place);
    return std::string(key);
}

result<std::string> key_from_environment(const std::string& name) {
    const auto shown = fmt::format("the environment variable {}", shown_variable(name));
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr)
        return fail(error_code::secret_unavailable,
                    "{} is not set; set it to the node's admin key where this node is started",
                    shown);
    return key_in(value, shown);
}

result<std::string> key_from_file(const std::string& path) {
    struct stat about{};
    std::ifstream stream(path, std::ios::binary);
    if (!stream || ::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode))
        return fail(error_code::secret_unavailable,
                    "{} cannot be read; check the path and who may read it", path);
    if ((about.st_mode & 077U) != 0)
        return fail(error_code::secret_unavailable,
                    "{} can be read or written by others than its owner; run chmod 600 {}", path,
                    path);
    std::ostringstream text;
    text << stream.rdbuf();
    return key_in(text.view(), path);
}

result<std::string> fetch_key(const config& settings, const secret_setting& key) {
    if (key.where == secret_setting::kind::environment) return key_from_environment(key.name);
    return key_from_file(settings.path_of(std::filesystem::path(key.name)));
}

}  // namespace

node_watch node_watch_of(const config& settings) {
    node_watch watch{.every = settings.desk.nodes_every, .timeout = settings.desk.nodes_timeout};
    for (const auto& each : settings.desk.nodes)
        watch.nodes.push_back({.name = each.name, .url = each.url});
    return watch;
}

node_watch load_node_watch(const config& settings, config_problems& found) {
    auto watch = node_watch_of(settings);
    for (std::size_t i = 0; i < watch.nodes.size(); ++i) {
        const auto& setting = settings.desk.nodes[i];
        if (!setting.key) continue;
        auto key = fetch_key(settings, *setting.key);
        if (key)
            watch.nodes[i].key = *std::move(key);
        else
            found.add(error(error_code::secret_unavailable,
                            fmt::format("{}: the key of '{}' in desk.nodes: {}", setting.origin,
                                        setting.name, key.error().what())));
    }
    return watch;
}

result<node_watch> load_node_watch(const config& settings) {
    config_problems found;
    auto watch = load_node_watch(settings, found);
    POSTHORN_TRY(found.outcome());
    return watch;
}

}  // namespace posthorn
