#include "store/postgres/driver/connection.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <libpq-fe.h>
#include <poll.h>

#include "base/assert.hpp"
#include "store/postgres/driver/failures.hpp"
#include "store/postgres/driver/sql_text.hpp"

namespace posthorn::postgres {
namespace {

constexpr std::chrono::seconds cancel_patience{10};

}  // namespace

void connection::closer::operator()(pg_conn* handle) const noexcept { PQfinish(handle); }

connection::connection(pg_conn* handle, const clock& time, std::string schema)
    : time_(time), schema_(std::move(schema)), handle_(handle) {}

connection::~connection() = default;

result<std::unique_ptr<connection>> connection::open(const connect_options& options,
                                                     const clock& time) {
    // What the URL says itself comes later and counts. A peer that is gone without a word is
    // noticed within seconds, and not after hours.
    const std::array names{"fallback_application_name",
                           "client_encoding",
                           "connect_timeout",
                           "keepalives_idle",
                           "keepalives_interval",
                           "keepalives_count",
                           "tcp_user_timeout",
                           "dbname",
                           static_cast<const char*>(nullptr)};
    const std::array given{options.application.c_str(),
                           "UTF8",
                           "10",
                           "10",
                           "5",
                           "3",
                           "20000",
                           options.url.c_str(),
                           static_cast<const char*>(nullptr)};
    std::unique_ptr<connection> made(new connection(
        PQconnectdbParams(names.data(), given.data(), 1), time, quoted_identifier(options.schema)));
    if (PQstatus(made->handle()) != CONNECTION_OK)
        return std::unexpected(connect_failure(made->handle(), options.url));
    // Notices are for people at a terminal.
    PQsetNoticeProcessor(made->handle(), [](void*, const char*) {}, nullptr);
    return made;
}

statement::statement(connection& on, std::string_view sql)
    : on_(&on), sql_(with_schema(sql, on.schema_)), name_(fmt::format("p{}", ++on.statements_)) {}

statement connection::prepare_foreign(std::string sql, std::vector<unsigned> types) {
    statement made;
    made.on_ = this;
    made.sql_ = std::move(sql);
    made.name_ = fmt::format("p{}", ++statements_);
    made.types_ = std::move(types);
    made.answers_text_ = true;
    return made;
}

result<> connection::script(const std::string& sql) {
    POSTHORN_TRY(ask(sql));
    return {};
}

result<rows> connection::ask(const std::string& sql) {
    PGresult* const raw = PQexec(handle(), with_schema(sql, schema_).c_str());
    rows answer(raw);
    const auto status = PQresultStatus(raw);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return answer;
    return std::unexpected(failure_of(raw));
}

error connection::failure_of(const pg_result* answer) {
    if (is_lost()) return lost_error();
    const char* const code = PQresultErrorField(answer, PG_DIAG_SQLSTATE);
    last_state_ = code == nullptr ? "" : code;
    return statement_failure(answer, handle(), cancelled_, schema_);
}

result<> connection::begin_pipeline() {
    if (PQsetnonblocking(handle(), 1) != 0 || PQenterPipelineMode(handle()) != 1)
        return std::unexpected(lost_error());
    return {};
}

void connection::defer(std::string sql) { line_.push_back({.sql = std::move(sql)}); }

bool connection::take_back(std::string_view sql) {
    if (line_.empty() || line_.back().sql != sql) return false;
    line_.pop_back();
    return true;
}

result<rows> statement::run_with(values with) {
    defer_with(std::move(with));
    return on_->flush();
}

void statement::defer_with(values with) {
    ++on_->statements_run_;
    on_->line_bytes_ += with.bytes();
    on_->line_.push_back({.prepared = this, .with = std::move(with)});
}

result<rows> connection::run_once(std::string_view sql, values with) {
    ++statements_run_;
    line_.push_back({.sql = std::string(sql), .with = std::move(with)});
    return flush();
}

void connection::drop_line() noexcept {
    line_.clear();
    line_bytes_ = 0;
}

bool connection::is_spoilt() const { return PQtransactionStatus(handle()) == PQTRANS_INERROR; }

bool connection::is_lost() const { return unusable_ || PQstatus(handle_.get()) != CONNECTION_OK; }

int connection::backend() const { return PQbackendPID(handle_.get()); }

error connection::lost_error() {
    last_state_.clear();
    return lost_failure(handle());
}

bool connection::send(command& one) {
    constexpr int as_text = 0;
    constexpr int as_bytes = 1;
    if (one.prepared == nullptr)
        return PQsendQueryParams(handle(), one.sql.c_str(), one.with.size(), one.with.types(),
                                 one.with.data(), one.with.lengths(), one.with.formats(),
                                 as_text) == 1;
    auto& known = *one.prepared;
    return PQsendQueryPrepared(handle(), known.name_.c_str(), one.with.size(), one.with.data(),
                               one.with.lengths(), one.with.formats(),
                               known.answers_text_ ? as_text : as_bytes) == 1;
}

bool connection::send_preparation(const statement& of) {
    return PQsendPrepare(handle(), of.name_.c_str(), of.sql_.c_str(),
                         static_cast<int>(of.types_.size()), of.types_.data()) == 1;
}

void connection::hear_silence() noexcept {
    silence_ = {};
    spoke_at_.reset();
}

result<rows> connection::flush() {
    if (spoke_at_) silence_ = std::max(silence_, time_.steady() - *spoke_at_);
    auto answer = send_line();
    spoke_at_ = time_.steady();
    return answer;
}

result<rows> connection::send_line() {
    last_state_.clear();
    if (!line_.empty() && line_.back().with.has_zero_byte()) {
        line_.pop_back();  // Those before it are none the worse.
        return fail(error_code::invalid_argument,
                    "a text holds a zero byte, which PostgreSQL cannot store; send it as bytes");
    }
    auto sent = std::exchange(line_, {});
    line_bytes_ = 0;
    if (is_lost()) return std::unexpected(lost_error());
    // Those that are new are prepared first, each once, though they may stand in line twice.
    std::deque<command> all;
    std::vector<statement*> fresh;
    for (auto& one : sent) {
        if (one.prepared != nullptr && !one.prepared->prepared_ &&
            std::ranges::find(fresh, one.prepared) == fresh.end()) {
            fresh.push_back(one.prepared);
            all.push_back({.sql = "prepare", .prepared = one.prepared});
        }
        all.push_back(std::move(one));
    }
    for (auto& one : all) {
        const bool prepares = one.prepared != nullptr && one.sql == "prepare";
        const bool ok = prepares ? send_preparation(*one.prepared) : send(one);
        if (!ok) {
            unusable_ = true;
            return std::unexpected(lost_error());
        }
    }
    if (PQpipelineSync(handle()) != 1) return std::unexpected(lost_error());
    cancelled_ = false;
    return read_answers(all.size(), all);
}

result<rows> connection::read_answers(std::size_t count, const std::deque<command>& sent) {
    std::optional<error> failed;
    std::string state;
    rows last;
    for (std::size_t i = 0; i < count; ++i) {
        for (;;) {
            POSTHORN_LET(answer, next_answer());
            if (answer == nullptr) break;
            rows one(answer);
            const auto status = PQresultStatus(answer);
            if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
                if (sent[i].sql == "prepare" && sent[i].prepared != nullptr)
                    sent[i].prepared->prepared_ = true;
                last = std::move(one);
            } else if (status == PGRES_PIPELINE_ABORTED) {
                continue;
            } else if (!failed) {
                failed = statement_failure(answer, handle(), cancelled_, schema_);
                const char* const code = PQresultErrorField(answer, PG_DIAG_SQLSTATE);
                state = code == nullptr ? "" : code;
            }
            if (is_lost()) break;
        }
        if (is_lost()) break;
    }
    if (!is_lost()) {
        POSTHORN_LET(end, next_answer());
        const rows sync(end);
    }
    last_state_ = state;
    if (is_lost()) {
        auto lost = lost_error();
        last_state_ = state;
        // Without an SQLSTATE it is not the server's: libpq only found the connection lost.
        return std::unexpected(failed && !state.empty() ? std::move(*failed) : std::move(lost));
    }
    if (failed) return std::unexpected(*std::move(failed));
    return last;
}

result<pg_result*> connection::next_answer() {
    POSTHORN_TRY(wait_for_answer());
    return PQgetResult(handle());
}

result<> connection::wait_for_answer() {
    for (;;) {
        const int unsent = PQflush(handle());
        if (unsent < 0 || PQstatus(handle()) != CONNECTION_OK) return {};  // The answer tells.
        if (PQisBusy(handle()) == 0 && unsent == 0) return {};
        int wait_ms = -1;
        const auto limit = cancelled_ ? given_up_ : deadline_;
        if (limit) {
            const auto left = *limit - time_.steady();
            if (left <= std::chrono::nanoseconds::zero()) {
                if (cancelled_) {
                    unusable_ = true;
                    return std::unexpected(lost_error());
                }
                cancel();
                given_up_ = time_.steady() + cancel_patience;
                continue;
            }
            // Longer waits are made of several.
            wait_ms = static_cast<int>(
                std::chrono::ceil<std::chrono::milliseconds>(
                    std::min<std::chrono::nanoseconds>(left, std::chrono::hours{1}))
                    .count());
        }
        pollfd socket{.fd = PQsocket(handle()),
                      .events = static_cast<short>(unsent > 0 ? POLLIN | POLLOUT : POLLIN),
                      .revents = 0};
        ::poll(&socket, 1, wait_ms);
        if (PQconsumeInput(handle()) != 1) return {};
    }
}

void connection::cancel() {
    cancelled_ = true;
    std::array<char, 256> why{};
    const std::unique_ptr<PGcancel, decltype(&PQfreeCancel)> request(PQgetCancel(handle()),
                                                                     &PQfreeCancel);
    if (request) PQcancel(request.get(), why.data(), static_cast<int>(why.size()));
}

}  // namespace posthorn::postgres
