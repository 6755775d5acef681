#include <algorithm>
#include <array>

#include "app/config/config_table.hpp"

namespace posthorn {
namespace {

bool is_hash(std::string_view text) {
    constexpr std::string_view prefix = "sha256:";
    const auto is_hex = [](char each) {
        return (each >= '0' && each <= '9') || (each >= 'a' && each <= 'f');
    };
    return text.starts_with(prefix) && text.size() == prefix.size() + 64 &&
           std::ranges::all_of(text.substr(prefix.size()), is_hex);
}

result<> check_role(const config_item& item, std::string_view key, const std::string& role) {
    constexpr std::array<std::string_view, 3> roles{"viewer", "operator", "worker"};
    if (std::ranges::find(roles, role) != roles.end()) return {};
    return wrong_value(item.origin, key, role, R"("viewer", "operator" or "worker")");
}

result<admin_key_setting> read_key(const config_item& item, const key_row& self) {
    const auto* fields = std::get_if<config_fields>(&item.value);
    if (!fields) return wrong_shape(item.origin, self.key, item.value, self.wanted);
    admin_key_setting key{.origin = item.origin};
    field_reader reader(self.key, *fields);
    reader.take("name", key.name);
    reader.take("role", key.role);
    reader.take("hash", key.hash);
    reader.take("payloads", key.payloads);
    reader.take("secrets", key.secrets);
    reader.take_with("made", [&](const config_item& made) { return read_time(made, key.made); });
    POSTHORN_TRY(reader.finish());
    if (key.name.empty())
        return wrong_value(item.origin,
                           "a key of admin.keys has no name; write name = \"…\", "
                           "which the audit shows");
    POSTHORN_TRY(check_role(item, "admin.keys role", key.role));
    // If the key itself was put here, no message may show it.
    if (!is_hash(key.hash))
        return wrong_value(
            item.origin, fmt::format("the hash of admin key '{}' is not one; write \"sha256:\" and "
                                     "64 hexadecimal digits, as `posthorn keys admin new` prints "
                                     "it",
                                     key.name));
    return key;
}

result<proxy_user_setting> read_user(const config_item& item, const key_row& self) {
    const auto* const fields = std::get_if<config_fields>(&item.value);
    if (!fields) return wrong_shape(item.origin, self.key, item.value, self.wanted);
    proxy_user_setting user;
    field_reader reader(self.key, *fields);
    reader.take("name", user.name);
    reader.take("role", user.role);
    reader.take("payloads", user.payloads);
    reader.take("secrets", user.secrets);
    POSTHORN_TRY(reader.finish());
    if (user.name.empty())
        return wrong_value(item.origin,
                           "a user of admin.proxy_users has no name; write name = \"…\" as the "
                           "proxy names the person, or \"*\" for all others");
    POSTHORN_TRY(check_role(item, "admin.proxy_users role", user.role));
    return user;
}

}  // namespace

result<> set_admin_keys(const key_row& self, config& settings, const config_value& value,
                        std::string_view origin) {
    const auto* list = std::get_if<config_list>(&value);
    if (!list) return wrong_shape(origin, self.key, value, self.wanted);
    std::vector<admin_key_setting> keys;
    for (const auto& item : list->items) {
        POSTHORN_LET(key, read_key(item, self));
        if (std::ranges::find(keys, key.name, &admin_key_setting::name) != keys.end())
            return wrong_value(item.origin, fmt::format("two keys of admin.keys are called '{}'; "
                                                        "give each a name of its own",
                                                        key.name));
        keys.push_back(std::move(key));
    }
    settings.admin.keys = std::move(keys);
    return {};
}

result<> set_proxy_secret(const key_row& self, config& settings, const config_value& value,
                          std::string_view origin) {
    const auto* const text = std::get_if<std::string>(&value);
    // If the secret itself was put here, no message may show it.
    if (!text || (!text->empty() && !is_hash(*text)))
        return wrong_value(origin,
                           fmt::format("{} is not a hash; write {}", self.key, self.wanted));
    settings.admin.proxy_secret = *text;
    return {};
}

result<> set_proxy_users(const key_row& self, config& settings, const config_value& value,
                         std::string_view origin) {
    const auto* const list = std::get_if<config_list>(&value);
    if (!list) return wrong_shape(origin, self.key, value, self.wanted);
    std::vector<proxy_user_setting> users;
    for (const auto& item : list->items) {
        POSTHORN_LET(user, read_user(item, self));
        if (std::ranges::find(users, user.name, &proxy_user_setting::name) != users.end())
            return wrong_value(item.origin,
                               fmt::format("'{}' is twice in admin.proxy_users", user.name));
        users.push_back(std::move(user));
    }
    settings.admin.proxy_users = std::move(users);
    return {};
}

}  // namespace posthorn
