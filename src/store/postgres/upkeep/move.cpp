#include "store/postgres/upkeep/move.hpp"

#include <algorithm>
#include <utility>

#include "base/text/without_password.hpp"
#include "store/postgres/commit/session.hpp"
#include "store/postgres/driver/failures.hpp"
#include "store/postgres/schema/migrate.hpp"
#include "store/postgres/schema/schema_use.hpp"
#include "store/postgres/schema/tables.hpp"
#include "store/postgres/upkeep/copied_tables.hpp"
#include "store/sqlite/schema/migrate.hpp"

namespace posthorn::postgres {
namespace {

using server = std::unique_ptr<connection>;

std::string place_of(const move_options& options) {
    return fmt::format("{} (schema {})", without_password(options.url), options.schema);
}

result<server> open_server(const move_options& options, const clock& time) {
    return connect({.connect = {.url = options.url,
                                .schema = options.schema,
                                .application = "posthorn migrate"},
                    .rules = {},
                    .writer = {}},
                   time);
}

result<> require_movable(sqlite::moving_file& from, const move_options& options) {
    std::vector<migration_set> sets{sqlite::store_tables()};
    for (const auto& each : options.above) sets.push_back(each.sqlite);
    POSTHORN_TRY(from.require_sound(sets));
    const auto mark = from.mark();
    POSTHORN_TRY(mark);
    if (!*mark) return {};
    if ((*mark)->is_done)
        return fail(error_code::state_changed,
                    "{} was moved to {} at {} already; to do it once more, take that back with "
                    "'posthorn migrate --undo sqlite:{} URL'",
                    from.path(), (*mark)->to, to_iso8601((*mark)->at), from.path());
    if ((*mark)->to == place_of(options)) return {};
    return fail(
        error_code::state_changed,
        "a move of {0} to {1} was cut off, and may be complete there: run it again with "
        "that URL, or drop the schema there and then 'posthorn migrate --undo sqlite:{0} URL'",
        from.path(), (*mark)->to);
}

result<std::string> copied_by(connection& to) {
    POSTHORN_LET(found, to.ask("SELECT value FROM {s}.posthorn_meta WHERE name = 'moved_by'"));
    return found.empty() ? std::string{} : std::string(found.front().text(0));
}

result<> require_empty(connection& to, std::span<const copied_table> copied) {
    for (const auto& table : copied) {
        if (!table.only.empty()) continue;  // Few facts; see below.
        POSTHORN_LET(some, to.ask(fmt::format("SELECT 1 FROM {{s}}.{} LIMIT 1", table.name)));
        if (some.empty()) continue;
        return fail(error_code::state_changed,
                    "the schema {0} is not empty: {1} has rows. Choose another with --schema; or, "
                    "if what is there is not needed, DROP SCHEMA {0} CASCADE, and run this again. "
                    "Nothing was changed",
                    to.schema(), table.name);
    }
    return {};
}

/// The tables may have been made for the service before.
result<> require_same_service(sqlite::moving_file& from, connection& to) {
    POSTHORN_LET(there, to.ask("SELECT value FROM {s}.posthorn_meta WHERE name = 'service'"));
    if (there.empty()) return {};
    const auto ours = from.service();
    POSTHORN_TRY(ours);
    if (there.front().text(0) == *ours) return {};
    return fail(error_code::invalid_configuration,
                "the schema {} belongs to the service '{}', and {} to '{}'; choose another schema "
                "with --schema",
                to.schema(), there.front().text(0), from.path(), *ours);
}

/// The triggers would number, date and count anew what has all that.
result<> let_triggers_rest(connection& to, bool rest) {
    for (const auto* const table : {"outbox_messages", "outbox_closed"})
        POSTHORN_TRY(to.script(fmt::format("ALTER TABLE {{s}}.{} {} TRIGGER USER", table,
                                           rest ? "DISABLE" : "ENABLE")));
    return {};
}

/// What only the server has, and what it would give next.
result<> make_the_rest(sqlite::moving_file& from, connection& to,
                       std::span<const copied_table> copied) {
    POSTHORN_TRY(to.script(
        "INSERT INTO {s}.outbox_due (seq, destination, tenant, priority, next_retry_at, expires_at,"
        " order_key) SELECT seq, destination, coalesce(tenant, ''), priority, next_retry_at,"
        " expires_at, nullif(order_key, '') FROM {s}.outbox_messages WHERE status = 'Pending';"
        "INSERT INTO {s}.outbox_closed (seq, status, at) SELECT seq, status,"
        " coalesce(last_attempt_at, created_at) FROM {s}.outbox_messages"
        " WHERE status IN ('Dead', 'Expired', 'Resolved') ON CONFLICT DO NOTHING;"
        "UPDATE {s}.outbox_closed AS c SET destination = m.destination,"
        " tenant = coalesce(m.tenant, ''), order_key = nullif(m.order_key, '')"
        " FROM {s}.outbox_messages AS m WHERE m.seq = c.seq;"
        // No node holds them: all were stopped.
        "UPDATE {s}.posthorn_leases SET owner = NULL;"
        // Epochs go on rising.
        "SELECT setval('{s}.dispatcher_epochs', greatest((SELECT max(epoch) FROM"
        " {s}.posthorn_leases), 1))"));
    for (const auto& table : copied) {
        if (table.numbered_by.empty()) continue;
        const auto is_there = from.has_table(table.name);
        POSTHORN_TRY(is_there);
        if (!*is_there) continue;
        const auto last = from.highest(table.name, table.numbered_by);
        POSTHORN_TRY(last);
        POSTHORN_TRY(to.script(fmt::format(
            "SELECT setval(pg_get_serial_sequence($name${{s}}.{}$name$, '{}'), {}, {})", table.name,
            table.numbered_by, std::max<std::int64_t>(*last, 1), *last > 0)));
    }
    return {};
}

/// Counts rows for who watches.
class watcher {
public:
    watcher(const move_options& options, std::int64_t rows) : options_(options), all_(2 * rows) {}
    [[nodiscard]] rows_done of(std::string_view table) {
        return [this, table](std::int64_t more) {
            done_ += more;
            if (options_.progress) options_.progress(done_, all_, table);
        };
    }

private:
    const move_options& options_;
    std::int64_t done_ = 0;
    std::int64_t all_;
};

result<std::vector<moved_table>> copy_all(sqlite::moving_file& from, connection& to,
                                          const move_options& options, const std::string& id) {
    const auto copied = copied_tables(options.above);
    std::int64_t rows = 0;
    for (const auto& table : copied) {
        const auto some = from.count(table.name);
        POSTHORN_TRY(some);
        rows += *some;
    }
    watcher seen(options, rows);
    POSTHORN_TRY(let_triggers_rest(to, true));  // Producers wait from here on.
    POSTHORN_TRY(require_empty(to, copied));
    std::vector<moved_table> tables;
    for (const auto& table : copied) {
        if (!table.only.empty())
            POSTHORN_TRY(
                to.script(fmt::format("DELETE FROM {{s}}.{} WHERE {}", table.name, table.only)));
        const auto sum = copy_rows(table, from, to, seen.of(table.name));
        POSTHORN_TRY(sum);
        tables.push_back({std::string(table.name), sum->rows, sum->hash});
    }
    for (std::size_t i = 0; i < tables.size(); ++i) {
        const auto there = sum_of(copied[i], to, seen.of(tables[i].name));
        POSTHORN_TRY(there);
        if (there->rows != tables[i].rows || there->hash != tables[i].hash)
            return fail(error_code::store_corrupt,
                        "{} has {} rows on the server and {} in the file, or they differ; nothing "
                        "was kept, run it again",
                        tables[i].name, there->rows, tables[i].rows);
    }
    POSTHORN_TRY(make_the_rest(from, to, copied));
    POSTHORN_TRY(let_triggers_rest(to, false));
    POSTHORN_TRY(
        to.script(fmt::format("INSERT INTO {{s}}.posthorn_meta VALUES ('moved_by', '{}')", id)));
    return tables;
}

result<std::vector<moved_table>> copy_or_nothing(sqlite::moving_file& from, connection& to,
                                                 const move_options& options,
                                                 const sqlite::move_mark& mark) {
    POSTHORN_TRY(from.begin(mark));
    auto copied = [&]() -> result<std::vector<moved_table>> {
        // The file may take its time to be counted.
        POSTHORN_TRY(to.script("BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0"));
        return copy_all(from, to, options, mark.id);
    }();
    if (!copied) {  // The server takes back what is not committed, whatever becomes of us.
        const auto undone = to.script("ROLLBACK");
        static_cast<void>(undone);
        POSTHORN_TRY(from.take_back());
        return copied;
    }
    if (const auto kept = to.script("COMMIT"); !kept) {
        if (!to.is_lost()) {
            POSTHORN_TRY(from.take_back());
            return std::unexpected(kept.error());
        }
        return fail(error_code::commit_in_doubt,
                    "{} Whether the copy is there is not known: run the same command again, it "
                    "finds out. Until then no node starts on the file",
                    kept.error().what());
    }
    return copied;
}

}  // namespace

result<move_report> move_to_server(const move_options& options, const clock& time) {
    POSTHORN_LET(from, sqlite::moving_file::open(options.file));
    POSTHORN_TRY(require_movable(from, options));
    POSTHORN_LET(to, open_server(options, time));
    POSTHORN_TRY(take_schema_alone(*to));
    std::vector<migration_set> sets{store_tables()};
    for (const auto& each : options.above) sets.push_back(each.postgres);
    POSTHORN_TRY(migrate(*to, sets, time));

    move_report report{.to = place_of(options), .tables = {}, .left = {}, .was_there = false};
    POSTHORN_LET(left, from.other_tables());
    const auto copied = copied_tables(options.above);
    std::erase_if(left, [&](const std::string& name) {
        return std::ranges::find(copied, name, &copied_table::name) != copied.end();
    });
    report.left = std::move(left);
    const auto mark = from.mark();
    POSTHORN_TRY(mark);
    const auto earlier = copied_by(*to);
    POSTHORN_TRY(earlier);
    report.was_there = *mark && !earlier->empty() && (*mark)->id == *earlier;
    if (!report.was_there) {
        // Before the file is marked.
        POSTHORN_TRY(require_empty(*to, copied));
        POSTHORN_TRY(require_same_service(from, *to));
        POSTHORN_LET(tables,
                     copy_or_nothing(
                         from, *to, options,
                         {.id = options.id, .to = report.to, .is_done = false, .at = time.wall()}));
        report.tables = std::move(tables);
    }
    POSTHORN_TRY(from.finish());
    return report;
}

result<> take_move_back(const move_options& options, const clock& time) {
    POSTHORN_LET(from, sqlite::moving_file::open(options.file));
    const auto mark = from.mark();
    POSTHORN_TRY(mark);
    if (!*mark)
        return fail(error_code::state_changed, "{} was not moved; a node starts on it as it is",
                    options.file);
    if (options.url.empty()) return from.take_back();
    // Looked at elsewhere, a copy would not be found, and a node could start on both.
    if ((*mark)->to != place_of(options))
        return fail(error_code::invalid_configuration,
                    "{} was moved to {}, not to {}; name that URL, and its schema with --schema",
                    options.file, (*mark)->to, place_of(options));
    POSTHORN_LET(to, open_server(options, time));
    POSTHORN_LET(there, to->ask("SELECT to_regclass($name${s}.posthorn_meta$name$) IS NOT NULL"));
    if (there.front().integer(0) == 0) return from.take_back();
    const auto copy = copied_by(*to);
    POSTHORN_TRY(copy);
    if (*copy != (*mark)->id) return from.take_back();
    return fail(error_code::state_changed,
                "the copy is still in the schema {0}: a node could start on both. If what happened "
                "there since may be lost, DROP SCHEMA {0} CASCADE, and run this again",
                to->schema());
}

}  // namespace posthorn::postgres
