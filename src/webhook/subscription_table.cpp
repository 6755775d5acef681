#include "webhook/subscription_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include <fmt/format.h>

#include "store/rows/stored_time.hpp"
#include "store/swallowed.hpp"
#include "webhook/catalogue/second_step.hpp"
#include "webhook/catalogue/third_step.hpp"

namespace posthorn {
namespace {

constexpr std::string_view file_tables = R"sql(
CREATE TABLE IF NOT EXISTS webhook_subscriptions (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT,
    event_type TEXT NOT NULL DEFAULT '*',
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    previous_secret TEXT,
    previous_until INTEGER,
    state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'disabled')),
    reason TEXT,
    style TEXT NOT NULL DEFAULT 'standard' CHECK (style IN ('standard', 'outbox', 'both')),
    form TEXT NOT NULL DEFAULT 'envelope' CHECK (form IN ('envelope', 'raw', 'thin')),
    max_retries INTEGER NOT NULL DEFAULT 5,
    timeout_seconds INTEGER NOT NULL DEFAULT 30,
    headers TEXT,
    filter TEXT,
    description TEXT,
    created_at INTEGER NOT NULL
        DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
    updated_at INTEGER) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS idx_webhook_type ON webhook_subscriptions (event_type, state);
CREATE INDEX IF NOT EXISTS idx_webhook_tenant ON webhook_subscriptions (tenant, state)
    WHERE tenant IS NOT NULL;
INSERT OR IGNORE INTO posthorn_meta VALUES ('webhook_version', 1);
CREATE TRIGGER IF NOT EXISTS webhook_inserted AFTER INSERT ON webhook_subscriptions
    BEGIN UPDATE posthorn_meta SET value = value + 1 WHERE name = 'webhook_version'; END;
CREATE TRIGGER IF NOT EXISTS webhook_updated AFTER UPDATE ON webhook_subscriptions
    BEGIN UPDATE posthorn_meta SET value = value + 1 WHERE name = 'webhook_version'; END;
CREATE TRIGGER IF NOT EXISTS webhook_deleted AFTER DELETE ON webhook_subscriptions
    BEGIN UPDATE posthorn_meta SET value = value + 1 WHERE name = 'webhook_version'; END;
CREATE TABLE IF NOT EXISTS webhook_attempts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    subscription_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    status INTEGER NOT NULL,
    http_status INTEGER,
    answer TEXT,
    error TEXT,
    duration_ms INTEGER NOT NULL DEFAULT 0,
    at INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS idx_webhook_attempts_message
    ON webhook_attempts (message_id, subscription_id);
CREATE INDEX IF NOT EXISTS idx_webhook_attempts_subscription
    ON webhook_attempts (subscription_id, at);
CREATE INDEX IF NOT EXISTS idx_webhook_attempts_at ON webhook_attempts (at);
CREATE TABLE IF NOT EXISTS webhook_failing (
    subscription_id TEXT NOT NULL PRIMARY KEY,
    since INTEGER NOT NULL,
    last INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    told INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
)sql";

constexpr std::array file_steps{migration{1, file_tables}, migration{2, webhook_step_2_in_file},
                                migration{3, webhook_step_3_in_file, webhook_step_3_remade}};

constexpr std::string_view server_tables = R"sql(
CREATE TABLE {s}.webhook_subscriptions (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    tenant text,
    event_type text NOT NULL DEFAULT '*',
    url text NOT NULL,
    secret text NOT NULL,
    previous_secret text,
    previous_until bigint,
    state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'disabled')),
    reason text,
    style text NOT NULL DEFAULT 'standard' CHECK (style IN ('standard', 'outbox', 'both')),
    form text NOT NULL DEFAULT 'envelope' CHECK (form IN ('envelope', 'raw', 'thin')),
    max_retries bigint NOT NULL DEFAULT 5,
    timeout_seconds bigint NOT NULL DEFAULT 30,
    headers text,
    filter text,
    description text,
    created_at bigint NOT NULL DEFAULT {s}.to_ms(statement_timestamp()),
    updated_at bigint);
CREATE INDEX webhook_type ON {s}.webhook_subscriptions (event_type, state);
CREATE INDEX webhook_tenant ON {s}.webhook_subscriptions (tenant, state) WHERE tenant IS NOT NULL;
INSERT INTO {s}.posthorn_meta (name, value) VALUES ('webhook_version', '1');
CREATE FUNCTION {s}.webhook_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE {s}.posthorn_meta SET value =
        coalesce(substring(value FROM '^[0-9]{1,15}$'), '0')::bigint + 1
        WHERE name = 'webhook_version';
    RETURN NULL;
END $$;
CREATE TRIGGER webhook_changed AFTER INSERT OR UPDATE OR DELETE ON {s}.webhook_subscriptions
    FOR EACH STATEMENT EXECUTE FUNCTION {s}.webhook_changed();
CREATE TABLE {s}.webhook_attempts (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL,
    message_id text NOT NULL,
    subscription_id text NOT NULL,
    attempt bigint NOT NULL,
    status bigint NOT NULL,
    http_status bigint,
    answer text,
    error text,
    duration_ms bigint NOT NULL DEFAULT 0,
    at bigint NOT NULL) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX webhook_attempts_message ON {s}.webhook_attempts (message_id, subscription_id);
CREATE INDEX webhook_attempts_subscription ON {s}.webhook_attempts (subscription_id, at);
CREATE INDEX webhook_attempts_at ON {s}.webhook_attempts (at);
CREATE TABLE {s}.webhook_failing (
    subscription_id text COLLATE "C" NOT NULL PRIMARY KEY,
    since bigint NOT NULL,
    last bigint NOT NULL,
    failures bigint NOT NULL,
    told bigint NOT NULL DEFAULT 0);
)sql";

constexpr std::array server_steps{migration{1, server_tables},
                                  migration{2, webhook_step_2_on_server},
                                  migration{3, webhook_step_3_on_server}};

using column = copied_table::column;
using enum copied_table::column::kind;
constexpr std::array subscription_columns{column{"id"},
                                          column{"tenant"},
                                          column{"event_type"},
                                          column{"url"},
                                          column{"secret"},
                                          column{"previous_secret"},
                                          column{"previous_until", number},
                                          column{"state"},
                                          column{"reason", note},
                                          column{"style"},
                                          column{"form"},
                                          column{"max_retries", number},
                                          column{"timeout_seconds", number},
                                          column{"headers"},
                                          column{"filter"},
                                          column{"description", note},
                                          column{"created_at", number},
                                          column{"updated_at", number}};
constexpr std::array attempt_columns{column{"seq", number},         column{"id"},
                                     column{"message_id"},          column{"subscription_id"},
                                     column{"attempt", number},     column{"status", number},
                                     column{"http_status", number}, column{"answer", note},
                                     column{"error", note},         column{"duration_ms", number},
                                     column{"at", number}};
constexpr std::array failing_columns{column{"subscription_id"}, column{"since", number},
                                     column{"last", number}, column{"failures", number},
                                     column{"told", number}};
constexpr std::array copied{
    copied_table{.name = "webhook_subscriptions", .columns = subscription_columns},
    copied_table{.name = "webhook_attempts", .columns = attempt_columns, .numbered_by = "seq"},
    copied_table{.name = "webhook_failing", .columns = failing_columns},
    copied_table{.name = "webhook_event_types", .columns = event_type_columns}};

constexpr std::string_view all_columns =
    "id, tenant, event_type, url, secret, previous_secret, previous_until, state, reason, style,"
    " form, max_retries, timeout_seconds, headers, filter, description, created_at, updated_at";

/// The texts of a row, and how many bytes of each are read: more than any that is right has.
struct text_column {
    std::string_view name;
    std::size_t bytes_max;
};
constexpr std::array read_texts{text_column{"id", 100},
                                text_column{"tenant", 4'096},
                                text_column{"event_type", 4'096},
                                text_column{"url", 4'096},
                                text_column{"secret", 4'096},
                                text_column{"previous_secret", 4'096},
                                text_column{"state", 100},
                                text_column{"reason", 65'536},
                                text_column{"style", 100},
                                text_column{"form", 100},
                                text_column{"headers", 1'048'576},
                                text_column{"filter", 65'536},
                                text_column{"description", 65'536}};

/// All columns, and at the end the name of one that is too large. Its length is looked at where it
/// lies: any program may have written it, of any size.
const std::string& read_columns() {
    static const std::string made = [] {
        std::string columns(all_columns), which = ", CASE";
        for (const auto& [name, bytes_max] : read_texts) {
            const auto fits = fmt::format("octet_length({}) <= {}", name, bytes_max);
            const auto word = fmt::format(", {},", name);
            const auto at = (", " + columns + ",").find(word);
            columns.replace(at, name.size(), fmt::format("CASE WHEN {} THEN {} END", fits, name));
            which += fmt::format(" WHEN NOT {} THEN '{}'", fits, name);
        }
        return columns + which + " END";
    }();
    return made;
}

std::int64_t ms(wall_time time) { return time.time_since_epoch().count(); }

sql_param or_null(std::string_view text) {
    if (text.empty()) return nullptr;
    return text;
}

sql_param or_null(const std::optional<wall_time>& time) {
    if (!time) return nullptr;
    return ms(*time);
}

std::optional<wall_time> time_or_none(const sql_row& row, std::size_t at) {
    if (row.is_null(at)) return std::nullopt;
    return bounded_from_ms(row.integer(at));
}

// What plain SQL has written is taken as far as it can be understood; `check` says what cannot.
subscription read(const sql_row& row) {
    subscription one;
    one.id = uuid::parse(row.text(0)).value_or(uuid{});
    one.tenant = row.text(1);
    one.event_type = row.text(2);
    one.url = row.text(3);
    one.secret = row.text(4);
    one.previous_secret = row.text(5);
    one.previous_until = time_or_none(row, 6);
    one.state = parse_subscription_state(row.text(7)).value_or(subscription_state::disabled);
    one.reason = row.text(8);
    one.style = parse_webhook_style(row.text(9)).value_or(webhook_style::standard);
    one.form = parse_webhook_form(row.text(10)).value_or(webhook_form::envelope);
    one.max_retries = static_cast<std::int32_t>(std::clamp<std::int64_t>(row.integer(11), 0, 50));
    one.timeout = std::chrono::seconds(std::clamp<std::int64_t>(row.integer(12), 1, 120));
    one.headers = row.text(13);
    one.filter = row.text(14);
    one.description = row.text(15);
    one.created_at = bounded_from_ms(row.integer(16));
    one.updated_at = time_or_none(row, 17);
    one.too_large = row.text(18);
    return one;
}

std::array<sql_param, 18> params_of(const subscription& one, const std::string& id) {
    return {std::string_view(id),
            or_null(one.tenant),
            std::string_view(one.event_type),
            std::string_view(one.url),
            std::string_view(one.secret),
            or_null(one.previous_secret),
            or_null(one.previous_until),
            to_string(one.state),
            or_null(one.reason),
            to_string(one.style),
            to_string(one.form),
            std::int64_t{one.max_retries},
            std::int64_t{one.timeout.count()},
            or_null(one.headers),
            or_null(one.filter),
            or_null(one.description),
            ms(one.created_at),
            or_null(one.updated_at)};
}

result<> insert_some(store_transaction& tx, std::span<const webhook_attempt> some) {
    std::string sql =
        "INSERT INTO webhook_attempts (id, message_id, subscription_id, attempt, status,"
        " http_status, answer, error, duration_ms, at) VALUES ";
    std::vector<std::string> ids;  // Where parameters point, so it never grows.
    ids.reserve(some.size() * 3);
    const auto text = [&ids](const uuid& one) -> std::string_view {
        return ids.emplace_back(one.to_string());
    };
    std::vector<sql_param> with;
    with.reserve(some.size() * 10);
    for (const auto& one : some) {
        sql += with.empty() ? "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" : ", (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        with.insert(with.end(), {text(one.id), text(one.event), text(one.subscription),
                                 std::int64_t{one.number}, static_cast<std::int64_t>(one.what),
                                 one.http_status ? sql_param(*one.http_status) : sql_param(nullptr),
                                 or_null(one.answer), or_null(one.error), one.took_ms, ms(one.at)});
    }
    return tx.run(sql, with);
}

}  // namespace

table_set webhook_tables() noexcept {
    return {{"webhook", file_steps}, {"webhook", server_steps}, copied};
}

result<> insert_subscription(store_transaction& tx, const subscription& one) {
    const auto id = one.id.to_string();
    const auto sql = fmt::format(
        "INSERT INTO webhook_subscriptions ({}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
        " ?, ?, ?, ?)",
        all_columns);
    POSTHORN_LET(stored, tx.execute(sql, params_of(one, id)));
    if (stored == 0) return swallowed("webhook_subscriptions");
    return {};
}

result<bool> update_subscription(store_transaction& tx, const subscription& one) {
    if (!one.too_large.empty())
        return fail(error_code::invalid_argument,
                    "its {} in webhook_subscriptions is too large to be read; set that by SQL, or "
                    "remove the subscription and add it anew",
                    one.too_large);
    const auto id = one.id.to_string();
    const auto all = params_of(one, id);
    std::vector<sql_param> with(all.begin() + 1, all.end());
    with.push_back(all.front());
    POSTHORN_LET(changed,
                 tx.execute("UPDATE webhook_subscriptions SET tenant = ?, event_type = ?, url = ?,"
                            " secret = ?, previous_secret = ?, previous_until = ?, state = ?,"
                            " reason = ?, style = ?, form = ?, max_retries = ?,"
                            " timeout_seconds = ?, headers = ?, filter = ?, description = ?,"
                            " created_at = ?, updated_at = ? WHERE id = ?",
                            with));
    return changed != 0;
}

result<bool> delete_subscription(store_transaction& tx, const uuid& id) {
    const auto text = id.to_string();
    const std::array<sql_param, 1> with{std::string_view(text)};
    POSTHORN_LET(changed, tx.execute("DELETE FROM webhook_subscriptions WHERE id = ?", with));
    return changed != 0;
}

result<std::optional<subscription>> find_subscription(store_transaction& tx, const uuid& id) {
    const auto text = id.to_string();
    const std::array<sql_param, 1> with{std::string_view(text)};
    std::optional<subscription> found;
    const auto sql =
        fmt::format("SELECT {} FROM webhook_subscriptions WHERE id = ?", read_columns());
    POSTHORN_TRY(tx.query(sql, with, [&](const sql_row& row) { found = read(row); }));
    return found;
}

result<std::vector<subscription>> read_subscriptions(store_reader& from) {
    std::vector<subscription> all;
    const auto sql =
        fmt::format("SELECT {} FROM webhook_subscriptions ORDER BY created_at, id", read_columns());
    POSTHORN_TRY(from.query(sql, {}, [&](const sql_row& row) { all.push_back(read(row)); }));
    return all;
}

result<std::optional<std::int64_t>> read_subscriptions_version(store_reader& from) {
    std::optional<std::int64_t> version;
    POSTHORN_TRY(from.query(
        "SELECT CAST(value AS text) FROM posthorn_meta WHERE name = 'webhook_version'", {},
        [&](const sql_row& row) {
            const auto text = row.text(0);
            std::int64_t number = 0;
            const auto [stopped, wrong] = std::from_chars(text.begin(), text.end(), number);
            if (wrong == std::errc{} && stopped == text.end()) version = number;
        }));
    return version;
}

result<> insert_attempts(store_transaction& tx, std::span<const webhook_attempt> all) {
    // Few enough that the statements of all sizes can stay prepared.
    constexpr std::size_t rows_in_statement = 32;
    for (; !all.empty(); all = all.subspan(std::min(all.size(), rows_in_statement)))
        POSTHORN_TRY(insert_some(tx, all.first(std::min(all.size(), rows_in_statement))));
    return {};
}

result<std::int64_t> delete_attempts_before(store_transaction& tx, wall_time before,
                                            std::int64_t limit) {
    const std::array<sql_param, 2> with{ms(before), limit};
    return tx.execute(
        "DELETE FROM webhook_attempts WHERE seq IN (SELECT seq FROM webhook_attempts WHERE at < ?"
        " ORDER BY at LIMIT ?)",
        with);
}

}  // namespace posthorn
