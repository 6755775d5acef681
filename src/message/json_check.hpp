#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.hpp"

namespace posthorn {

enum class json_kind : unsigned char { any, object };

inline constexpr std::size_t json_depth_max = 64;

/// Whether text is one JSON value in UTF-8, nested no deeper than `json_depth_max` together with
/// the levels it is inside of already; keeps nothing of it. Otherwise
/// `error_code::invalid_payload`, which says where it stops being JSON but quotes none of it.
[[nodiscard]] result<> check_json(std::string_view text, json_kind kind = json_kind::any,
                                  std::size_t depth = 0);

}  // namespace posthorn
