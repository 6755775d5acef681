#include "store/sqlite/tables/dead_letters_reading.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "store/rows/stored_time.hpp"
#include "store/sqlite/schema/status_sql.hpp"
#include "store/sqlite/tables/dead_columns.hpp"

namespace posthorn::sqlite {
namespace {

// A page ends after so many rows, found or not.
constexpr std::size_t rows_looked_at_max = 10'000;
// Whole payloads are read to tell the states of messages.
constexpr std::size_t bytes_per_page_max = std::size_t{8} << 20;
constexpr std::int64_t ungrouped_count_max = 1'000;

constexpr auto of_status = joined("SELECT ", dead_key_columns, R"sql(
    FROM outbox_messages WHERE outbox_messages.status = ?2
    AND )sql",
                                  is_closed("outbox_messages.status"), " AND outbox_messages.seq ");
constexpr auto of_status_down = joined(of_status, "< ?1 ORDER BY outbox_messages.seq DESC");
constexpr auto of_status_up = joined(of_status, "> ?1 ORDER BY outbox_messages.seq");

constexpr auto of_cause = joined("SELECT ", dead_key_columns, R"sql(
    FROM outbox_closed AS found CROSS JOIN outbox_messages ON outbox_messages.seq = found.seq
    WHERE found.cause_id = ?2 AND found.seq )sql");
constexpr auto of_cause_down = joined(of_cause, "< ?1 ORDER BY found.seq DESC");
constexpr auto of_cause_up = joined(of_cause, "> ?1 ORDER BY found.seq");

constexpr auto highest_closed = joined("SELECT seq FROM outbox_messages WHERE status = ? AND ",
                                       is_closed("status"), " ORDER BY seq DESC LIMIT 1");

}  // namespace

dead_letters_reading::dead_letters_reading(connection& database)
    : down_{{database, of_status_down}, {database, of_cause_down}},
      up_{{database, of_status_up}, {database, of_cause_up}},
      highest_(database, highest_closed),
      one_(database, dead_row_by_seq),
      by_id_(database, dead_row_by_id),
      groups_(database, R"sql(
          SELECT cause_id, destination, endpoint, cause, dead, first_at, last_at,
              (SELECT message_id FROM outbox_messages WHERE seq = (SELECT max(seq)
                  FROM outbox_closed WHERE outbox_closed.cause_id = outbox_causes.cause_id))
          FROM outbox_causes WHERE dead > 0 AND (?1 = '' OR destination = ?1)
          ORDER BY dead DESC LIMIT ?2)sql"),
      ungrouped_(database, R"sql(
          SELECT count(*) FROM (SELECT 1 FROM outbox_closed INDEXED BY idx_outbox_closed_new
              WHERE status = 'Dead' AND cause_id IS NULL LIMIT ?))sql") {}

result<rows> dead_letters_reading::walk::begin(const dead_filter& wanted, std::int64_t from) {
    return wanted.cause > 0 ? of_cause.run(from, wanted.cause)
                            : of_status.run(from, to_string(wanted.status));
}

result<dead_page> dead_letters_reading::list(const dead_filter& wanted, std::int64_t before_seq,
                                             std::size_t limit) {
    limit = std::min(limit, list_rows_max);
    const auto top = before_seq > 0 ? before_seq : std::numeric_limits<std::int64_t>::max();
    POSTHORN_LET(all, down_.begin(wanted, top));
    dead_page page;
    std::int64_t last = 0;
    std::size_t bytes = 0;
    for (std::size_t looked_at = 0;; ++looked_at) {
        POSTHORN_LET(row, all.next());
        if (row == nullptr) return page;
        if (page.rows.size() >= limit || looked_at >= rows_looked_at_max ||
            bytes >= bytes_per_page_max)
            break;  // And there is one more row.
        last = row->integer(0);
        if (!fits(*row, wanted)) continue;
        POSTHORN_LET(found, one_.run(last));  // It is there: one snapshot.
        page.rows.push_back(read_dead_row(found.front()));
        bytes += found.front().text(payload_column).size();
    }
    page.next = last;
    return page;
}

result<dead_slice> dead_letters_reading::find(const dead_filter& wanted, std::int64_t after_seq,
                                              std::size_t limit) {
    dead_slice slice;
    {
        POSTHORN_LET(found, highest_.run(to_string(wanted.status)));
        if (!found.empty()) slice.highest = found.front().integer(0);
    }
    POSTHORN_LET(all, up_.begin(wanted, after_seq));
    std::int64_t last = 0;
    for (std::size_t looked_at = 0;; ++looked_at) {
        POSTHORN_LET(row, all.next());
        if (row == nullptr) return slice;
        if (slice.seqs.size() >= limit || looked_at >= rows_looked_at_max) break;
        last = row->integer(0);
        if (fits(*row, wanted)) slice.seqs.push_back(last);
    }
    slice.next = last;
    return slice;
}

result<std::optional<dead_letter_row>> dead_letters_reading::row(const uuid& id) {
    POSTHORN_LET(found, by_id_.run(id));
    if (found.empty()) return std::nullopt;
    return read_dead_row(found.front());
}

result<dead_groups> dead_letters_reading::groups(std::string_view destination, std::size_t limit) {
    dead_groups page;
    {
        POSTHORN_LET(counted, ungrouped_.run(ungrouped_count_max));
        page.ungrouped = counted.front().integer(0);
    }
    limit = std::min(limit, dead_groups_max);
    POSTHORN_LET(found, groups_.run(destination, limit + 1));
    for (;;) {
        POSTHORN_LET(row, found.next());
        if (row == nullptr) return page;
        page.more = page.groups.size() >= limit;
        if (page.more) return page;
        page.groups.push_back({.cause = row->integer(0),
                               .destination = std::string(row->text(1)),
                               .endpoint = std::string(row->text(2)),
                               .text = std::string(row->text(3)),
                               .count = row->integer(4),
                               .first_at = from_ms(row->integer(5)),
                               .last_at = from_ms(row->integer(6)),
                               .example = std::string(row->text(7))});
    }
}

}  // namespace posthorn::sqlite
