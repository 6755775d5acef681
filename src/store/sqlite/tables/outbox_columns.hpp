#pragma once

#include "store/rows/outbox_rows.hpp"

namespace posthorn::sqlite {

/// What `read_row` reads.
inline constexpr auto outbox_columns = outbox_columns_with("payload");
inline constexpr auto outbox_row_by_seq =
    joined("SELECT ", outbox_columns, " FROM outbox_messages WHERE seq = ?");

}  // namespace posthorn::sqlite
