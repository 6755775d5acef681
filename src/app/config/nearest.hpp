#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace posthorn {

/// The candidate that a mistyped word most likely meant, or nothing if none is near.
///
/// Near means few edits for its length: a letter added, dropped, changed, or two neighbours
/// swapped, whatever their case. Of equally near candidates the first wins.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view word,
                                                      std::span<const std::string_view> candidates);

}  // namespace posthorn
