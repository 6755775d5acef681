#include "store/postgres/tables/closed_messages.hpp"

#include <optional>
#include <utility>

#include "store/dead_letters.hpp"
#include "store/postgres/tables/outbox_rows.hpp"
#include "store/rules/cause.hpp"
#include "store/rules/seq_ranges.hpp"

namespace posthorn::postgres {

change_log::change_log(connection& database)
    : insert_(database, R"sql(
          INSERT INTO {s}.changes (epoch, at, kind, seqs)
          VALUES (coalesce({s}.claimant(),
              (SELECT max(epoch) FROM {s}.posthorn_leases WHERE name LIKE 'dispatcher%'), 0),
              $1, $2, $3))sql") {}

void change_log::append(std::string_view kind, std::vector<std::int64_t> seqs, wall_time at) {
    if (seqs.empty()) return;
    insert_.defer(to_ms(at), kind, to_ranges(std::move(seqs)));
}

closed_messages::closed_messages(connection& database)
    : set_(database, R"sql(
          INSERT INTO {s}.outbox_closed (seq, status, at, cause_id)
          VALUES ($1, $4, $2, $3)
          ON CONFLICT (seq) DO UPDATE SET at = excluded.at, cause_id = excluded.cause_id)sql"),
      message_(database, R"sql(
          SELECT destination, endpoint, coalesce(last_error, '') FROM {s}.outbox_messages
          WHERE seq = $1)sql"),
      find_(database, R"sql(
          SELECT cause_id FROM {s}.outbox_causes
          WHERE destination = $1 AND endpoint = $2 AND cause = $3)sql"),
      count_(database, "SELECT count(*) FROM {s}.outbox_causes"),
      drop_unused_(database, "DELETE FROM {s}.outbox_causes WHERE dead <= 0"),
      // Another node may add the same one at the same time.
      insert_(database, R"sql(
          INSERT INTO {s}.outbox_causes AS c (destination, endpoint, cause, first_at, last_at)
          VALUES ($1, $2, $3, $4, $4)
          ON CONFLICT (destination, endpoint, cause) DO UPDATE
          SET last_at = greatest(c.last_at, excluded.last_at) RETURNING cause_id)sql"),
      ungrouped_(database, R"sql(
          SELECT seq, at FROM {s}.outbox_closed
          WHERE status = 'Dead' AND cause_id IS NULL
          ORDER BY seq LIMIT $1)sql") {}

result<> closed_messages::record(std::int64_t seq, outbox_status status, wall_time at) {
    std::optional<std::int64_t> cause;
    if (status == outbox_status::dead) {
        POSTHORN_LET(found, cause_of(seq, at));
        if (found > 0) cause = found;
    }
    set_.defer(seq, to_ms(at), cause, to_string(status));
    return {};
}

result<std::int64_t> closed_messages::cause_of(std::int64_t seq, wall_time at) {
    POSTHORN_LET(found, message_.run(seq));
    if (found.empty()) return 0;
    const auto row = found.front();
    return find_or_add({.destination = std::string(row.text(0)),
                        .endpoint = std::string(row.text(1)),
                        .text = storable(normalise_cause(row.text(2)))},
                       at);
}

result<std::int64_t> closed_messages::find_or_add(const cause& of, wall_time at) {
    POSTHORN_LET(known, find_.run(of.destination, of.endpoint, of.text));
    if (!known.empty()) return known.front().integer(0);
    POSTHORN_LET(full, is_full());
    // One for everything more: whoever causes so many has errors that tell nothing.
    if (full && !of.destination.empty())
        return find_or_add({.destination = "", .endpoint = "", .text = "other"}, at);
    POSTHORN_LET(added, insert_.run(of.destination, of.endpoint, of.text, to_ms(at)));
    return added.front().integer(0);
}

result<bool> closed_messages::is_full() {
    const auto counted = [this]() -> result<bool> {
        POSTHORN_LET(count, count_.run());
        return count.front().integer(0) >= static_cast<std::int64_t>(causes_max);
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
    POSTHORN_LET(found, ungrouped_.run(static_cast<std::int64_t>(limit)));
    for (int i = 0; i < found.size(); ++i)
        POSTHORN_TRY(
            record(found[i].integer(0), outbox_status::dead, from_ms(found[i].integer(1))));
    return found.size();
}

}  // namespace posthorn::postgres
