#pragma once

#include "store/rows/outbox_rows.hpp"

namespace posthorn::sqlite {

/// What `read_row` reads.
inline constexpr auto outbox_columns = outbox_columns_with("payload");
/// A column, unless it has more bytes than a number says; no function tells that of a text.
template <class Column, class Most>
consteval auto unless_longer(const Column& column, const Most& most) {
    return joined("CASE WHEN length(CAST(", column, " AS BLOB)) <= ", most, " THEN ", column,
                  " END");
}
inline constexpr auto outbox_row_by_seq =
    joined("SELECT ", outbox_columns, " FROM outbox_messages WHERE seq = ?");

}  // namespace posthorn::sqlite
