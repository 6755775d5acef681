#include "history/history_table.hpp"

#include <array>
#include <string>

#include <fmt/format.h>

#include "store/rows/stored_time.hpp"

namespace posthorn {
namespace {

constexpr std::string_view first =
    "CREATE TABLE IF NOT EXISTS posthorn_history ("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " step INTEGER NOT NULL,"
    " at INTEGER NOT NULL CHECK (typeof(at) = 'integer'),"
    " node TEXT NOT NULL,"
    " kind TEXT NOT NULL,"
    " name TEXT NOT NULL,"
    " done INTEGER NOT NULL,"
    " failed INTEGER NOT NULL,"
    " dead INTEGER NOT NULL,"
    " duplicates INTEGER NOT NULL,"
    " waiting INTEGER NOT NULL,"
    " oldest_ms INTEGER NOT NULL,"
    " took TEXT NOT NULL);"
    "CREATE INDEX IF NOT EXISTS idx_history_at ON posthorn_history (step, at);";

constexpr std::array steps{migration{1, first}};

constexpr std::string_view first_on_server =
    "CREATE TABLE {s}.posthorn_history ("
    " seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " step bigint NOT NULL,"
    " at bigint NOT NULL,"
    " node text NOT NULL,"
    " kind text NOT NULL,"
    " name text NOT NULL,"
    " done bigint NOT NULL,"
    " failed bigint NOT NULL,"
    " dead bigint NOT NULL,"
    " duplicates bigint NOT NULL,"
    " waiting bigint NOT NULL,"
    " oldest_ms bigint NOT NULL,"
    " took text NOT NULL) WITH (autovacuum_vacuum_scale_factor = 0.02);"
    "CREATE INDEX history_at ON {s}.posthorn_history (step, at);";

constexpr std::array steps_on_server{migration{1, first_on_server}};

using column = copied_table::column;
using enum copied_table::column::kind;
constexpr std::array columns{column{"seq", number},
                             column{"step", number},
                             column{"at", number},
                             column{"node", note},
                             column{"kind"},
                             column{"name", note},
                             column{"done", number},
                             column{"failed", number},
                             column{"dead", number},
                             column{"duplicates", number},
                             column{"waiting", number},
                             column{"oldest_ms", number},
                             column{"took"}};
constexpr std::array copied{
    copied_table{.name = "posthorn_history", .columns = columns, .numbered_by = "seq"}};

std::int64_t number_of(std::uint64_t count) { return static_cast<std::int64_t>(count); }
std::int64_t number_of(wall_time time) { return time.time_since_epoch().count(); }

}  // namespace

table_set history_tables() noexcept {
    return {{"history", steps}, {"history", steps_on_server}, copied};
}

result<> insert_history(store_transaction& tx, std::span<const history_row> rows) {
    if (rows.empty()) return {};
    std::string sql =
        "INSERT INTO posthorn_history (step, at, node, kind, name, done, failed, dead, duplicates,"
        " waiting, oldest_ms, took) VALUES ";
    std::vector<std::string> texts;  // What the parameters refer to.
    texts.reserve(rows.size() * 2);
    std::vector<sql_param> with;
    for (const auto& row : rows) {
        sql += with.empty() ? "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                            : ", (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        const auto& kind = texts.emplace_back(1, static_cast<char>(row.key.kind));
        const auto& took = texts.emplace_back(encode(row.numbers.took));
        with.insert(with.end(),
                    {std::int64_t{row.step.count()}, number_of(row.at), std::string_view(row.node),
                     std::string_view(kind), std::string_view(row.key.name),
                     number_of(row.numbers.done), number_of(row.numbers.failed),
                     number_of(row.numbers.dead), number_of(row.numbers.duplicates),
                     row.numbers.waiting, row.numbers.oldest_ms, std::string_view(took)});
    }
    return tx.run(sql, with);
}

result<> trim_history(store_transaction& tx, wall_time now, std::string_view node) {
    // By time and not by number: what one slice takes is what so many slots hold.
    constexpr int slots_max = 60;
    for (const auto& [step, kept] : history_kept) {
        const auto own_end = now - kept;
        const std::chrono::milliseconds slice = slots_max * step;
        const std::array<sql_param, 5> with{std::int64_t{step.count()}, number_of(own_end), node,
                                            number_of(own_end - slice / 2),
                                            std::int64_t{slice.count()}};
        POSTHORN_TRY(
            tx.run("DELETE FROM posthorn_history WHERE step = ?1 AND at < ?2"
                   " AND (node = ?3 OR at < ?4)"
                   " AND at < (SELECT min(at) FROM posthorn_history WHERE step = ?1) + ?5",
                   with));
    }
    return {};
}

result<std::vector<history_row>> read_history(store_reader& from, std::chrono::seconds step,
                                              wall_time since, const history_key& of) {
    std::vector<history_row> rows;
    const std::string kind(1, static_cast<char>(of.kind));
    const std::array<sql_param, 4> with{std::int64_t{step.count()}, number_of(since - step),
                                        std::string_view(kind), std::string_view(of.name)};
    POSTHORN_TRY(from.query(
        "SELECT at, substr(node, 1, 255), done, failed, dead, duplicates, waiting, oldest_ms,"
        " CASE WHEN octet_length(took) <= 4096 THEN took ELSE '' END"
        " FROM posthorn_history WHERE step = ? AND at > ? AND kind = ? AND name = ? ORDER BY at",
        with, [&](const sql_row& row) {
            rows.push_back({.at = bounded_from_ms(row.integer(0)),
                            .step = step,
                            .node = std::string(row.text(1)),
                            .key = of,
                            .numbers = {.done = row.get<std::uint64_t>(2),
                                        .failed = row.get<std::uint64_t>(3),
                                        .dead = row.get<std::uint64_t>(4),
                                        .duplicates = row.get<std::uint64_t>(5),
                                        .waiting = row.integer(6),
                                        .oldest_ms = row.integer(7),
                                        .took = decode(row.text(8))}});
        }));
    return rows;
}

}  // namespace posthorn
