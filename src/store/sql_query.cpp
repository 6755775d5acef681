#include "store/sql_query.hpp"

#include "store/store.hpp"

namespace posthorn {

sql_query query_of(store& where) {
    return [&where](const std::string& sql, std::span<const sql_param> with) {
        return where.read([&](store_reader& from) {
            return from.query(sql, with, [](const sql_row& /*row*/) {});
        });
    };
}

}  // namespace posthorn
