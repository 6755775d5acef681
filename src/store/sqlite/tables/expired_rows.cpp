#include "store/sqlite/tables/expired_rows.hpp"

#include <limits>
#include <utility>

#include "store/rows/outbox_rows.hpp"
#include "store/sqlite/driver/prepare_all.hpp"
#include "store/sqlite/tables/outbox_insert.hpp"
#include "store/sqlite/tables/outbox_sql.hpp"

namespace posthorn::sqlite {
namespace {

// Before all rows of a flow.
pending_place top_of(const flow& one) {
    return {.tenant = one.tenant,
            .priority = one.priority,
            .next_attempt_at = from_ms(one.first_ms),
            .seq = std::numeric_limits<std::int64_t>::min()};
}

}  // namespace

result<expired_rows> expired_rows::open(connection& database) {
    expired_rows made;
    POSTHORN_TRY(open_into(made.walk_, database));
    POSTHORN_TRY(prepare_all(
        database, {{&made.same_time_, "SELECT seq, next_retry_at, expires_at" POSTHORN_IN_FLOW
                                      " AND next_retry_at = ?4 AND seq > ?5 ORDER BY seq"},
                   {&made.later_, "SELECT seq, next_retry_at, expires_at" POSTHORN_IN_FLOW
                                  " AND next_retry_at > ?4 AND next_retry_at <= ?5"
                                  " ORDER BY next_retry_at, seq"}}));
    return made;
}

result<bool> expired_rows::take(statement& from, const expired_question& asked,
                                std::size_t& rows_left, pending_place& place, found& into) {
    for (;;) {
        if (rows_left == 0) return false;
        POSTHORN_LET(row, from.step());
        if (!row) return true;
        --rows_left;
        place.seq = from.integer(0);
        place.next_attempt_at = from_ms(from.integer(1));
        const auto expires = from.integer(2);
        if (expires != 0 && expires <= to_ms(asked.now)) into.seqs.push_back(place.seq);
    }
}

result<bool> expired_rows::look_at(const flow& one, const expired_question& asked,
                                   std::size_t& rows_left, pending_place& place, found& into) {
    {
        const reset_at_end reset(same_time_);
        bind_flow(same_time_, one);
        same_time_.bind(4, to_ms(place.next_attempt_at));
        same_time_.bind(5, place.seq);
        auto all = take(same_time_, asked, rows_left, place, into);
        if (!all || !*all) return all;
    }
    const reset_at_end reset(later_);
    bind_flow(later_, one);
    later_.bind(4, to_ms(place.next_attempt_at));
    later_.bind(5, to_ms(asked.now));
    return take(later_, asked, rows_left, place, into);
}

result<expired_rows::found> expired_rows::look(const expired_question& asked) {
    found into;
    auto rows_left = asked.rows_max;
    result<std::optional<flow>> at = std::nullopt;
    auto place = asked.after.value_or(pending_place{});
    if (asked.after) {
        at = flow{.destination = std::string(asked.destination),
                  .tenant = place.tenant,
                  .priority = place.priority};
    } else {
        at = walk_.first_of(asked.destination);
        if (at && *at) place = top_of(**at);
    }
    for (;;) {
        if (!at) return std::unexpected(std::move(at).error());
        if (!*at) return into;
        if (place.next_attempt_at <= asked.now) {
            POSTHORN_LET(all, look_at(**at, asked, rows_left, place, into));
            if (!all) {
                into.last = std::move(place);
                return into;
            }
        }
        if (rows_left > 0) --rows_left;  // A flow costs a step of the index, too.
        at = walk_.next_of_same(**at);
        if (at && *at) place = top_of(**at);
    }
}

result<expired_slice> outbox_reading::expired(const expired_question& asked) {
    POSTHORN_LET(found, expired_.look(asked));
    expired_slice slice{.rows = {}, .last = std::move(found.last)};
    for (const auto seq : found.seqs) {
        const reset_at_end reset(one_);
        one_.bind(1, seq);
        POSTHORN_LET(there, one_.step());
        if (!there) continue;
        auto read = read_row(one_, rules_.source);
        auto row = read ? *std::move(read) : read_what_can_be(one_, rules_.source);
        row.body.payload = {};  // They may be large and many, and nobody reads them.
        row.body.headers = {};
        slice.rows.push_back(std::move(row));
    }
    return slice;
}

}  // namespace posthorn::sqlite
