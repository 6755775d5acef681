#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace posthorn {

/// Where in a document one is: a chain of frames on the stack, from the value up to the document,
/// so that it costs nothing until an error has to name it.
struct json_path {
    const json_path* above = nullptr;
    std::string_view name{};  // Of a member; empty for an element, and for the document.
    std::size_t index = 0;    // Of an element.

    /// `items[2].sku`; empty for the document itself.
    [[nodiscard]] std::string to_string() const;
    /// How many objects and arrays it is inside of.
    [[nodiscard]] std::size_t depth() const noexcept;
};

/// Throws `error_code::invalid_payload`, which names the path and says what is wrong there.
[[noreturn]] void fail_at(const json_path& path, std::string_view why);

}  // namespace posthorn
