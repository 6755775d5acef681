#include "store/sqlite/upkeep/file_facts.hpp"

#include <functional>
#include <utility>

#include <sqlite3.h>

#include "store/rules/beside_walk.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/schema/mend_schema.hpp"
#include "store/sqlite/schema/migrate.hpp"
#include "store/sqlite/tables/inspection_sql.hpp"
#include "store/sqlite/upkeep/moving.hpp"

namespace posthorn::sqlite {
namespace {

/// Asks one question after the other; the first failure stays.
class questions {
public:
    explicit questions(connection& database) : database_(database) {}

    void ask(std::string_view sql, const std::function<void(const sql_row&)>& visit) {
        if (!outcome_) return;
        statement query(database_, sql);
        auto found = query.run();
        outcome_ = found ? found->each(visit) : result<>(std::unexpected(found.error()));
    }
    void ask(std::string_view sql, std::string& into) {
        ask(sql, [&](const sql_row& row) { into = row.text(0); });
    }
    void ask(std::string_view sql, std::int64_t& into) {
        ask(sql, [&](const sql_row& row) { into = row.integer(0); });
    }
    [[nodiscard]] const result<>& outcome() const noexcept { return outcome_; }

private:
    connection& database_;
    result<> outcome_;
};

void ask_of_file(questions& file, bool thorough, file_facts& facts) {
    file.ask("PRAGMA journal_mode", facts.journal_mode);
    file.ask("PRAGMA auto_vacuum", facts.auto_vacuum);
    file.ask(thorough ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)", facts.damage);
    if (facts.damage == "ok") facts.damage.clear();
}

void ask_of_tables(questions& file, file_facts& facts) {
    file.ask("SELECT value FROM posthorn_meta WHERE name = 'service'", facts.service);
    file.ask("SELECT max(number) FROM posthorn_migrations WHERE folder = 'store'", facts.step);
    file.ask("SELECT owner FROM posthorn_leases WHERE name = 'dispatcher'", facts.lease_owner);
    file.ask(
        "SELECT count(*) FROM (SELECT 1 FROM outbox_messages WHERE status = 'Dead' LIMIT 1000000)",
        facts.dead);
    file.ask(
        "SELECT count(*) FROM (SELECT 1 FROM outbox_messages WHERE status = 'Expired' LIMIT "
        "1000000)",
        facts.expired);
    file.ask("SELECT 4611686018427387903 - seq FROM sqlite_sequence WHERE name = 'outbox_messages'",
             facts.numbers_left);
}

result<> look_at_messages(connection& database, file_facts& facts) {
    const auto seen_by_people = inspection_on(database);
    POSTHORN_LET(newest, seen_by_people->newest());
    facts.newest = newest;
    if (facts.step < facts.step_known) return {};  // Older tables lack what it asks for.
    POSTHORN_LET(blocked, seen_by_people->blocked({}));
    facts.blocked = std::move(blocked);
    POSTHORN_LET(backlog, seen_by_people->backlog(facts.newest.value_or(wall_time{}), {}));
    facts.backlog = std::move(backlog);
    const auto count = [&](beside_fault which) {
        return count_wrong<driver>(database, which, facts.newest.value_or(wall_time{}));
    };
    POSTHORN_LET(lost, count(beside_fault::lost));
    POSTHORN_LET(odd, count(beside_fault::odd));
    facts.beside = {.lost = lost, .odd = odd};
    return {};
}

result<> look_at_schema(connection& database, std::span<const table_set> above, file_facts& facts) {
    std::vector<migration_set> sets{store_tables()};
    for (const auto& each : above) sets.push_back(each.sqlite);
    POSTHORN_LET(found, compare_schema(database, sets));
    facts.schema = std::move(found);
    return {};
}

result<connection> open_to_look(const std::string& path) {
    POSTHORN_LET(opened, connection::open({.path = path}));
    sqlite3_db_config(opened.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    POSTHORN_TRY(opened.execute("PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0"));
    return std::move(opened);
}

}  // namespace

result<std::vector<std::int64_t>> ask_file(const std::string& path, std::string sql) {
    constexpr std::string_view schema = "{s}.";
    for (auto at = sql.find(schema); at != std::string::npos; at = sql.find(schema, at))
        sql.erase(at, schema.size());
    POSTHORN_LET(opened, open_to_look(path));
    questions file(opened);
    std::vector<std::int64_t> numbers;
    file.ask(sql, [&](const sql_row& row) {
        for (std::size_t i = 0; i < row.size(); ++i) numbers.push_back(row.integer(i));
    });
    POSTHORN_TRY(file.outcome());
    return numbers;
}

result<file_facts> look_at_file(const std::string& path, bool thorough,
                                std::span<const table_set> above) {
    POSTHORN_LET(opened, open_to_look(path));
    file_facts facts{.step_known = store_tables().steps.back().number};
    questions file(opened);
    ask_of_file(file, thorough, facts);
    std::int64_t is_ours = 0;
    file.ask("SELECT count(*) FROM sqlite_schema WHERE name = 'posthorn_migrations'", is_ours);
    POSTHORN_TRY(file.outcome());
    if (is_ours == 0)
        return fail(error_code::invalid_argument,
                    "{} has no tables of Posthorn; make them with 'posthorn init'", path);
    // Of a damaged one nothing else is worth asking, nor of one that lacks a table.
    if (facts.damage.empty()) POSTHORN_TRY(look_at_schema(opened, above, facts));
    if (facts.damage.empty() && facts.schema.lost.empty()) {
        ask_of_tables(file, facts);
        POSTHORN_TRY(file.outcome());
        POSTHORN_TRY(look_at_messages(opened, facts));
        if (const auto here = require_not_moved(opened, path); !here)
            facts.moved = here.error().what();
    }
    POSTHORN_TRY(file.outcome());
    return facts;
}

}  // namespace posthorn::sqlite
