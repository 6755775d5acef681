// Nothing here quotes what was written: it may be a secret, or nearly one.
#include "app/config/config_table.hpp"

namespace posthorn {
namespace {

constexpr std::string_view wanted =
    R"("base64:…" (at least 16 bytes), "env:NAME" or "file:PATH", a table such as )"
    R"({ secret = "env:NAME", until = "2026-03-01T00:00:00Z" }, or a list of these)";

std::unexpected<error> not_a_secret(std::string_view origin, std::string_view key) {
    return wrong_value(origin,
                       fmt::format("{} is not a secret that can be used; write {}", key, wanted));
}

result<secret_setting> read_one(std::string_view key, const config_value& value,
                                std::string_view origin) {
    if (const auto* text = std::get_if<std::string>(&value)) {
        auto read = read_secret_text(*text);
        if (!read) return not_a_secret(origin, key);
        read->origin = origin;
        return *std::move(read);
    }
    const auto* fields = std::get_if<config_fields>(&value);
    if (!fields) return not_a_secret(origin, key);
    secret_setting one;
    std::optional<secret_setting> read;
    field_reader reader(key, *fields);
    reader.take_with("secret", [&](const config_item& item) -> result<> {
        const auto* text = std::get_if<std::string>(&item.value);
        if (text) read = read_secret_text(*text);
        return read ? result<>{} : result<>(not_a_secret(item.origin, key));
    });
    reader.take_with("from", [&](const config_item& item) { return read_time(item, one.from); });
    reader.take_with("until", [&](const config_item& item) { return read_time(item, one.until); });
    reader.take("revoked", one.revoked);
    POSTHORN_TRY(reader.finish());
    if (!read) return not_a_secret(origin, key);
    one.where = read->where;
    one.name = std::move(read->name);
    one.value = std::move(read->value);
    one.origin = origin;
    return one;
}

}  // namespace

std::optional<secret_setting> read_secret_text(std::string_view text) {
    using enum secret_setting::kind;
    const auto named = [&](secret_setting::kind where,
                           std::string_view prefix) -> std::optional<secret_setting> {
        if (!text.starts_with(prefix) || text.size() == prefix.size()) return std::nullopt;
        return secret_setting{.where = where, .name = std::string(text.substr(prefix.size()))};
    };
    if (auto variable = named(environment, "env:")) return variable;
    if (auto path = named(file, "file:")) return path;
    if (!text.starts_with("base64:")) return std::nullopt;
    auto parsed = secret::parse(text);
    if (!parsed) return std::nullopt;
    return secret_setting{.value = *std::move(parsed)};
}

result<> set_secrets(config& settings, std::string_view name, const config_value& value,
                     std::string_view origin) {
    const auto key = fmt::format("secrets.{}", name);
    std::vector<secret_setting> all;
    const auto add = [&](const config_value& each, std::string_view where) -> result<> {
        POSTHORN_LET(read, read_one(key, each, where));
        all.push_back(std::move(read));
        return {};
    };
    if (const auto* list = std::get_if<config_list>(&value)) {
        for (const auto& item : list->items) POSTHORN_TRY(add(item.value, item.origin));
        if (all.empty()) return not_a_secret(origin, key);
    } else {
        POSTHORN_TRY(add(value, origin));
    }
    settings.secrets.insert_or_assign(std::string(name), std::move(all));
    return {};
}

}  // namespace posthorn
