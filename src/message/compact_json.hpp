#pragma once

#include <string>
#include <string_view>

namespace posthorn {

/// The same JSON without the white space between its tokens; as it is, if it is none.
[[nodiscard]] std::string compact_json(std::string_view json);

}  // namespace posthorn
