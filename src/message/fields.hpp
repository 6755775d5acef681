#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <posthorn/json/reader.hpp>

#include "base/result.hpp"

namespace posthorn {

/// Whether a key is the field, written in camelCase or in PascalCase.
[[nodiscard]] inline bool is_field(std::string_view key, std::string_view camel) noexcept {
    return key.size() == camel.size() && key.substr(1) == camel.substr(1) &&
           (key[0] == camel[0] || key[0] == camel[0] - ('a' - 'A'));
}

/// Which of its fields an object has shown, each of which may come once.
class seen_fields {
public:
    explicit seen_fields(std::span<const std::string_view> names) : names_(names) {}

    /// The index of the field, or the number of names if it is none of them.
    std::size_t take(std::string_view key, const json_reader& at) {
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (!is_field(key, names_[i])) continue;
            if (has(i)) at.fail("is there twice");
            bits_ |= std::uint32_t{1} << i;
            return i;
        }
        return names_.size();
    }
    [[nodiscard]] bool has(std::size_t index) const noexcept { return (bits_ >> index & 1) != 0; }

private:
    std::span<const std::string_view> names_;
    std::uint32_t bits_ = 0;
};

/// Without the white space that follows it.
[[nodiscard]] inline std::string_view trimmed(std::string_view raw) noexcept {
    return raw.substr(0, raw.find_last_not_of(" \t\r\n") + 1);
}

/// Text, or nothing where null stands.
[[nodiscard]] inline std::string text_or_null(json_reader& from) {
    return from.is_null() ? std::string() : std::string(from.string());
}

/// Says of the body what the reader says of a payload.
[[nodiscard]] inline error as_malformed(const error& why, std::string_view where) {
    constexpr std::string_view document = "the payload ";
    std::string text = why.what();
    if (text.starts_with(document)) {
        text.replace(0, document.size(), where.empty() ? "the body " : std::string(where) + ' ');
    } else if (!where.empty()) {
        text.insert(0, std::string(where) + '.');
    }
    return {error_code::malformed_request, text};
}

}  // namespace posthorn
