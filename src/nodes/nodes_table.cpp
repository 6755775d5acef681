#include "nodes/nodes_table.hpp"

#include <array>
#include <limits>

#include "store/rows/stored_time.hpp"

namespace posthorn {
namespace {

constexpr std::string_view first =
    "CREATE TABLE IF NOT EXISTS posthorn_nodes ("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " node TEXT NOT NULL,"
    " began_at INTEGER NOT NULL CHECK (typeof(began_at) = 'integer'),"
    " asked_at INTEGER NOT NULL CHECK (typeof(asked_at) = 'integer'),"
    " light TEXT NOT NULL,"
    " answered INTEGER NOT NULL,"
    " reasons TEXT NOT NULL,"
    " service TEXT NOT NULL,"
    " version TEXT NOT NULL,"
    " latency_ms INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS idx_nodes_node ON posthorn_nodes (node, seq);"
    "CREATE INDEX IF NOT EXISTS idx_nodes_asked ON posthorn_nodes (asked_at);";

constexpr std::array steps{migration{1, first}};

constexpr std::string_view first_on_server =
    "CREATE TABLE {s}.posthorn_nodes ("
    " seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " node text NOT NULL,"
    " began_at bigint NOT NULL,"
    " asked_at bigint NOT NULL,"
    " light text NOT NULL,"
    " answered bigint NOT NULL,"
    " reasons text NOT NULL,"
    " service text NOT NULL,"
    " version text NOT NULL,"
    " latency_ms bigint NOT NULL);"
    "CREATE INDEX nodes_node ON {s}.posthorn_nodes (node, seq);"
    "CREATE INDEX nodes_asked ON {s}.posthorn_nodes (asked_at);";

constexpr std::array steps_on_server{migration{1, first_on_server}};

using column = copied_table::column;
using enum copied_table::column::kind;
constexpr std::array columns{
    column{"seq", number},       column{"node", note},    column{"began_at", number},
    column{"asked_at", number},  column{"light"},         column{"answered", number},
    column{"reasons", note},     column{"service", note}, column{"version", note},
    column{"latency_ms", number}};
constexpr std::array copied{
    copied_table{.name = "posthorn_nodes", .columns = columns, .numbered_by = "seq"}};

constexpr std::string_view spans_sql =
    "SELECT seq, began_at, asked_at, substr(light, 1, 20), answered,"
    " CASE WHEN octet_length(reasons) <= 200000 THEN reasons ELSE '[]' END,"
    " substr(service, 1, 255), substr(version, 1, 255), latency_ms FROM posthorn_nodes WHERE node "
    "= ? AND seq < ? ORDER BY seq DESC LIMIT ?";

std::int64_t number_of(wall_time time) { return time.time_since_epoch().count(); }

light_span read_span(const sql_row& row) {
    return {.seq = row.integer(0),
            .began = bounded_from_ms(row.integer(1)),
            .asked = bounded_from_ms(row.integer(2)),
            .latency = std::chrono::milliseconds(row.integer(8)),
            .light = {.colour = std::string(row.text(3)),
                      .reasons = decode_reasons(row.text(5)),
                      .answered = row.integer(4) != 0,
                      .service = std::string(row.text(6)),
                      .version = std::string(row.text(7))}};
}

/// Of a reader or of a transaction.
template <class From>
result<std::vector<light_span>> spans_of(From& from, std::string_view node, light_page page) {
    std::vector<light_span> spans;
    const auto before = page.before > 0 ? page.before : std::numeric_limits<std::int64_t>::max();
    const std::array<sql_param, 3> with{node, before, page.limit};
    POSTHORN_TRY(
        from.query(spans_sql, with, [&](const sql_row& row) { spans.push_back(read_span(row)); }));
    return spans;
}

result<> lengthen(store_transaction& tx, std::int64_t seq, const light_seen& seen) {
    const auto reasons = encode_reasons(seen.light.reasons);
    const std::array<sql_param, 6> with{number_of(seen.at),
                                        std::int64_t{seen.latency.count()},
                                        std::string_view(reasons),
                                        std::string_view(seen.light.service),
                                        std::string_view(seen.light.version),
                                        seq};
    return tx.run(
        "UPDATE posthorn_nodes SET asked_at = ?, latency_ms = ?, reasons = ?, service = ?,"
        " version = ? WHERE seq = ?",
        with);
}

result<> begin(store_transaction& tx, const light_seen& seen) {
    const auto reasons = encode_reasons(seen.light.reasons);
    const std::array<sql_param, 9> with{std::string_view(seen.node),
                                        number_of(seen.at),
                                        number_of(seen.at),
                                        std::string_view(seen.light.colour),
                                        std::int64_t{seen.light.answered ? 1 : 0},
                                        std::string_view(reasons),
                                        std::string_view(seen.light.service),
                                        std::string_view(seen.light.version),
                                        std::int64_t{seen.latency.count()}};
    return tx.run(
        "INSERT INTO posthorn_nodes (node, began_at, asked_at, light, answered, reasons, service,"
        " version, latency_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        with);
}

}  // namespace

table_set nodes_tables() noexcept { return {{"nodes", steps}, {"nodes", steps_on_server}, copied}; }

result<> record_light(store_transaction& tx, const light_seen& seen,
                      std::chrono::milliseconds every) {
    POSTHORN_LET(last, spans_of(tx, seen.node, {.limit = 1}));
    const bool same = !last.empty() && goes_on(last.front(), seen.light, seen.at, every);
    POSTHORN_TRY(same ? lengthen(tx, last.front().seq, seen) : begin(tx, seen));
    const std::array<sql_param, 1> old{number_of(seen.at - lights_kept)};
    return tx.run("DELETE FROM posthorn_nodes WHERE asked_at < ?", old);
}

result<std::optional<known_light>> read_known(store_reader& from, std::string_view node) {
    POSTHORN_LET(last, spans_of(from, node, {.limit = 1}));
    if (last.empty()) return std::optional<known_light>{};
    known_light known{.last = std::move(last.front())};
    known.since = known.last.began;
    const std::string_view colour = known.last.light.colour;
    const std::array<sql_param, 3> with{node, node, colour};
    POSTHORN_TRY(from.query(
        "SELECT min(began_at) FROM posthorn_nodes WHERE node = ? AND seq >"
        " coalesce((SELECT max(seq) FROM posthorn_nodes WHERE node = ?"
        " AND light <> ?), 0)",
        with, [&](const sql_row& row) { known.since = bounded_from_ms(row.integer(0)); }));
    const std::array<sql_param, 1> of_node{node};
    POSTHORN_TRY(from.query(
        "SELECT asked_at FROM posthorn_nodes WHERE node = ? AND answered = 1 ORDER BY seq DESC"
        " LIMIT 1",
        of_node, [&](const sql_row& row) { known.told = bounded_from_ms(row.integer(0)); }));
    return std::optional(std::move(known));
}

result<std::vector<light_span>> read_spans(store_reader& from, std::string_view node,
                                           light_page page) {
    return spans_of(from, node, page);
}

}  // namespace posthorn
