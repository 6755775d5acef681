#include "store/sqlite/commit/reader.hpp"

#include <string>
#include <utility>

#include "store/commit/unit_run.hpp"

namespace posthorn::sqlite {

result<std::unique_ptr<reader>> reader::open(const open_options& options,
                                             const outbox_rules& rules) {
    POSTHORN_LET(opened, connection::open(options));
    auto database = std::make_unique<connection>(std::move(opened));
    POSTHORN_TRY(database->execute(
        "PRAGMA query_only = ON; PRAGMA cache_size = -2000; PRAGMA temp_store = MEMORY;"
        "PRAGMA mmap_size = 0; PRAGMA wal_autocheckpoint = 0"));
    return std::unique_ptr<reader>(new reader(std::move(database), rules));
}

reader::reader(std::unique_ptr<connection> on, const outbox_rules& rules)
    : table_reader(std::move(on), rules),
      cache_(database()),
      begin_(database(), "BEGIN"),
      end_(database(), "ROLLBACK") {}

result<> reader::read(const std::function<result<>(store_reader&)>& look) {
    POSTHORN_TRY(begin_.run());
    auto outcome = look_safely(look, *this);
    POSTHORN_TRY(end_.run());
    return outcome;
}

result<> check_pages(store_reader& from, bool thorough) {
    std::string found;
    POSTHORN_TRY(from.query(thorough ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)", {},
                            [&](const sql_row& row) { found = row.text(0); }));
    if (found == "ok") return {};
    return fail(error_code::store_corrupt,
                "the database is damaged: {}; stop the service and restore a backup", found);
}

}  // namespace posthorn::sqlite
