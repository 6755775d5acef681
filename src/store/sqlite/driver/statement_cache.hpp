#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "store/sqlite/driver/connection.hpp"
#include "store/transaction.hpp"

namespace posthorn::sqlite {

/// Runs SQL that is not known in advance, and keeps its statements prepared.
///
/// Lifetime: not past its connection.
/// Threads:  its connection's.
class statement_cache {
public:
    explicit statement_cache(connection& database) : database_(&database) {}

    result<> run(std::string_view sql, std::span<const sql_param> with,
                 const store_transaction::row_visitor& visit);
    /// Gives how many rows it changed.
    result<std::int64_t> change(std::string_view sql, std::span<const sql_param> with);

private:
    struct hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    using kept_statements = std::unordered_map<std::string, prepared, hash, std::equal_to<>>;

    result<prepared> take(std::string_view sql);
    void give_back(std::string_view sql, prepared used);

    connection* database_;
    kept_statements kept_;
};

}  // namespace posthorn::sqlite
