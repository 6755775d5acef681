#pragma once

#include <string>
#include <string_view>

namespace posthorn::cli {

/// The text with its states in colour: red where a person must look, yellow where it may turn bad,
/// green where all is well. Pure.
///
/// A state is a cell under STATE or STATUS, what follows a line's name `status` or `state`, and the
/// light at the end of the first line, as `health` prints it. Nothing else is painted: a payload or a
/// name cannot choose a colour.
[[nodiscard]] std::string paint_states(std::string_view text);

}  // namespace posthorn::cli
