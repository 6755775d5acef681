#include "store/postgres/tables/dead_letters_reading.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "store/postgres/tables/dead_columns.hpp"
#include "store/rows/dead_rows.hpp"

namespace posthorn::postgres {
namespace {

// A page ends after so many rows, found or not.
constexpr int rows_looked_at_max = 10'000;
// Whole payloads are read to tell the states of messages.
constexpr std::size_t bytes_per_page_max = std::size_t{8} << 20;
constexpr std::int64_t ungrouped_count_max = 1'000;

#define POSTHORN_PG_DEAD_WALK(of, way)                                                   \
    "SELECT " POSTHORN_PG_DEAD_KEYS " FROM (SELECT seq FROM {s}.outbox_closed WHERE " of \
    " AND seq " way " LIMIT $3) AS found JOIN {s}.outbox_messages AS m USING (seq)"

}  // namespace

dead_letters_reading::dead_letters_reading(connection& database)
    : down_{database.prepare(POSTHORN_PG_DEAD_WALK("status = $2",
                                                   "< $1 ORDER BY seq DESC") " ORDER BY seq DESC"),
            database.prepare(POSTHORN_PG_DEAD_WALK("cause_id = $2",
                                                   "< $1 ORDER BY seq DESC") " ORDER BY seq DESC")},
      up_{database.prepare(
              POSTHORN_PG_DEAD_WALK("status = $2", "> $1 ORDER BY seq") " ORDER BY seq"),
          database.prepare(
              POSTHORN_PG_DEAD_WALK("cause_id = $2", "> $1 ORDER BY seq") " ORDER BY seq")},
      highest_(database.prepare("SELECT seq FROM {s}.outbox_closed WHERE status = $1"
                                " ORDER BY seq DESC LIMIT 1")),
      one_(database.prepare("SELECT " POSTHORN_PG_DEAD_ROW
                            " FROM {s}.outbox_messages AS m WHERE seq = $1")),
      by_id_(database.prepare("SELECT " POSTHORN_PG_DEAD_ROW
                              " FROM {s}.outbox_messages AS m WHERE message_id = $1")),
      groups_(database.prepare(
          "SELECT cause_id, destination, endpoint, cause, dead, first_at, last_at,"
          " (SELECT message_id FROM {s}.outbox_messages WHERE seq = (SELECT max(c.seq) FROM"
          " {s}.outbox_closed AS c WHERE c.cause_id = k.cause_id))"
          " FROM {s}.outbox_causes AS k WHERE dead > 0 AND ($1::text = '' OR destination ="
          " $1::text) ORDER BY dead DESC, cause_id LIMIT $2")),
      ungrouped_(database.prepare(
          "SELECT count(*) FROM (SELECT 1 FROM {s}.outbox_closed WHERE status = 'Dead'"
          " AND cause_id IS NULL LIMIT $1) AS part")) {}

result<rows> dead_letters_reading::walk::look(const dead_filter& wanted, std::int64_t from) {
    const std::int64_t limit = rows_looked_at_max + 1;
    if (wanted.cause > 0) return of_cause.run(from, wanted.cause, limit);
    return of_status.run(from, to_string(wanted.status), limit);
}

result<dead_page> dead_letters_reading::list(const dead_filter& wanted, std::int64_t before_seq,
                                             std::size_t limit) {
    limit = std::min(limit, list_rows_max);
    POSTHORN_LET(
        found,
        down_.look(wanted, before_seq > 0 ? before_seq : std::numeric_limits<std::int64_t>::max()));
    dead_page page;
    std::int64_t last = 0;
    std::size_t bytes = 0;
    for (int i = 0; i < found.size(); ++i) {
        if (page.rows.size() >= limit || i >= rows_looked_at_max || bytes >= bytes_per_page_max) {
            page.next = last;  // And there is one more row.
            return page;
        }
        const auto keys = found[i];
        last = keys.integer(0);
        if (!fits(keys, wanted)) continue;
        POSTHORN_LET(whole, one_.run(last));
        if (whole.empty()) continue;
        page.rows.push_back(read_dead_row(whole.front()));
        bytes += whole.front().text(payload_column).size();
    }
    return page;
}

result<dead_slice> dead_letters_reading::find(const dead_filter& wanted, std::int64_t after_seq,
                                              std::size_t limit) {
    dead_slice slice;
    POSTHORN_LET(highest, highest_.run(to_string(wanted.status)));
    if (!highest.empty()) slice.highest = highest.front().integer(0);
    POSTHORN_LET(found, up_.look(wanted, after_seq));
    std::int64_t last = 0;
    for (int i = 0; i < found.size(); ++i) {
        if (slice.seqs.size() >= limit || i >= rows_looked_at_max) {
            slice.next = last;
            return slice;
        }
        const auto keys = found[i];
        last = keys.integer(0);
        if (fits(keys, wanted)) slice.seqs.push_back(last);
    }
    return slice;
}

result<std::optional<dead_letter_row>> dead_letters_reading::row(const uuid& id) {
    POSTHORN_LET(found, by_id_.run(id));
    if (found.empty()) return std::nullopt;
    return read_dead_row(found.front());
}

result<dead_groups> dead_letters_reading::groups(std::string_view destination, std::size_t limit) {
    dead_groups page;
    POSTHORN_LET(counted, ungrouped_.run(ungrouped_count_max));
    page.ungrouped = counted.front().integer(0);
    limit = std::min(limit, dead_groups_max);
    POSTHORN_LET(found, groups_.run(destination, static_cast<std::int64_t>(limit + 1)));
    for (int i = 0; i < found.size(); ++i) {
        page.more = page.groups.size() >= limit;
        if (page.more) return page;
        const auto row = found[i];
        page.groups.push_back({.cause = row.integer(0),
                               .destination = std::string(row.text(1)),
                               .endpoint = std::string(row.text(2)),
                               .text = std::string(row.text(3)),
                               .count = row.integer(4),
                               .first_at = from_ms(row.integer(5)),
                               .last_at = from_ms(row.integer(6)),
                               .example = std::string(row.text(7))});
    }
    return page;
}

}  // namespace posthorn::postgres
