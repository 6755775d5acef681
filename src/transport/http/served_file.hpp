#pragma once

#include <string_view>

#include "transport/http/types.hpp"

namespace posthorn {

/// A file that is a part of the program: `cmake/embed.py` writes those of a folder into a source.
struct served_file {
    std::string_view path;  // Such as `index.html` and `assets/desk-Bv96Wtyz.js`.
    std::string_view plain;
    std::string_view gzip;  // The same, compressed.
};

/// The file, compressed for those who take it, with the content policy that it stands under.
[[nodiscard]] http_response answer_with_file(const served_file& file, const http_request& request,
                                             std::string_view policy);

/// What a file is, by its ending.
[[nodiscard]] std::string_view media_type_of(std::string_view path) noexcept;

/// Whether a file's name changes with what is in it, so that a browser may keep it. Pure.
[[nodiscard]] bool is_named_by_content(std::string_view path) noexcept;

}  // namespace posthorn
