#include "store/postgres/upkeep/probe.hpp"

#include <memory>
#include <tuple>
#include <utility>

#include "store/postgres/commit/reader.hpp"
#include "store/postgres/driver/sql_text.hpp"

namespace posthorn::postgres {

result<probed_database> probe(const connect_options& where, const clock& time) {
    POSTHORN_LET(opened, reader::open({.connect = where, .rules = {}, .writer = {}}, time));
    const std::shared_ptr<reader> with(std::move(opened));
    probed_database seen{.ask = [with](const std::string& sql, std::span<const sql_param> given) {
        return with->read([&](store_reader& from) {
            return from.query(sql, given, [](const sql_row& /*row*/) {});
        });
    }};
    const auto meta = quoted_identifier(where.schema) + ".posthorn_meta";
    // A schema that was never Posthorn's has no such table.
    std::ignore = with->read([&](store_reader& from) {
        return from.query("SELECT value FROM " + meta + " WHERE name = 'service'", {},
                          [&](const sql_row& row) { seen.service = row.text(0); });
    });
    return seen;
}

}  // namespace posthorn::postgres
