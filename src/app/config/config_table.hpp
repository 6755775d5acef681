#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/config.hpp"
#include "app/config/config_type.hpp"

namespace posthorn {

/// One key with a fixed name.
struct key_row {
    std::string_view key;
    std::string_view type;
    std::string_view wanted;
    std::string_view doc;
    result<> (*set)(const key_row& self, config&, const config_value&, std::string_view origin);
    std::string (*show)(const key_row& self, const config&);
    bool refers = false;  // To a secret, by env:NAME or file:PATH; another text is not shown.
};

/// A section in which people choose the names.
struct open_section {
    std::string_view section;
    std::string_view type;
    std::string_view doc;
    result<> (*set)(config&, std::string_view name, const config_value&, std::string_view origin);
    /// Name and value of each, as people may see them.
    std::vector<std::pair<std::string, std::string>> (*show)(const config&);
};

/// Every key there is, in the order in which people should see them.
/// Those of features come last.
[[nodiscard]] std::span<const key_row> key_table();
[[nodiscard]] std::span<const open_section> open_sections();

// The sections with names of people's choice, and the keys of [admin], a file each.
result<> set_route(config&, std::string_view name, const config_value&, std::string_view origin);
result<> set_secrets(config&, std::string_view name, const config_value&, std::string_view origin);
result<> set_signature(config&, std::string_view name, const config_value&,
                       std::string_view origin);
result<> set_handler(config&, std::string_view name, const config_value&, std::string_view origin);
result<> set_response(config&, std::string_view name, const config_value&, std::string_view origin);
/// One name of the section [InboxOutbox], which stands for one or two keys.
result<> set_inbox_outbox(config&, std::string_view name, const config_value&,
                          std::string_view origin);
/// The same of the sections [StoreAndForward] and [OperationTracking].
result<> set_store_and_forward(config&, std::string_view name, const config_value&,
                               std::string_view origin);
result<> set_operation_tracking(config&, std::string_view name, const config_value&,
                                std::string_view origin);
result<> set_admin_keys(const key_row&, config&, const config_value&, std::string_view origin);
result<> set_proxy_secret(const key_row&, config&, const config_value&, std::string_view origin);
result<> set_desk_nodes(const key_row&, config&, const config_value&, std::string_view origin);
result<> set_proxy_users(const key_row&, config&, const config_value&, std::string_view origin);

/// One secret in one of its text forms, with neither dates nor origin: empty if it is none.
[[nodiscard]] std::optional<secret_setting> read_secret_text(std::string_view text);

/// `origin: key cannot be "x"; write …`
[[nodiscard]] std::unexpected<error> wrong_value(std::string_view origin, std::string_view key,
                                                 const config_value& value,
                                                 std::string_view wanted);
/// The same of a text in the place of a list or of a table, which is not quoted: it may be a secret.
[[nodiscard]] std::unexpected<error> wrong_shape(std::string_view origin, std::string_view key,
                                                 const config_value& value,
                                                 std::string_view wanted);
[[nodiscard]] std::unexpected<error> wrong_value(std::string_view origin, std::string_view text);
/// A field with a time, which no error quotes: beside a secret it may be one.
result<> read_time(const config_item& item, std::optional<wall_time>& into);
/// `did you mean 'http'?`, or what there is.
[[nodiscard]] std::string suggestion(std::string_view word,
                                     std::span<const std::string_view> names);

/// Takes a table within a key apart, field by field. The first mistake stays, and a field that was
/// not asked for is one.
class field_reader {
public:
    field_reader(std::string_view key, const config_fields& fields) : key_(key), fields_(fields) {}

    /// Leaves `into` alone if there is no such field.
    template <class T>
    void take(std::string_view name, T& into) {
        names_.push_back(name);
        const config_item* const item = find(name);
        if (!item || !outcome_) return;
        if (auto read = config_type<T>::read(item->value))
            into = *std::move(read);
        else
            outcome_ = wrong_value(item->origin, fmt::format("{}.{}", key_, name), item->value,
                                   config_type<T>::wanted);
    }
    /// The same for a type that only one key has; `read` says what is wrong.
    template <class Read>
    void take_with(std::string_view name, Read read) {
        names_.push_back(name);
        const config_item* const item = find(name);
        if (item && outcome_) outcome_ = read(*item);
    }

    /// A field that may be there and was read otherwise.
    void knows(std::string_view name) { names_.push_back(name); }
    [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
    [[nodiscard]] result<> finish() const;

private:
    [[nodiscard]] const config_item* find(std::string_view name) const;

    std::string_view key_;
    const config_fields& fields_;
    std::vector<std::string_view> names_;
    result<> outcome_;
};

}  // namespace posthorn
