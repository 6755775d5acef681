#include "store/postgres/tables/closed_messages.hpp"

#include <utility>

#include "store/rules/seq_ranges.hpp"

namespace posthorn::postgres {

change_log::change_log(connection& database)
    : insert_(database, R"sql(
          INSERT INTO {s}.changes (epoch, at, kind, seqs)
          VALUES (coalesce({s}.claimant(),
              (SELECT max(epoch) FROM {s}.posthorn_leases WHERE name LIKE 'dispatcher%'), 0),
              $1, $2, $3))sql") {}

result<> change_log::append(std::string_view kind, std::vector<std::int64_t> seqs, wall_time at) {
    if (!seqs.empty()) insert_.defer(to_ms(at), kind, to_ranges(std::move(seqs)));
    return {};
}

closed_messages::closed_messages(connection& database)
    : closed_account(database, {.error_by_seq = R"sql(
          SELECT CASE WHEN octet_length(destination) <= 800 THEN destination
                  ELSE left(destination, 200) END,
              CASE WHEN octet_length(endpoint) <= 800 THEN endpoint ELSE left(endpoint, 200) END,
              coalesce(substr(last_error, 1, 4096), '')
          FROM {s}.outbox_messages WHERE seq = $1)sql",
                                .find = R"sql(
          SELECT cause_id FROM {s}.outbox_causes
          WHERE destination = $1 AND endpoint = $2 AND cause = $3)sql",
                                .count = "SELECT count(*) FROM {s}.outbox_causes",
                                .drop_unused = "DELETE FROM {s}.outbox_causes WHERE dead <= 0",
                                // Another node may add the same one at the same time.
                                .add = R"sql(
          INSERT INTO {s}.outbox_causes AS c (destination, endpoint, cause, first_at, last_at)
          VALUES ($1, $2, $3, $4, $4)
          ON CONFLICT (destination, endpoint, cause)
              DO UPDATE SET last_at = greatest(c.last_at, excluded.last_at)
          RETURNING cause_id)sql",
                                .ungrouped = R"sql(
          SELECT seq, at FROM {s}.outbox_closed
          WHERE status = 'Dead' AND cause_id IS NULL ORDER BY seq LIMIT $1)sql"}),
      set_(database, R"sql(
          INSERT INTO {s}.outbox_closed (seq, status, at, cause_id) VALUES ($1, $4, $2, $3)
          ON CONFLICT (seq) DO UPDATE SET at = excluded.at, cause_id = excluded.cause_id)sql") {}

result<> closed_messages::write(std::int64_t seq, outbox_status status, wall_time at,
                                std::optional<std::int64_t> cause_id) {
    set_.defer(seq, to_ms(at), cause_id, to_string(status));
    return {};
}

}  // namespace posthorn::postgres
