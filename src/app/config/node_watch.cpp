#include "app/config/node_watch.hpp"

#include <algorithm>

#include "app/config/private_text.hpp"

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

result<std::string> fetch_key(const config& settings, const secret_setting& key) {
    POSTHORN_LET(found, read_private(settings, key, "the node's admin key"));
    return key_in(found.text, found.place);
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
