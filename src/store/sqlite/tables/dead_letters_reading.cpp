#include "store/sqlite/tables/dead_letters_reading.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.hpp"
#include "store/sqlite/driver/counting.hpp"
#include "store/sqlite/driver/prepare_all.hpp"
#include "store/sqlite/schema/status_sql.hpp"
#include "store/sqlite/tables/dead_columns.hpp"
#include "store/sqlite/tables/outbox_insert.hpp"

namespace posthorn::sqlite {
namespace {

// A page ends after so many rows, found or not.
constexpr std::size_t rows_looked_at_max = 10'000;
// Whole payloads are read to tell the states of messages.
constexpr std::size_t bytes_per_page_max = std::size_t{8} << 20;
constexpr std::int64_t ungrouped_count_max = 1'000;

#define POSTHORN_DEAD_OF_STATUS                               \
    "SELECT " POSTHORN_DEAD_KEYS                              \
    " FROM outbox_messages WHERE outbox_messages.status = ?2" \
    " AND " POSTHORN_IS_CLOSED("outbox_messages.status") " AND outbox_messages.seq "
#define POSTHORN_DEAD_OF_CAUSE                                                         \
    "SELECT " POSTHORN_DEAD_KEYS                                                       \
    " FROM outbox_closed AS found CROSS JOIN outbox_messages ON outbox_messages.seq =" \
    " found.seq WHERE found.cause_id = ?2 AND found.seq "

}  // namespace

result<dead_letters_reading> dead_letters_reading::open(connection& database) {
    dead_letters_reading made;
    POSTHORN_TRY(prepare_all(
        database,
        {{&made.down_.of_status, POSTHORN_DEAD_OF_STATUS "< ?1 ORDER BY outbox_messages.seq DESC"},
         {&made.up_.of_status, POSTHORN_DEAD_OF_STATUS "> ?1 ORDER BY outbox_messages.seq"},
         {&made.down_.of_cause, POSTHORN_DEAD_OF_CAUSE "< ?1 ORDER BY found.seq DESC"},
         {&made.up_.of_cause, POSTHORN_DEAD_OF_CAUSE "> ?1 ORDER BY found.seq"},
         {&made.highest_,
          "SELECT seq FROM outbox_messages WHERE status = ?"
          " AND " POSTHORN_IS_CLOSED("status") " ORDER BY seq DESC LIMIT 1"},
         {&made.one_, "SELECT " POSTHORN_DEAD_ROW " FROM outbox_messages WHERE seq = ?"},
         {&made.by_id_, "SELECT " POSTHORN_DEAD_ROW " FROM outbox_messages WHERE message_id = ?"},
         {&made.groups_,
          "SELECT cause_id, destination, endpoint, cause, dead, first_at, last_at,"
          " (SELECT message_id FROM outbox_messages WHERE seq = (SELECT max(seq) FROM"
          "  outbox_closed WHERE outbox_closed.cause_id = outbox_causes.cause_id))"
          " FROM outbox_causes WHERE dead > 0 AND (?1 = '' OR destination = ?1)"
          " ORDER BY dead DESC LIMIT ?2"},
         {&made.ungrouped_,
          "SELECT count(*) FROM (SELECT 1 FROM outbox_closed INDEXED BY idx_outbox_closed_new"
          " WHERE status = 'Dead' AND cause_id IS NULL LIMIT ?)"}}));
    return made;
}

statement& dead_letters_reading::walk::begin(const dead_filter& wanted, std::int64_t from) {
    auto& rows = wanted.cause > 0 ? of_cause : of_status;
    rows.bind(1, from);
    if (wanted.cause > 0)
        rows.bind(2, wanted.cause);
    else
        rows.bind(2, to_string(wanted.status));
    return rows;
}

result<dead_page> dead_letters_reading::list(const dead_filter& wanted, std::int64_t before_seq,
                                             std::size_t limit) {
    limit = std::min(limit, list_rows_max);
    auto& rows =
        down_.begin(wanted, before_seq > 0 ? before_seq : std::numeric_limits<std::int64_t>::max());
    const reset_at_end reset(rows);
    dead_page page;
    std::int64_t last = 0;
    std::size_t bytes = 0;
    for (std::size_t looked_at = 0;; ++looked_at) {
        POSTHORN_LET(more, rows.step());
        if (!more) return page;
        if (page.rows.size() >= limit || looked_at >= rows_looked_at_max ||
            bytes >= bytes_per_page_max)
            break;  // And there is one more row.
        last = rows.integer(0);
        if (!fits(rows, wanted)) continue;
        const reset_at_end reset_one(one_);
        one_.bind(1, last);
        POSTHORN_LET(found, one_.step());
        POSTHORN_ASSERT(found);  // One snapshot.
        page.rows.push_back(read_dead_row(one_));
        bytes += one_.text(payload_column).size();
    }
    page.next = last;
    return page;
}

result<dead_slice> dead_letters_reading::find(const dead_filter& wanted, std::int64_t after_seq,
                                              std::size_t limit) {
    dead_slice slice;
    {
        const reset_at_end reset(highest_);
        highest_.bind(1, to_string(wanted.status));
        POSTHORN_LET(found, highest_.step());
        if (found) slice.highest = highest_.integer(0);
    }
    auto& rows = up_.begin(wanted, after_seq);
    const reset_at_end reset(rows);
    std::int64_t last = 0;
    for (std::size_t looked_at = 0;; ++looked_at) {
        POSTHORN_LET(more, rows.step());
        if (!more) return slice;
        if (slice.seqs.size() >= limit || looked_at >= rows_looked_at_max) break;
        last = rows.integer(0);
        if (fits(rows, wanted)) slice.seqs.push_back(last);
    }
    slice.next = last;
    return slice;
}

result<std::optional<dead_letter_row>> dead_letters_reading::row(const uuid& id) {
    const reset_at_end reset(by_id_);
    by_id_.bind(1, id);
    POSTHORN_LET(found, by_id_.step());
    if (!found) return std::nullopt;
    return read_dead_row(by_id_);
}

result<dead_groups> dead_letters_reading::groups(std::string_view destination, std::size_t limit) {
    dead_groups page;
    {
        const reset_at_end reset(ungrouped_);
        ungrouped_.bind(1, ungrouped_count_max);
        POSTHORN_TRY(step_to_row(ungrouped_));
        page.ungrouped = ungrouped_.integer(0);
    }
    limit = std::min(limit, dead_groups_max);
    const reset_at_end reset(groups_);
    groups_.bind(1, destination);
    groups_.bind(2, static_cast<std::int64_t>(limit + 1));
    for (;;) {
        POSTHORN_LET(more, groups_.step());
        if (!more) return page;
        page.more = page.groups.size() >= limit;
        if (page.more) return page;
        page.groups.push_back({.cause = groups_.integer(0),
                               .destination = std::string(groups_.text(1)),
                               .endpoint = std::string(groups_.text(2)),
                               .text = std::string(groups_.text(3)),
                               .count = groups_.integer(4),
                               .first_at = from_ms(groups_.integer(5)),
                               .last_at = from_ms(groups_.integer(6)),
                               .example = std::string(groups_.text(7))});
    }
}

}  // namespace posthorn::sqlite
