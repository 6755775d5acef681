#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace posthorn {

/// A list of tables whose fields are texts, whatever they were written as; a table within one is a
/// JSON object.
struct feature_tables {
    using fields = std::map<std::string, std::string, std::less<>>;
    std::vector<fields> items;
};

/// What a key of a feature's section may hold.
using feature_value = std::variant<bool, std::int64_t, double, std::string,
                                   std::chrono::milliseconds, feature_tables>;

/// One key of a feature's section of the configuration.
struct feature_key {
    std::string_view name;  // Without the section: `lease`.
    std::string_view doc;   // One line, for `posthorn config show` and the reference.
    /// Where the file says nothing. Its type is that of the key.
    feature_value (*fallback)();
};

/// The values of one feature's section. Every key of the feature is there.
class feature_settings {
public:
    explicit feature_settings(std::map<std::string, feature_value, std::less<>> values = {})
        : values_(std::move(values)) {}

    /// `settings.get<std::chrono::milliseconds>("lease")`; the feature declared the key so.
    template <class T>
    [[nodiscard]] const T& get(std::string_view key) const {
        return std::get<T>(values_.find(key)->second);
    }

private:
    std::map<std::string, feature_value, std::less<>> values_;
};

}  // namespace posthorn
