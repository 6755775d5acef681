#include "store/sqlite/commit/reader_pool.hpp"

#include "store/commit/unit_run.hpp"

namespace posthorn::sqlite {

result<std::unique_ptr<reader>> reader::open(const open_options& options, outbox_rules rules) {
    POSTHORN_LET(database, connection::open(options));
    POSTHORN_TRY(database.execute(
        "PRAGMA query_only = ON; PRAGMA cache_size = -2000; PRAGMA temp_store = MEMORY;"
        "PRAGMA mmap_size = 0; PRAGMA wal_autocheckpoint = 0"));
    return std::unique_ptr<reader>(new reader(std::move(database), std::move(rules)));
}

reader::reader(connection database, outbox_rules rules)
    : database_(std::move(database)),
      cache_(database_),
      begin_(database_, "BEGIN"),
      end_(database_, "ROLLBACK"),
      outbox_(database_, std::move(rules)),
      inbox_(database_),
      inspection_(database_),
      dead_letters_(database_) {}

result<> reader::query(std::string_view sql, std::span<const sql_param> with,
                       const store_transaction::row_visitor& visit) {
    return cache_.run(sql, with, visit);
}

result<> reader::read(const std::function<result<>(store_reader&)>& look) {
    POSTHORN_TRY(begin_.run());
    auto outcome = look_safely(look, *this);
    POSTHORN_TRY(end_.run());
    return outcome;
}

result<std::unique_ptr<reader_pool>> reader_pool::open(const open_options& options,
                                                       const outbox_rules& rules,
                                                       std::size_t count) {
    std::unique_ptr<reader_pool> pool(new reader_pool);
    for (std::size_t i = 0; i < count; ++i) {
        POSTHORN_LET(one, reader::open(options, rules));
        pool->readers_.give_back(std::move(one));
    }
    return pool;
}

result<> reader_pool::read(const std::function<result<>(store_reader&)>& look) {
    auto one = readers_.take();
    auto outcome = one->read(look);
    readers_.give_back(std::move(one));
    return outcome;
}

result<> reader_pool::check(bool thorough) {
    return read([thorough](store_reader& from) -> result<> {
        std::string found;
        POSTHORN_TRY(from.query(thorough ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)",
                                {}, [&](const sql_row& row) { found = row.text(0); }));
        if (found == "ok") return {};
        return fail(error_code::store_corrupt,
                    "the database is damaged: {}; stop the service and restore a backup", found);
    });
}

}  // namespace posthorn::sqlite
