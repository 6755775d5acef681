#pragma once

#include <string>
#include <string_view>

namespace posthorn {

/// The address of a database as it may be shown and logged: a URL, or words such as
/// `host=h password=p`. Anything else is as it was.
[[nodiscard]] std::string without_password(std::string_view address);

}  // namespace posthorn
