#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <posthorn/detail/sql.hpp>

#include "base/result.hpp"

namespace posthorn {

/// A statement with its values, for a database that is not a store.
struct outside_statement {
    std::string_view sql;  // `?1`, `?2` and so on stand for the values.
    std::vector<sql_param> values{};
};

/// A database that is not a store: one of another program, into which work is written.
///
/// Lifetime: it connects when it is first used, and again after it was cut off.
/// Threads:  any; calls wait for each other.
class outside_database {
public:
    virtual ~outside_database() = default;

    /// Runs the statements in one transaction. With a key they run once for it: a row of the table
    /// `posthorn_forwarded` there, which is made if it is missing, says that they have.
    /// `error_code::store_unavailable` or `store_busy` if the database cannot be used now.
    virtual result<> run(std::span<const outside_statement> all, const std::string& once_key) = 0;
};

/// By a URL such as `store.url` has: `error_code::invalid_configuration` for one that is not
/// understood. Nothing is connected yet.
using outside_opener =
    std::function<result<std::unique_ptr<outside_database>>(const std::string& url)>;

}  // namespace posthorn
