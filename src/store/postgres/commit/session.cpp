#include "store/postgres/commit/session.hpp"

#include <utility>

#include <libpq-fe.h>

#include "store/postgres/schema/schema_use.hpp"

namespace posthorn::postgres {
namespace {

constexpr int oldest_server = 140000;
// PostgreSQL cuts longer names.
constexpr std::size_t name_max = 63;

result<> require_usable(connection& database) {
    if (PQserverVersion(database.handle()) < oldest_server)
        return fail(
            error_code::invalid_configuration,
            "the server is older than PostgreSQL 14, which Posthorn needs; use a newer one");
    const char* const encoding = PQparameterStatus(database.handle(), "server_encoding");
    if (encoding != nullptr && std::string_view(encoding) != "UTF8")
        return fail(error_code::invalid_configuration,
                    "the database's encoding is {}; Posthorn needs UTF8: CREATE DATABASE ... "
                    "ENCODING 'UTF8' TEMPLATE template0",
                    encoding);
    return {};
}

}  // namespace

std::string channel_of(std::string_view schema) {
    return ("posthorn " + std::string(schema)).substr(0, name_max);
}

// Twice a lease: a handler that merely takes long has that much.
result<> limit_silence(connection& database) {
    return database.script(
        "SELECT set_config(name, most, false) FROM pg_settings JOIN (VALUES"
        " ('idle_in_transaction_session_timeout', '20000'), ('tcp_user_timeout', '20000'),"
        " ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'),"
        " ('tcp_keepalives_count', '3')) AS ours(name, most) USING (name)"
        " WHERE CASE WHEN setting ~ '^[0-9]+$'"
        " THEN setting::bigint NOT BETWEEN 1 AND most::bigint END");
}

result<std::unique_ptr<connection>> connect(const session_options& options, const clock& time) {
    auto opened = connection::open(options.connect, time);
    if (!opened) return opened;
    POSTHORN_TRY(require_usable(**opened));
    // A stronger promise of the server's stays. Compiling queries costs more than ours take.
    POSTHORN_TRY((*opened)->script(
        "SET jit = off; SET standard_conforming_strings = on; SET bytea_output = 'hex';"
        "SELECT set_config('synchronous_commit', 'on', false)"
        " WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply');"
        // After the application's own, so that our names never hide theirs.
        "SELECT set_config('search_path', concat_ws(', ', nullif(current_setting('search_path'),"
        " ''), $name${s}$name$), false)"));
    POSTHORN_TRY(limit_silence(**opened));
    POSTHORN_TRY(join_schema(**opened));
    return opened;
}

namespace {

result<std::int64_t> backend_of(connection& database) {
    POSTHORN_LET(asked, database.ask("SELECT pg_backend_pid()"));
    return asked.front().integer(0);
}

}  // namespace

// A pooler tells numbers of its own to who connects. In transaction mode the backend of a session
// that does nothing serves the next one that does something.
result<> require_kept_session(connection& one, const session_options& options, const clock& time) {
    const auto first = backend_of(one);
    POSTHORN_TRY(first);
    if (*first == one.backend()) return {};
    POSTHORN_LET(other, connection::open(options.connect, time));
    const auto second = backend_of(*other);
    POSTHORN_TRY(second);
    if (*first != *second) return {};
    return fail(error_code::invalid_configuration,
                "there is a pooler in transaction mode before the server (pool_mode = "
                "transaction), which mixes sessions up; Posthorn keeps its sessions, with prepared "
                "statements and LISTEN: use pool_mode = session, or name the server itself in "
                "store.url. Your application may stay with the pooler");
}

result<std::unique_ptr<session>> session::open(const session_options& options, const clock& time) {
    POSTHORN_LET(database, connect(options, time));
    POSTHORN_LET(
        silence,
        database->ask(
            "SELECT setting FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'"));
    POSTHORN_TRY(database->begin_pipeline());
    std::unique_ptr<session> made(new session(std::move(database), options, time));
    made->silence_max_ = std::chrono::milliseconds{silence.front().integer(0)};
    POSTHORN_TRY(made->keep_writer());
    return made;
}

result<> session::keep_writer() {
    const auto now = to_ms(time_.wall());
    make_writer_.defer(writer_, now);
    POSTHORN_TRY(keep_writer_.run(writer_, now));
    return {};
}

session::session(std::unique_ptr<connection> database, const session_options& options,
                 const clock& time)
    : database_(std::move(database)),
      time_(time),
      writer_(options.writer),
      make_writer_(*database_, R"sql(
          INSERT INTO {s}.posthorn_commits (writer, number, at)
          VALUES ($1, 0, $2)
          ON CONFLICT DO NOTHING)sql"),
      // A session that was lost may have it locked.
      keep_writer_(*database_, R"sql(
          UPDATE {s}.posthorn_commits SET at = $2::bigint
          WHERE writer IN (SELECT writer FROM {s}.posthorn_commits WHERE writer = $1
              AND at < $2::bigint - 86400000 FOR UPDATE SKIP LOCKED))sql"),
      // What only read has nothing to be in doubt about.
      count_(*database_, R"sql(
          INSERT INTO {s}.posthorn_commits (writer, number, at)
          SELECT $1::text, $2::bigint, $3::bigint
          WHERE pg_current_xact_id_if_assigned() IS NOT NULL
          ON CONFLICT (writer) DO UPDATE SET number = excluded.number, at = excluded.at
          RETURNING CASE WHEN current_setting('synchronous_commit') NOT IN ('on',
              'remote_apply') THEN set_config('synchronous_commit', 'on', true) END)sql"),
      last_(*database_, "SELECT number FROM {s}.posthorn_commits WHERE writer = $1 FOR UPDATE"),
      end_old_(*database_, R"sql(
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE pid = $1 AND usename = current_user AND application_name =
              current_setting('application_name') AND pid <> pg_backend_pid())sql"),
      forget_(*database_, R"sql(
          DELETE FROM {s}.posthorn_commits
          WHERE writer = $1 OR writer LIKE $1 || '/%' OR at < $2)sql"),
      notify_(*database_, "SELECT pg_notify($1, $2) IS NULL"),
      claim_as_(*database_, "SELECT set_config('posthorn.claim', $1, false)"),
      transaction_(*database_, time, options.rules, options.writer) {}

result<> session::claim_as(std::int64_t epoch) {
    if (epoch == claims_as_) return {};
    POSTHORN_TRY(claim_as_.run(epoch == 0 ? std::string() : std::to_string(epoch)));
    claims_as_ = epoch;
    transaction_.outbox().claim_as(epoch);
    transaction_.keys().claim_as(epoch);
    return {};
}

void session::count_commit(std::int64_t number, wall_time now) {
    count_.defer(writer_, number, to_ms(now));
}

// The row is locked by who changed it until that one has ended, one way or the other. A backend
// that waits for a client that is gone would hold it for long, so it is ended.
result<std::int64_t> session::last_commit(int old_backend) {
    POSTHORN_TRY(end_old_.run(std::int64_t{old_backend}));
    constexpr std::chrono::seconds patience{30};
    database_->set_deadline(time_.steady() + patience);
    auto found = last_.run(writer_);
    database_->set_deadline(std::nullopt);
    if (!found) return std::unexpected(std::move(found).error());
    return found->empty() ? 0 : found->front().integer(0);
}

result<> session::notify() {
    auto schema = database_->schema();
    POSTHORN_TRY(notify_.run(channel_of(schema), writer_));
    return {};
}

void session::forget_writer() {
    constexpr std::chrono::hours kept{24 * 7};
    const auto done = forget_.run(writer_, to_ms(time_.wall() - kept));
    static_cast<void>(done);  // It is forgotten by another, a week later.
}

}  // namespace posthorn::postgres
