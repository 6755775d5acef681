#pragma once

#include <string>

#include "store/sql_query.hpp"

namespace posthorn {

/// A database that was looked at before a node opens it; nothing in it is changed.
struct probed_database {
    sql_query ask;          // Whether it takes a statement.
    std::string service{};  // Whose it is; empty if it has no owner yet.
};

}  // namespace posthorn
