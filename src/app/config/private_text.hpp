#pragma once

#include <string>
#include <string_view>

#include "app/config/config.hpp"

namespace posthorn {

/// What a setting of `env:NAME` or `file:PATH` leads to, and how errors call that place.
struct private_text {
    std::string text{};
    std::string place{};
};

/// `error_code::secret_unavailable` if the variable is not set, or the file cannot be read or can
/// be by others than its owner; no error holds anything of the text. `wanted` is what the variable
/// should be set to.
[[nodiscard]] result<private_text> read_private(const config& settings, const secret_setting& from,
                                                std::string_view wanted);

/// The same for a place as `core_route::password` has it, without the space behind the text.
[[nodiscard]] result<std::string> private_text_at(std::string_view place, std::string_view wanted);

}  // namespace posthorn
