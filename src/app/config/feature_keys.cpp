#include "app/config/feature_keys.hpp"

#include <deque>

#include "app/features.hpp"
#include "base/text/without_password.hpp"

namespace posthorn {
namespace {

std::string key_of(const feature& of, const feature_key& key) {
    return fmt::format("{}.{}", of.name(), key.name);
}

const feature_key* find_key(std::string_view name) {
    for (const auto* const each : all_features())
        for (const auto& key : each->keys())
            if (key_of(*each, key) == name) return &key;
    return nullptr;
}

/// Its text says where a secret lies; anything else there may be the secret itself.
bool refers_to_secret(const feature_key& key) {
    return std::holds_alternative<std::string>(key.fallback()) && key.doc.contains("env:");
}

// The type of a key is that of its default.
result<> set(const key_row& self, config& settings, const config_value& value,
             std::string_view origin) {
    auto read = std::visit(
        [&]<class T>(const T&) -> std::optional<feature_value> {
            if (auto one = config_type<T>::read(value)) return feature_value(*std::move(one));
            return std::nullopt;
        },
        find_key(self.key)->fallback());
    if (!read && std::holds_alternative<struct feature_tables>(find_key(self.key)->fallback()))
        return wrong_shape(origin, self.key, value, self.wanted);
    if (!read) return wrong_value(origin, self.key, value, self.wanted);
    settings.features.insert_or_assign(std::string(self.key), *std::move(read));
    return {};
}

std::string show(const key_row& self, const config& settings) {
    const auto found = settings.features.find(self.key);
    const auto value =
        found != settings.features.end() ? found->second : find_key(self.key)->fallback();
    auto text = std::visit([]<class T>(const T& one) { return config_type<T>::show(one); }, value);
    const auto fallback = find_key(self.key)->fallback();
    const auto* const word = std::get_if<std::string>(&fallback);
    const bool may_be_seen = !self.refers || (word != nullptr && text == *word) ||
                             text.starts_with("env:") || text.starts_with("file:");
    return may_be_seen ? without_password(text) : "(hidden)";
}

}  // namespace

std::vector<key_row> feature_rows() {
    static std::deque<std::string> names;  // The rows refer to them; made once.
    std::vector<key_row> rows;
    for (const auto* const each : all_features()) {
        for (const auto& key : each->keys()) {
            key_row row{.key = names.emplace_back(key_of(*each, key)),
                        .type = {},
                        .wanted = {},
                        .doc = key.doc,
                        .set = &set,
                        .show = &show,
                        .refers = refers_to_secret(key)};
            std::visit(
                [&]<class T>(const T&) {
                    row.type = config_type<T>::name;
                    row.wanted = config_type<T>::wanted;
                },
                key.fallback());
            rows.push_back(row);
        }
    }
    return rows;
}

feature_settings settings_of(const config& settings, const feature& of) {
    std::map<std::string, feature_value, std::less<>> values;
    for (const auto& key : of.keys()) {
        const auto found = settings.features.find(key_of(of, key));
        values.emplace(key.name, found != settings.features.end() ? found->second : key.fallback());
    }
    return feature_settings(std::move(values));
}

}  // namespace posthorn
