#pragma once

#include <initializer_list>
#include <string_view>

#include "store/sqlite/connection.hpp"

namespace posthorn::sqlite {

struct prepared_as {
    statement* into;
    std::string_view sql;
};

/// Prepares the statements of a table once, for ever.
inline result<> prepare_all(connection& database, std::initializer_list<prepared_as> all) {
    for (const auto& [into, sql] : all) {
        auto prepared = database.prepare(sql);
        if (!prepared) return std::unexpected(std::move(prepared).error());
        *into = *std::move(prepared);
    }
    return {};
}

/// Opens a part that prepares its own statements.
template <class Part>
result<> open_into(Part& part, connection& database) {
    auto opened = Part::open(database);
    if (!opened) return std::unexpected(std::move(opened).error());
    part = *std::move(opened);
    return {};
}

}  // namespace posthorn::sqlite
