#pragma once

#include <optional>
#include <string>

#include "store/row_defaults.hpp"
#include "store/sqlite/driver/connection.hpp"

namespace posthorn::sqlite {

/// Makes these the defaults of the columns of `outbox_messages`, where an INSERT pays nothing for
/// them. A file that has them already is not written to.
result<> set_row_defaults(connection& database, const row_defaults& wanted);

/// The text of the table with other defaults; nothing if it is not as Posthorn made it. Pure.
[[nodiscard]] std::optional<std::string> with_defaults(std::string table,
                                                       const row_defaults& wanted);

}  // namespace posthorn::sqlite
