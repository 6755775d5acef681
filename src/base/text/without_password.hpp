#pragma once

#include <string>
#include <string_view>

namespace posthorn {

/// The address of a database as it may be shown and logged: a URL, or words such as
/// `host=h password=p`. Anything else is as it was. Where an address is not written as it should be,
/// more than the password may be hidden.
[[nodiscard]] std::string without_password(std::string_view address);

/// Whether the password of a URL has a character that has to be escaped, so that a part of it is
/// taken for something else, and told in errors.
[[nodiscard]] bool has_unescaped_password(std::string_view address);

/// What to do about it.
inline constexpr std::string_view how_to_escape =
    "the password has a character that means something else there; write % as %25, @ as %40 and / "
    "as "
    "%2F";

}  // namespace posthorn
