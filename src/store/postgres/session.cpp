#include "store/postgres/session.hpp"

#include <utility>

#include <libpq-fe.h>

namespace posthorn::postgres {
namespace {

constexpr int oldest_server = 130000;
// PostgreSQL cuts longer names.
constexpr std::size_t name_max = 63;

result<> require_usable(connection& database) {
    if (PQserverVersion(database.handle()) < oldest_server)
        return fail(
            error_code::invalid_configuration,
            "the server is older than PostgreSQL 13, which Posthorn needs; use a newer one");
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
    return opened;
}

result<std::unique_ptr<session>> session::open(const session_options& options, const clock& time) {
    auto database = connect(options, time);
    if (!database) return std::unexpected(std::move(database).error());
    POSTHORN_TRY((*database)->begin_pipeline());
    std::unique_ptr<session> made(new session(*std::move(database), options, time));
    POSTHORN_TRY(made->make_writer_.run(made->writer_, to_ms(time.wall())));
    return made;
}

session::session(std::unique_ptr<connection> database, const session_options& options,
                 const clock& time)
    : database_(std::move(database)),
      time_(time),
      writer_(options.writer),
      make_writer_(database_->prepare("INSERT INTO {s}.posthorn_commits (writer, number, at)"
                                      " VALUES ($1, 0, $2) ON CONFLICT DO NOTHING")),
      // What only read has nothing to be in doubt about.
      count_(database_->prepare("UPDATE {s}.posthorn_commits SET number = $2, at = $3"
                                " WHERE writer = $1"
                                " AND pg_current_xact_id_if_assigned() IS NOT NULL")),
      last_(database_->prepare(
          "SELECT number FROM {s}.posthorn_commits WHERE writer = $1 FOR UPDATE")),
      end_old_(database_->prepare("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                                  " WHERE pid = $1 AND usename = current_user"
                                  " AND application_name = current_setting('application_name')"
                                  " AND pid <> pg_backend_pid()")),
      forget_(database_->prepare("DELETE FROM {s}.posthorn_commits WHERE writer = $1 OR at < $2")),
      notify_(database_->prepare("SELECT pg_notify($1, $2) IS NULL")),
      transaction_(*database_, time, options.rules, options.writer) {}

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
