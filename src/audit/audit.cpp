#include "audit/audit.hpp"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

constexpr std::size_t text_characters_max = 200;

constexpr std::string_view first =
    "CREATE TABLE IF NOT EXISTS posthorn_audit ("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " at INTEGER NOT NULL CHECK (typeof(at) = 'integer'),"
    " who TEXT NOT NULL,"
    " what TEXT NOT NULL,"
    " target TEXT NOT NULL,"
    " outcome TEXT NOT NULL);";

constexpr std::array<migration, 1> steps{{{1, first}}};

constexpr std::string_view first_on_server =
    "CREATE TABLE {s}.posthorn_audit ("
    " seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " at bigint NOT NULL,"
    " who text NOT NULL,"
    " what text NOT NULL,"
    " target text NOT NULL,"
    " outcome text NOT NULL)";

constexpr std::array<migration, 1> steps_on_server{{{1, first_on_server}}};

using column = copied_table::column;
using enum copied_table::column::kind;
constexpr std::array columns{column{"seq", number},  column{"at", number},
                             column{"who", note},    column{"what", note},
                             column{"target", note}, column{"outcome", note}};
constexpr std::array copied{
    copied_table{.name = "posthorn_audit", .columns = columns, .numbered_by = "seq"}};

// Much of it was chosen by the sender of the request.
audit_entry tidy(audit_entry entry) {
    for (auto* text : {&entry.who, &entry.what, &entry.target, &entry.outcome})
        *text = clean_utf8(*text, text_characters_max);
    return entry;
}

result<std::int64_t> insert(store_transaction& tx, const audit_entry& entry, wall_time at) {
    const std::array<sql_param, 5> values{std::int64_t{at.time_since_epoch().count()},
                                          std::string_view(entry.who), std::string_view(entry.what),
                                          std::string_view(entry.target),
                                          std::string_view(entry.outcome)};
    // On a server, a program may have given its rows the numbers that are next.
    constexpr int numbers_tried = 100;
    std::optional<std::int64_t> row;
    for (int tried = 0; !row && tried < numbers_tried; ++tried)
        POSTHORN_TRY(
            tx.query("INSERT INTO posthorn_audit (at, who, what, target, outcome)"
                     " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING seq",
                     values, [&](const sql_row& made) { row = made.integer(0); }));
    if (!row)
        return fail(error_code::statement_failed,
                    "the next numbers of posthorn_audit are taken by rows that a program wrote; "
                    "leave seq out of every INSERT, and delete those rows");
    constexpr std::int64_t rows_kept = 100'000;
    const std::array<sql_param, 1> oldest{*row - rows_kept};
    POSTHORN_TRY(tx.run("DELETE FROM posthorn_audit WHERE seq <= ?", oldest));
    return *row;
}

}  // namespace

table_set audit_tables() noexcept { return {{"admin", steps}, {"admin", steps_on_server}, copied}; }

task<result<std::int64_t>> audit::begin(audit_entry change) {
    change = tidy(std::move(change));
    std::int64_t row = 0;
    POSTHORN_CO_TRY(co_await commit(where_, [&](store_transaction& tx) -> result<> {
        const auto inserted = insert(tx, change, time_.wall());
        POSTHORN_TRY(inserted);
        row = *inserted;
        return {};
    }));
    co_return row;
}

task<> audit::finish(std::int64_t row, audit_entry change) {
    change = tidy(std::move(change));
    log_.info("Admin: {Who} did {What} on {Target}: {Outcome}", {{"Who", change.who},
                                                                 {"What", change.what},
                                                                 {"Target", change.target},
                                                                 {"Outcome", change.outcome}});
    const auto done = co_await commit(where_, [&](store_transaction& tx) -> result<> {
        const std::array<sql_param, 2> values{std::string_view(change.outcome), row};
        POSTHORN_TRY(tx.run("UPDATE posthorn_audit SET outcome = ? WHERE seq = ?", values));
        return {};
    });
    if (!done)
        log_.error("Admin: the outcome of audit row {Row} was not recorded: {Error}",
                   {{"Row", row}, {"Error", done.error().what()}});
}

bool audit::is_to_be_kept(std::uint64_t& left_out) {
    const auto now = time_.steady();
    const std::scoped_lock lock(mutex_);
    if (now - minute_begun_ >= std::chrono::minutes{1}) {
        minute_begun_ = now;
        kept_ = 0;
    }
    if (kept_ >= refusals_per_minute_max) {
        ++left_out_;
        return false;
    }
    ++kept_;
    left_out = std::exchange(left_out_, 0);
    return true;
}

void audit::refused(audit_entry refusal) {
    ++refusals_;
    std::uint64_t left_out = 0;
    if (!is_to_be_kept(left_out)) return;
    if (left_out > 0) refusal.outcome += fmt::format(" (and {} more not kept)", left_out);
    refusal = tidy(std::move(refusal));
    log_.warn("Admin: {Who} was refused {What} on {Target}: {Outcome}",
              {{"Who", refusal.who},
               {"What", refusal.what},
               {"Target", refusal.target},
               {"Outcome", refusal.outcome}});
    where_.submit({.work = [refusal, at = time_.wall()](store_transaction& tx) -> result<> {
                       POSTHORN_TRY(insert(tx, refusal, at));
                       return {};
                   },
                   .done =
                       [&log = log_](const result<>& kept) {
                           if (!kept)
                               log.error("Admin: a refusal was not recorded: {Error}",
                                         {{"Error", kept.error().what()}});
                       }});
}

}  // namespace posthorn
