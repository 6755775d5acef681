#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time/clock.hpp"
#include "store/postgres/driver/rows.hpp"
#include "store/postgres/driver/values.hpp"
#include "store/statements/statement_text.hpp"

struct pg_conn;

namespace posthorn::postgres {

class connection;

/// A statement that is prepared the first time it is used, and kept. The answers of ours are
/// binary, so that its columns are bigint, boolean, text or bytea and nothing else; those of others
/// are text.
///
/// Lifetime: not past its connection, which knows it by its address: it is not moved once used.
/// Threads:  its connection's.
class statement {
public:
    statement() = default;
    /// `{s}` in it stands for the schema.
    statement(connection& on, std::string_view sql);
    statement(connection& on, const statement_text& of) : statement(on, of.postgres) {}

    /// Sends it, with all that waits in line before it, and gives its answer.
    template <class... Args>
    result<rows> run(const Args&... args) {
        return run_with(values::of(args...));
    }
    result<rows> run_with(values with);
    /// Puts it in line, to go with the next one whose answer is asked for.
    template <class... Args>
    void defer(const Args&... args) {
        defer_with(values::of(args...));
    }
    void defer_with(values with);

private:
    friend class connection;
    connection* on_ = nullptr;
    std::string sql_;
    std::string name_;
    std::vector<unsigned> types_;  // Of the parameters, as far as we say them.
    bool answers_text_ = false;
    bool prepared_ = false;
};

struct connect_options {
    std::string url;
    std::string schema = "outbox";
    std::string application = "posthorn";
};

/// One session on a server, driven in libpq's pipeline mode.
///
/// Commands whose answers are not waited for stand in line until one comes whose answer is wanted,
/// and travel with it. The first that fails makes the server skip the rest of the line; its error
/// is what the caller gets.
///
/// Lifetime: its statements are gone before it, or not used any more.
/// Threads:  one at a time.
class connection {
public:
    static result<std::unique_ptr<connection>> open(const connect_options& options,
                                                    const clock& time);
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// SQL that is not ours, for values of these types.
    [[nodiscard]] statement prepare_foreign(std::string sql, std::vector<unsigned> types);
    /// Runs statements one after the other, outside of the pipeline; only before it begins.
    result<> script(const std::string& sql);
    /// The same for one that gives rows; they are text.
    result<rows> ask(const std::string& sql);
    /// From here on there is a pipeline, and no more scripts.
    result<> begin_pipeline();

    /// Puts a command without values in line.
    void defer(std::string command);
    /// Takes the last one of the line out of it, if it is this one.
    bool take_back(std::string_view command);
    /// Nothing of the line is run.
    void drop_line() noexcept;
    [[nodiscard]] bool has_line() const noexcept { return !line_.empty(); }
    /// So much waits that it is better sent.
    [[nodiscard]] bool has_long_line() const noexcept { return line_bytes_ > line_bytes_max; }
    /// How many statements were put in line so far, commands without values apart.
    [[nodiscard]] std::uint64_t statements() const noexcept { return statements_run_; }
    /// Whether a statement has failed, so that the transaction only waits to be taken back.
    [[nodiscard]] bool is_spoilt() const;
    /// Sends the line and waits for its end; gives the last answer.
    result<rows> flush();
    /// Runs SQL that is not ours, once; answers are text.
    result<rows> run_once(std::string_view sql, values with);

    /// From then on a statement under way is cancelled; none if empty.
    void set_deadline(std::optional<steady_time> when) { deadline_ = when; }
    /// How long nothing was said to the server between two flushes, at most, since `hear_silence`.
    [[nodiscard]] std::chrono::nanoseconds longest_silence() const noexcept { return silence_; }
    void hear_silence() noexcept;
    /// Nothing can be done with it any more.
    [[nodiscard]] bool is_lost() const;
    /// The five letters of the last error; empty if the server did not say any.
    [[nodiscard]] const std::string& last_state() const noexcept { return last_state_; }
    [[nodiscard]] const std::string& schema() const noexcept { return schema_; }
    [[nodiscard]] error failure_of(const pg_result* answer);
    [[nodiscard]] int backend() const;
    [[nodiscard]] pg_conn* handle() const noexcept { return handle_.get(); }

private:
    friend class statement;
    static constexpr std::size_t line_bytes_max = std::size_t{1} << 20;
    struct command {
        std::string sql{};
        statement* prepared = nullptr;
        values with{};
    };
    struct closer {
        void operator()(pg_conn* handle) const noexcept;
    };

    connection(pg_conn* handle, const clock& time, std::string schema);
    bool send(command& one);
    bool send_preparation(const statement& of);
    result<> wait_for_answer();
    /// One answer; null between two commands.
    result<pg_result*> next_answer();
    result<rows> send_line();
    result<rows> read_answers(std::size_t count, const std::deque<command>& sent);
    void cancel();
    error lost_error();

    const clock& time_;
    std::string schema_;
    std::unique_ptr<pg_conn, closer> handle_;
    std::deque<command> line_;
    std::size_t line_bytes_ = 0;  // Of the values.
    std::optional<steady_time> deadline_;
    std::optional<steady_time> spoke_at_;  // The end of the last flush.
    std::chrono::nanoseconds silence_{};
    bool cancelled_ = false;
    std::optional<steady_time> given_up_;  // Then a cancelled one is past help.
    bool unusable_ = false;                // It did not even answer to a cancellation.
    std::string last_state_;
    std::uint64_t statements_ = 0;  // That were made.
    std::uint64_t statements_run_ = 0;
};

/// What a table that is written once for all stores is made of.
struct driver {
    using connection = postgres::connection;
    using statement = postgres::statement;
    using rows = postgres::rows;

    /// Of what is said for each database, what is said for this one.
    [[nodiscard]] static auto own(const auto& said) { return said.postgres; }
    /// Runs it; what it gives is of no interest.
    template <class... Args>
    static result<> now(statement& one, const Args&... args) {
        POSTHORN_TRY(one.run(args...));
        return {};
    }
    /// The same with the next one.
    template <class... Args>
    static result<> soon(statement& one, const Args&... args) {
        one.defer(args...);
        return {};
    }
    /// Inserts a row, unless its key is there; gives its number, as the statement does.
    template <class... Args>
    static result<std::optional<std::int64_t>> insert_new(statement& one, const Args&... args) {
        POSTHORN_LET(inserted, one.run(args...));
        if (inserted.empty()) return std::nullopt;
        return inserted.front().integer(0);
    }
    /// In one statement, between two looks at the time; and what such a statement is given.
    static constexpr std::size_t rows_per_delete = 100;
    [[nodiscard]] static std::span<const std::int64_t> numbers(std::span<const std::int64_t> of) {
        return of;
    }
    /// Text as the database can hold it.
    [[nodiscard]] static std::string storable(std::string_view text) {
        return postgres::storable(text);
    }
    /// What the columns of a payload are given. Refers to the text.
    [[nodiscard]] static payload_bytes payload(std::string_view bytes) { return {bytes}; }
    /// What a column of bytes is given; nothing if it is empty. Refers to the text.
    [[nodiscard]] static std::optional<blob> bytes_or_null(std::string_view text) {
        if (text.empty()) return std::nullopt;
        return blob{std::as_bytes(std::span(text))};
    }
};

}  // namespace posthorn::postgres
