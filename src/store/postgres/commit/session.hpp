#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/time/clock.hpp"
#include "store/postgres/commit/unit_transaction.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/postgres/driver/fresh_plans.hpp"
#include "store/postgres/tables/outbox_rows.hpp"

namespace posthorn::postgres {

/// What every session of a store needs to know.
struct session_options {
    connect_options connect;
    outbox_rules rules;
    std::string writer;  // The store's own name among those that are open on the schema.
};

/// Connects, and sets a session as a store wants it, before there is a pipeline: a promise is on
/// the server's disk. `error_code::invalid_configuration` for a server that cannot be used.
result<std::unique_ptr<connection>> connect(const session_options& options, const clock& time);

/// Who is frozen, or cut off, keeps others from what its transaction has locked for 20 s and no
/// longer: the server ends its session. An administrator's shorter limits stay.
result<> limit_silence(connection& database);

/// Whether a session stays the same one from one transaction to the next, as it does not behind a
/// pooler in transaction mode: `error_code::invalid_configuration` then. Only looks further where a
/// pooler is in between.
result<> require_kept_session(connection& one, const session_options& options, const clock& time);

/// The writer's session: a connection with all that is prepared on it. When it is lost, all of it
/// is made anew.
///
/// Threads: the writer's.
class session {
public:
    static result<std::unique_ptr<session>> open(const session_options& options, const clock& time);

    [[nodiscard]] connection& database() noexcept { return *database_; }
    [[nodiscard]] unit_transaction& transaction() noexcept { return transaction_; }
    /// After so long without a word within a transaction the server ends the session.
    [[nodiscard]] std::chrono::milliseconds silence_max() const noexcept { return silence_max_; }

    /// Sees to it that its row is there, and that others see that it is in use: they forget what is
    /// a week old. Outside of a transaction.
    result<> keep_writer();
    /// When a transaction has begun.
    void refresh_plans() { plans_.look(*database_, time_.steady()); }
    /// What units store from now on is claimed by the dispatcher of this epoch; zero for none.
    result<> claim_as(std::int64_t epoch);
    /// Goes with the COMMIT of what wrote something, and says so in the table. It is on disk when
    /// it is answered, even if a unit has changed that through a function.
    void count_commit(std::int64_t number, wall_time now);
    /// The number of the last commit, once no backend is at it any more.
    result<std::int64_t> last_commit(int old_backend);
    /// Says to others that there is something new. Outside of a transaction.
    result<> notify();
    /// The store is done, with all its sessions.
    void forget_writer();

private:
    session(std::unique_ptr<connection> database, const session_options& options,
            const clock& time);

    std::unique_ptr<connection> database_;
    const clock& time_;
    std::chrono::milliseconds silence_max_{};
    std::string writer_;
    statement make_writer_;
    statement keep_writer_;
    statement count_;
    statement last_;
    statement end_old_;
    statement forget_;
    statement notify_;
    statement claim_as_;
    std::int64_t claims_as_ = 0;
    fresh_plans plans_;
    unit_transaction transaction_;
};

/// On which stores of a schema tell each other of new messages.
[[nodiscard]] std::string channel_of(std::string_view schema);

}  // namespace posthorn::postgres
