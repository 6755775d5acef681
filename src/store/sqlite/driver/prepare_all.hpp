#pragma once

#include <initializer_list>
#include <string_view>

#include "store/sqlite/driver/connection.hpp"

namespace posthorn::sqlite {

struct prepared_as {
    statement* into;
    std::string_view sql;
};

/// Prepares the statements of a table once, for ever.
inline result<> prepare_all(connection& database, std::initializer_list<prepared_as> all) {
    for (const auto& [into, sql] : all) {
        POSTHORN_LET(prepared, database.prepare(sql));
        *into = std::move(prepared);
    }
    return {};
}

/// Opens a part that prepares its own statements.
template <class Part>
result<> open_into(Part& part, connection& database) {
    POSTHORN_LET(opened, Part::open(database));
    part = std::move(opened);
    return {};
}

}  // namespace posthorn::sqlite
