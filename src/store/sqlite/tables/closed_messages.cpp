#include "store/sqlite/tables/closed_messages.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "store/dead_letters.hpp"
#include "store/rows/stored_time.hpp"
#include "store/rules/cause.hpp"

namespace posthorn::sqlite {

closed_messages::closed_messages(connection& database)
    : set_(database, "UPDATE outbox_closed SET at = ?2, cause_id = ?3 WHERE seq = ?1"),
      add_(database, R"sql(
          INSERT OR IGNORE INTO outbox_closed (seq, status, at, cause_id)
          VALUES (?1, ?4, ?2, ?3))sql"),
      message_(database, R"sql(
          SELECT destination, endpoint, last_error FROM outbox_messages WHERE seq = ?)sql"),
      find_(database, R"sql(
          SELECT cause_id FROM outbox_causes
          WHERE destination = ? AND endpoint = ? AND cause = ?)sql"),
      count_(database, "SELECT count(*) FROM outbox_causes"),
      drop_unused_(database, "DELETE FROM outbox_causes WHERE dead <= 0"),
      insert_(database, R"sql(
          INSERT INTO outbox_causes (destination, endpoint, cause, first_at, last_at)
          VALUES (?1, ?2, ?3, ?4, ?4))sql"),
      ungrouped_(database, R"sql(
          SELECT seq, at FROM outbox_closed INDEXED BY idx_outbox_closed_new
          WHERE status = 'Dead' AND cause_id IS NULL LIMIT ?)sql") {}

result<> closed_messages::record(std::int64_t seq, outbox_status status, wall_time at) {
    std::optional<std::int64_t> cause;
    if (status == outbox_status::dead) {
        POSTHORN_LET(found, cause_of(seq, at));
        if (found > 0) cause = found;
    }
    POSTHORN_LET(set, set_.run(seq, to_ms(at), cause));
    if (set.changed() > 0) return {};
    // Somebody took the trigger's row away.
    POSTHORN_TRY(add_.run(seq, to_ms(at), cause, to_string(status)));
    return {};
}

result<std::int64_t> closed_messages::cause_of(std::int64_t seq, wall_time at) {
    POSTHORN_LET(found, message_.run(seq));
    if (found.empty()) return 0;
    const auto& row = found.front();
    return find_or_add(row.text(0), row.text(1), normalise_cause(row.text(2)), at);
}

result<std::int64_t> closed_messages::find_or_add(std::string_view destination,
                                                  std::string_view endpoint, std::string_view cause,
                                                  wall_time at) {
    {
        POSTHORN_LET(found, find_.run(destination, endpoint, cause));
        if (!found.empty()) return found.front().integer(0);
    }
    constexpr std::string_view other = "other";
    POSTHORN_LET(full, is_full());
    // One for everything more: whoever causes so many has errors that tell nothing.
    if (full && !destination.empty()) return find_or_add("", "", other, at);
    POSTHORN_TRY(insert_.run(destination, endpoint, cause, to_ms(at)));
    return insert_.inserted();
}

result<bool> closed_messages::is_full() {
    const auto counted = [this]() -> result<bool> {
        POSTHORN_LET(found, count_.run());
        return found.front().integer(0) >= static_cast<std::int64_t>(causes_max);
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
    std::vector<std::pair<std::int64_t, wall_time>> dead;
    {
        POSTHORN_LET(found, ungrouped_.run(limit));
        POSTHORN_TRY(found.each([&](const sql_row& row) {
            dead.emplace_back(row.integer(0), from_ms(row.integer(1)));
        }));
    }
    for (const auto& [seq, at] : dead) POSTHORN_TRY(record(seq, outbox_status::dead, at));
    return std::ssize(dead);
}

}  // namespace posthorn::sqlite
