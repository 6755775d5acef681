#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.hpp"

namespace posthorn {

enum class json_kind : unsigned char { any, object };

inline constexpr std::size_t json_depth_max = 64;

/// How deep JSON may be nested.
struct json_nesting {
    std::size_t inside = 0;                  // The levels that the text is inside of already.
    std::size_t depth_max = json_depth_max;  // With these.
};

/// Whether text is one JSON value in UTF-8, nested no deeper than allowed; keeps nothing of it.
/// Otherwise `error_code::invalid_payload`, which says where it stops being JSON but quotes none of
/// it.
[[nodiscard]] result<> check_json(std::string_view text, json_kind kind = json_kind::any,
                                  json_nesting nesting = {});

}  // namespace posthorn
