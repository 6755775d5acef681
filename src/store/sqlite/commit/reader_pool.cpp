#include "store/sqlite/commit/reader_pool.hpp"

#include <exception>

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
    result<> outcome;
    try {
        outcome = look(*this);
    } catch (const std::exception& thrown) {
        outcome = fail(error_code::statement_failed, "the reader threw: {}", thrown.what());
    }
    POSTHORN_TRY(end_.run());
    return outcome;
}

result<std::unique_ptr<reader_pool>> reader_pool::open(const open_options& options,
                                                       const outbox_rules& rules,
                                                       std::size_t count) {
    std::unique_ptr<reader_pool> pool(new reader_pool);
    for (std::size_t i = 0; i < count; ++i) {
        POSTHORN_LET(one, reader::open(options, rules));
        pool->free_.push_back(std::move(one));
    }
    return pool;
}

std::unique_ptr<reader> reader_pool::take() {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return !free_.empty(); });
    auto one = std::move(free_.back());
    free_.pop_back();
    return one;
}

void reader_pool::give_back(std::unique_ptr<reader> used) {
    {
        const std::scoped_lock lock(mutex_);
        free_.push_back(std::move(used));
    }
    returned_.notify_one();
}

result<> reader_pool::read(const std::function<result<>(store_reader&)>& look) {
    auto one = take();
    auto outcome = one->read(look);
    give_back(std::move(one));
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
