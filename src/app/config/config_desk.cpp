#include <algorithm>

#include "app/config/config_table.hpp"
#include "base/text/hide_secrets.hpp"
#include "base/text/http_url.hpp"

namespace posthorn {
namespace {

/// Each is asked at the same time as the others.
constexpr std::size_t nodes_max = 64;
constexpr std::size_t name_max = 64;

/// It stands in addresses and in labels of metrics.
bool is_name(std::string_view text) {
    const auto fits = [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
               (each >= '0' && each <= '9') || each == '-' || each == '_' || each == '.';
    };
    return !text.empty() && text.size() <= name_max && std::ranges::all_of(text, fits) &&
           text != "." && text != "..";
}

/// Nothing here quotes the key: it may be written out where its place belongs.
result<> read_key_place(const config_item& item, std::string_view name, desk_node_setting& into) {
    const auto* const text = std::get_if<std::string>(&item.value);
    auto read = text ? read_secret_text(*text) : std::nullopt;
    if (!read || read->where == secret_setting::kind::written)
        return wrong_value(item.origin,
                           fmt::format("the key of '{}' in desk.nodes has to lie elsewhere; write "
                                       "key = \"env:NAME\" or key = \"file:PATH\"",
                                       name));
    into.key = *std::move(read);
    return {};
}

result<> check_node_url(const config_item& item, desk_node_setting& node) {
    const auto url = parse_http_url(node.url);
    if (!url || !url->query.empty())
        return wrong_value(item.origin,
                           fmt::format("the url of '{}' in desk.nodes cannot be \"{}\"; write its "
                                       "admin address, such as \"http://10.0.0.2:7401\"",
                                       node.name, hide_secrets(node.url)));
    while (node.url.ends_with('/')) node.url.pop_back();
    return {};
}

result<desk_node_setting> read_node(const config_item& item, const key_row& self) {
    const auto* const fields = std::get_if<config_fields>(&item.value);
    if (!fields) return wrong_shape(item.origin, self.key, item.value, self.wanted);
    desk_node_setting node{.origin = item.origin};
    field_reader reader(self.key, *fields);
    reader.take("name", node.name);
    reader.take("url", node.url);
    reader.take_with("key",
                     [&](const config_item& key) { return read_key_place(key, node.name, node); });
    POSTHORN_TRY(reader.finish());
    if (!is_name(node.name))
        return wrong_value(item.origin, "desk.nodes name", node.name,
                           "1 to 64 letters, digits, '-', '_' and '.'");
    POSTHORN_TRY(check_node_url(item, node));
    return node;
}

}  // namespace

result<> set_desk_nodes(const key_row& self, config& settings, const config_value& value,
                        std::string_view origin) {
    const auto* const list = std::get_if<config_list>(&value);
    if (!list) return wrong_shape(origin, self.key, value, self.wanted);
    if (list->items.size() > nodes_max)
        return wrong_value(origin, fmt::format("desk.nodes has {} nodes; {} is the most",
                                               list->items.size(), nodes_max));
    std::vector<desk_node_setting> nodes;
    for (const auto& item : list->items) {
        POSTHORN_LET(node, read_node(item, self));
        if (std::ranges::find(nodes, node.name, &desk_node_setting::name) != nodes.end())
            return wrong_value(item.origin, fmt::format("two nodes of desk.nodes are called '{}'; "
                                                        "give each a name of its own",
                                                        node.name));
        nodes.push_back(std::move(node));
    }
    settings.desk.nodes = std::move(nodes);
    return {};
}

}  // namespace posthorn
