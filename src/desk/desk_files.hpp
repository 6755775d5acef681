#pragma once

#include <span>
#include <string_view>

namespace posthorn {

/// One file of `web/dist`, which is a part of the program: `cmake/embed.py` writes it into a source.
struct desk_file {
    std::string_view path;  // Such as `index.html` and `assets/desk-Bv96Wtyz.js`.
    std::string_view plain;
    std::string_view gzip;  // The same, compressed.
};

[[nodiscard]] std::span<const desk_file> desk_files() noexcept;

}  // namespace posthorn
