#include "store/sqlite/tables/expired_rows.hpp"

#include <limits>
#include <utility>

#include "store/rows/outbox_rows.hpp"
#include "store/rows/stored_time.hpp"
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

constexpr auto at_same_time = joined("SELECT seq, next_retry_at, expires_at", in_flow,
                                     "AND next_retry_at = ?4 AND seq > ?5 ORDER BY seq");
constexpr auto at_later_time = joined("SELECT seq, next_retry_at, expires_at", in_flow, R"sql(
    AND next_retry_at > ?4 AND next_retry_at <= ?5 ORDER BY next_retry_at, seq)sql");

}  // namespace

expired_rows::expired_rows(connection& database)
    : walk_(database), same_time_(database, at_same_time), later_(database, at_later_time) {}

result<bool> expired_rows::take(rows& from, const expired_question& asked, std::size_t& rows_left,
                                pending_place& place, found& into) {
    for (;;) {
        if (rows_left == 0) return false;
        POSTHORN_LET(row, from.next());
        if (row == nullptr) return true;
        --rows_left;
        place.seq = row->integer(0);
        place.next_attempt_at = from_ms(row->integer(1));
        const auto expires = row->integer(2);
        if (expires != 0 && expires <= to_ms(asked.now)) into.seqs.push_back(place.seq);
    }
}

result<bool> expired_rows::look_at(const flow& one, const expired_question& asked,
                                   std::size_t& rows_left, pending_place& place, found& into) {
    {
        POSTHORN_LET(due, same_time_.run(one.destination, one.tenant, one.priority,
                                         to_ms(place.next_attempt_at), place.seq));
        auto all = take(due, asked, rows_left, place, into);
        if (!all || !*all) return all;
    }
    POSTHORN_LET(due, later_.run(one.destination, one.tenant, one.priority,
                                 to_ms(place.next_attempt_at), to_ms(asked.now)));
    return take(due, asked, rows_left, place, into);
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
        POSTHORN_LET(there, late_.run(seq));
        if (there.empty()) continue;
        slice.rows.push_back(read_late(there.front()));
    }
    return slice;
}

}  // namespace posthorn::sqlite
