#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "app/config/config.hpp"
#include "app/config/config_value.hpp"

namespace posthorn {

enum class written_as : std::uint8_t { number, truth, milliseconds, days, span, text };

/// An option of a document under its own name, which stands for a key or two of ours, or for none.
struct document_option {
    std::string_view name;
    written_as how;
    std::string_view key{};
    std::string_view also{};
};

struct document_section {
    std::string_view name;
    std::span<const document_option> options;
};

/// The option that was written, and its value as our key has it.
struct read_option {
    const document_option* what = nullptr;
    config_value value;
};

/// `error_code::invalid_configuration` for a name that the document does not have, with the nearest,
/// and for a value of another type. Pure.
[[nodiscard]] result<read_option> read_document_option(const document_section& of,
                                                       std::string_view name,
                                                       const config_value& value,
                                                       std::string_view origin);
result<> set_document_option(config& settings, const read_option& said, std::string_view origin);

}  // namespace posthorn
