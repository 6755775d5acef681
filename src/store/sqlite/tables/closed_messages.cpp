#include "store/sqlite/tables/closed_messages.hpp"

#include <utility>
#include <vector>

#include <sqlite3.h>

#include "store/dead_letters.hpp"
#include "store/rules/cause.hpp"
#include "store/sqlite/driver/counting.hpp"
#include "store/sqlite/driver/prepare_all.hpp"
#include "store/sqlite/tables/outbox_insert.hpp"

namespace posthorn::sqlite {

result<closed_messages> closed_messages::open(connection& database) {
    closed_messages made;
    POSTHORN_TRY(prepare_all(
        database, {{&made.set_, "UPDATE outbox_closed SET at = ?2, cause_id = ?3 WHERE seq = ?1"},
                   {&made.add_,
                    "INSERT OR IGNORE INTO outbox_closed (seq, status, at, cause_id) VALUES (?1, "
                    "?4, ?2, ?3)"},
                   {&made.message_,
                    "SELECT destination, endpoint, last_error FROM outbox_messages WHERE seq = ?"},
                   {&made.find_,
                    "SELECT cause_id FROM outbox_causes WHERE destination = ? AND endpoint = ?"
                    " AND cause = ?"},
                   {&made.count_, "SELECT count(*) FROM outbox_causes"},
                   {&made.drop_unused_, "DELETE FROM outbox_causes WHERE dead <= 0"},
                   {&made.insert_,
                    "INSERT INTO outbox_causes (destination, endpoint, cause, first_at, last_at)"
                    " VALUES (?1, ?2, ?3, ?4, ?4)"},
                   {&made.ungrouped_,
                    "SELECT seq, at FROM outbox_closed INDEXED BY idx_outbox_closed_new"
                    " WHERE status = 'Dead' AND cause_id IS NULL LIMIT ?"}}));
    return made;
}

result<> closed_messages::record(std::int64_t seq, outbox_status status, wall_time at) {
    std::int64_t cause = 0;
    if (status == outbox_status::dead) {
        POSTHORN_LET(found, cause_of(seq, at));
        cause = found;
    }
    const auto run = [&](statement& with) -> result<> {
        with.bind(1, seq);
        with.bind(2, to_ms(at));
        if (cause > 0)
            with.bind(3, cause);
        else
            with.bind(3, nullptr);
        return with.run();
    };
    POSTHORN_TRY(run(set_));
    if (sqlite3_changes(sqlite3_db_handle(set_.handle())) > 0) return {};
    add_.bind(4, to_string(status));  // Somebody took the trigger's row away.
    return run(add_);
}

result<std::int64_t> closed_messages::cause_of(std::int64_t seq, wall_time at) {
    const reset_at_end reset(message_);
    message_.bind(1, seq);
    POSTHORN_LET(row, message_.step());
    if (!row) return 0;
    return find_or_add(message_.text(0), message_.text(1), normalise_cause(message_.text(2)), at);
}

result<std::int64_t> closed_messages::find_or_add(std::string_view destination,
                                                  std::string_view endpoint, std::string_view cause,
                                                  wall_time at) {
    {
        const reset_at_end reset(find_);
        find_.bind(1, destination);
        find_.bind(2, endpoint);
        find_.bind(3, cause);
        POSTHORN_LET(row, find_.step());
        if (row) return find_.integer(0);
    }
    constexpr std::string_view other = "other";
    POSTHORN_LET(full, is_full());
    // One for everything more: whoever causes so many has errors that tell nothing.
    if (full && !destination.empty()) return find_or_add("", "", other, at);
    insert_.bind(1, destination);
    insert_.bind(2, endpoint);
    insert_.bind(3, cause);
    insert_.bind(4, to_ms(at));
    POSTHORN_TRY(insert_.run());
    return sqlite3_last_insert_rowid(sqlite3_db_handle(insert_.handle()));
}

result<bool> closed_messages::is_full() {
    const auto counted = [this]() -> result<bool> {
        const reset_at_end reset(count_);
        POSTHORN_TRY(step_to_row(count_));
        return count_.integer(0) >= static_cast<std::int64_t>(causes_max);
    };
    if (full_for_ > 0) {
        --full_for_;
        return true;
    }
    auto full = counted();
    if (!full || !*full) return full;
    POSTHORN_TRY(drop_unused_.run());
    full = counted();
    constexpr int looks_saved = 1'000;  // Counting ten thousand rows for each message is too much.
    if (full && *full) full_for_ = looks_saved;
    return full;
}

result<std::int64_t> closed_messages::group_some(std::size_t limit) {
    std::vector<std::pair<std::int64_t, wall_time>> rows;
    {
        const reset_at_end reset(ungrouped_);
        ungrouped_.bind(1, static_cast<std::int64_t>(limit));
        for (;;) {
            POSTHORN_LET(row, ungrouped_.step());
            if (!row) break;
            rows.emplace_back(ungrouped_.integer(0), from_ms(ungrouped_.integer(1)));
        }
    }
    for (const auto& [seq, at] : rows) POSTHORN_TRY(record(seq, outbox_status::dead, at));
    return std::ssize(rows);
}

}  // namespace posthorn::sqlite
