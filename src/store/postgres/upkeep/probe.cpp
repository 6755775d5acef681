#include "store/postgres/upkeep/probe.hpp"

#include <memory>
#include <utility>

#include "store/postgres/commit/reader.hpp"

namespace posthorn::postgres {

result<sql_query> probe(const connect_options& where, const clock& time) {
    POSTHORN_LET(opened, reader::open({.connect = where, .rules = {}, .writer = {}}, time));
    return [with = std::shared_ptr<reader>(std::move(opened))](const std::string& sql,
                                                               std::span<const sql_param> given) {
        return with->read([&](store_reader& from) {
            return from.query(sql, given, [](const sql_row& /*row*/) {});
        });
    };
}

}  // namespace posthorn::postgres
