#include "store/sqlite/tables/outbox_replay.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "store/rules/seq_ranges.hpp"
#include "store/statements/sqlite_states.hpp"

namespace posthorn::sqlite {
namespace {

std::int64_t ms(wall_time time) { return time.time_since_epoch().count(); }

struct sent_row {
    std::int64_t seq = 0;
    std::int64_t sent_at = 0;
    bool is_wanted = false;
    bool has_expired = false;
};

template <class Source>
result<std::vector<sent_row>> read_slice(Source& from, const replay_range& range, wall_time now,
                                         std::size_t limit, const replay_progress& before) {
    std::vector<sent_row> rows;
    const bool is_first = before.after_sent_at < ms(range.since);
    const std::array<sql_param, 4> with{is_first ? ms(range.since) - 1 : before.after_sent_at,
                                        is_first ? std::int64_t{INT64_MAX} : before.after_seq,
                                        ms(range.until), static_cast<std::int64_t>(limit)};
    POSTHORN_TRY(from.query(
        R"sql(
        SELECT seq, sent_at, destination, expires_at FROM outbox_messages
        WHERE status = 'Sent' AND (sent_at, seq) > (?, ?) AND sent_at < ?
        ORDER BY sent_at, seq LIMIT ?)sql",
        with, [&](const sql_row& row) {
            rows.push_back(
                {.seq = row.integer(0),
                 .sent_at = row.integer(1),
                 .is_wanted = range.destination.empty() || row.text(2) == range.destination,
                 .has_expired = row.integer(3) <= ms(now)});
        }));
    return rows;
}

/// As one that is inserted: behind an earlier one of its order key it waits until that is done.
constexpr auto revive = joined(R"sql(
    UPDATE outbox_messages AS follower SET status = 'Pending', retry_count = 0, sent_at = NULL,
        next_retry_at = CASE WHEN order_key <> '' AND )sql",
                               is_blocked("follower"), R"sql( THEN expires_at ELSE 0 END
    WHERE seq = ? AND status = 'Sent')sql");

result<> log_replay(store_transaction& tx, std::vector<std::int64_t> seqs, wall_time now) {
    if (seqs.empty()) return {};
    const std::string ranges = to_ranges(std::move(seqs));
    const std::array<sql_param, 2> with{ms(now), std::string_view(ranges)};
    POSTHORN_TRY(tx.execute(R"sql(
        INSERT INTO changes (epoch, at, kind, seqs)
        VALUES (coalesce((SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'), 0), ?,
            'outbox.replayed', ?))sql",
                            with));
    return {};
}

/// What is to be sent again of a slice, by seq, and how far that is.
struct replay_slice {
    replay_progress progress;
    std::vector<std::int64_t> seqs{};
};

replay_slice choose(std::vector<sent_row> rows, const replay_progress& before, std::size_t limit) {
    replay_slice slice{.progress = before};
    auto& [next, seqs] = slice;
    next.is_done = rows.size() < limit;
    if (!rows.empty()) {
        next.after_sent_at = rows.back().sent_at;
        next.after_seq = rows.back().seq;
    }
    std::erase_if(rows, [](const sent_row& row) { return !row.is_wanted; });
    std::ranges::sort(rows, {}, &sent_row::seq);
    for (const auto& row : rows) {
        if (row.has_expired)
            ++next.expired;
        else
            seqs.push_back(row.seq);
    }
    next.replayed += static_cast<std::int64_t>(seqs.size());
    return slice;
}

}  // namespace

result<replay_progress> replay_sent(store_transaction& tx, const replay_range& range, wall_time now,
                                    const replay_progress& before, std::size_t limit) {
    POSTHORN_LET(rows, read_slice(tx, range, now, limit, before));
    auto [next, seqs] = choose(std::move(rows), before, limit);
    for (const auto seq : seqs) POSTHORN_TRY(tx.execute(revive, std::array<sql_param, 1>{seq}));
    POSTHORN_TRY(log_replay(tx, std::move(seqs), now));
    return next;
}

result<replay_progress> count_sent(store_reader& from, const replay_range& range, wall_time now,
                                   const replay_progress& before, std::size_t limit) {
    POSTHORN_LET(rows, read_slice(from, range, now, limit, before));
    return choose(std::move(rows), before, limit).progress;
}

}  // namespace posthorn::sqlite
