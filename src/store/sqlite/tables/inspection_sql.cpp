#include "store/sqlite/tables/inspection_sql.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "store/rows/summary_rows.hpp"
#include "store/sqlite/driver/counting.hpp"
#include "store/sqlite/driver/prepare_all.hpp"
#include "store/sqlite/schema/status_sql.hpp"
#include "store/sqlite/tables/outbox_insert.hpp"

namespace posthorn::sqlite {
namespace {

// A page ends after so many rows, found or not.
constexpr std::int64_t rows_per_page_max = 50'000;
// Up to so many pending rows, their index is read in whole: they may be anywhere in the table.
constexpr std::int64_t pending_sorted_max = 50'000;
constexpr std::int64_t attempts_max = 1'000;

std::int64_t top(std::int64_t before_seq) {
    return before_seq > 0 ? before_seq : std::numeric_limits<std::int64_t>::max();
}

bool fits(const statement& row, const message_filter& wanted) {
    if (wanted.status && row.text(5) != to_string(*wanted.status)) return false;
    if (!wanted.destination.empty() && row.text(3) != wanted.destination) return false;
    if (!wanted.endpoint.empty() && row.text(4) != wanted.endpoint) return false;
    return !wanted.since || from_ms(row.integer(8)) >= *wanted.since;
}

}  // namespace

struct inspection_sql::search {
    const message_filter& wanted;
    std::int64_t looked_at = 0;
    std::int64_t last = 0;
    message_list page{};

    [[nodiscard]] bool full() const {
        return page.rows.size() >= std::min(wanted.limit, list_rows_max) ||
               looked_at >= rows_per_page_max;
    }
    void take(const statement& row) {
        ++looked_at;
        last = row.integer(0);
        if (fits(row, wanted)) page.rows.push_back(read_summary(row));
    }
};

// An index of pending rows is searched with `destination >= ''`, which they all fulfil.
result<inspection_sql> inspection_sql::open(connection& database) {
    inspection_sql made;
    POSTHORN_TRY(open_into(made.flows_, database));
    POSTHORN_TRY(prepare_all(
        database,
        {{&made.counts_[outbox_status::pending],
          "SELECT count(*) FROM (SELECT 1 FROM outbox_messages"
          " WHERE status = 'Pending' AND destination >= '' LIMIT ?2)"},
         {&made.counts_[outbox_status::sent],
          "SELECT count(*) FROM (SELECT 1 FROM outbox_messages INDEXED BY idx_outbox_sent"
          " WHERE status = 'Sent' LIMIT ?2)"},
         {&made.counts_[outbox_status::dead],
          "SELECT count(*) FROM (SELECT 1 FROM outbox_messages WHERE status = ?1"
          " AND " POSTHORN_IS_CLOSED("status") " LIMIT ?2)"},
         {&made.due_count_, "SELECT count(*), min(seq) FROM (SELECT seq" POSTHORN_IN_FLOW
                            " AND next_retry_at <= ?4 LIMIT ?5)"},
         {&made.waiting_count_,
          "SELECT count(*) FROM (SELECT 1" POSTHORN_IN_FLOW " AND next_retry_at > ?4 LIMIT ?5)"},
         {&made.due_rows_, "SELECT created_at, deliver_at, retry_count, last_error" POSTHORN_IN_FLOW
                           " AND next_retry_at <= ?4 ORDER BY next_retry_at LIMIT ?5"},
         {&made.waiting_rows_,
          "SELECT created_at, deliver_at, retry_count, last_error" POSTHORN_IN_FLOW
          " AND next_retry_at > ?4 ORDER BY next_retry_at LIMIT ?5"},
         {&made.since_,
          "SELECT max(created_at, coalesce(deliver_at, 0)) FROM outbox_messages WHERE seq = ?"},
         {&made.all_, "SELECT " POSTHORN_SUMMARY_COLUMNS
                      " FROM outbox_messages WHERE seq < ?1 ORDER BY seq DESC"},
         {&made.closed_,
          "SELECT " POSTHORN_SUMMARY_COLUMNS " FROM outbox_messages WHERE seq < ?1 AND status = ?2"
          " AND " POSTHORN_IS_CLOSED("status") " ORDER BY seq DESC"},
         {&made.pending_,
          "SELECT seq FROM outbox_messages WHERE status = 'Pending' AND destination >= '' LIMIT "
          "?1"},
         {&made.pending_of_,
          "SELECT seq FROM outbox_messages WHERE status = 'Pending' AND destination = ?2 LIMIT ?1"},
         {&made.one_, "SELECT " POSTHORN_SUMMARY_COLUMNS " FROM outbox_messages WHERE seq = ?"},
         {&made.show_, "SELECT " POSTHORN_SUMMARY_COLUMNS
                       ", length(CAST(payload AS BLOB)), content_type, payload, headers"
                       " FROM outbox_messages WHERE message_id = ?"},
         {&made.attempts_,
          "SELECT attempt, at, error FROM outbox_attempts WHERE seq = ? ORDER BY attempt DESC"
          " LIMIT ?"},
         {&made.inbox_count_,
          "SELECT count(*) FROM (SELECT 1 FROM inbox_messages INDEXED BY idx_inbox_expires"
          " LIMIT ?)"},
         {&made.inbox_ends_,
          "SELECT (SELECT max(seq) FROM inbox_messages) - (SELECT min(seq) FROM inbox_messages)"},
         {&made.inbox_list_,
          "SELECT seq, source_service_id, message_id, endpoint, processed_at, claim_until,"
          " expires_at FROM inbox_messages WHERE seq < ?1 ORDER BY seq DESC"}}));
    return made;
}

result<bounded_count> inspection_sql::count(outbox_status status, std::int64_t at_most) {
    const bool open = status == outbox_status::pending || status == outbox_status::sent;
    auto& query = counts_.at(open ? status : outbox_status::dead);
    const reset_at_end reset(query);
    if (!open) query.bind(1, to_string(status));
    query.bind(2, at_most + 1);
    POSTHORN_TRY(step_to_row(query));
    return up_to(query.integer(0), at_most);
}

result<message_list> inspection_sql::list(const message_filter& wanted) {
    if (!wanted.status || *wanted.status == outbox_status::sent) return walk(all_, wanted);
    if (*wanted.status == outbox_status::pending) return list_pending(wanted);
    closed_.bind(2, to_string(*wanted.status));
    return walk(closed_, wanted);
}

result<message_list> inspection_sql::walk(statement& rows, const message_filter& wanted) {
    const reset_at_end reset(rows);
    rows.bind(1, top(wanted.before_seq));
    search found{.wanted = wanted};
    for (;;) {
        POSTHORN_LET(row, rows.step());
        if (!row) return std::move(found.page);
        if (found.full()) break;  // And there is one more row.
        found.take(rows);
    }
    found.page.next = found.last;
    return std::move(found.page);
}

result<message_list> inspection_sql::list_pending(const message_filter& wanted) {
    POSTHORN_LET(seqs, pending_seqs(wanted.destination));
    if (std::ssize(seqs) > pending_sorted_max) return walk(all_, wanted);
    std::ranges::sort(seqs, std::greater{});
    search found{.wanted = wanted};
    for (const auto seq : seqs) {
        if (seq >= top(wanted.before_seq)) continue;
        if (found.full()) {
            found.page.next = found.last;
            break;
        }
        const reset_at_end reset(one_);
        one_.bind(1, seq);
        POSTHORN_LET(row, one_.step());
        if (row) found.take(one_);
    }
    return std::move(found.page);
}

result<std::vector<std::int64_t>> inspection_sql::pending_seqs(std::string_view destination) {
    auto& query = destination.empty() ? pending_ : pending_of_;
    const reset_at_end reset(query);
    query.bind(1, pending_sorted_max + 1);
    if (!destination.empty()) query.bind(2, destination);
    std::vector<std::int64_t> seqs;
    for (;;) {
        POSTHORN_LET(row, query.step());
        if (!row) return seqs;
        seqs.push_back(query.integer(0));
    }
}

result<std::optional<message_detail>> inspection_sql::show(const uuid& id, bool with_payload) {
    message_detail detail;
    {
        const reset_at_end reset(show_);
        show_.bind(1, id);
        POSTHORN_LET(row, show_.step());
        if (!row) return std::nullopt;
        detail.summary = read_summary(show_);
        detail.payload_bytes = show_.integer(summary_columns);
        detail.content_type = show_.text(summary_columns + 1);
        if (with_payload) {
            detail.payload = show_.text(summary_columns + 2);
            detail.headers = show_.text(summary_columns + 3);
        }
    }
    POSTHORN_TRY(read_attempts(detail));
    return detail;
}

result<> inspection_sql::read_attempts(message_detail& into) {
    const reset_at_end reset(attempts_);
    attempts_.bind(1, into.summary.seq);
    attempts_.bind(2, attempts_max);
    for (;;) {
        POSTHORN_LET(row, attempts_.step());
        if (!row) break;
        into.attempts.push_back({.number = attempts_.integer(0),
                                 .at = from_ms(attempts_.integer(1)),
                                 .error = std::string(attempts_.text(2))});
    }
    std::ranges::reverse(into.attempts);
    return {};
}

result<bounded_count> inspection_sql::inbox_size(std::int64_t at_most) {
    {
        const reset_at_end reset(inbox_count_);
        inbox_count_.bind(1, at_most + 1);
        POSTHORN_TRY(step_to_row(inbox_count_));
        if (inbox_count_.integer(0) <= at_most) return bounded_count{inbox_count_.integer(0)};
    }
    // Rows are added at one end and purged at about the other.
    const reset_at_end reset(inbox_ends_);
    POSTHORN_TRY(step_to_row(inbox_ends_));
    return bounded_count{inbox_ends_.integer(0) + 1, true};
}

result<inbox_list> inspection_sql::list(const inbox_filter& wanted) {
    const reset_at_end reset(inbox_list_);
    inbox_list_.bind(1, top(wanted.before_seq));
    inbox_list page;
    const auto limit = std::min(wanted.limit, list_rows_max);
    std::int64_t last = 0;
    for (std::int64_t looked_at = 0;; ++looked_at) {
        POSTHORN_LET(row, inbox_list_.step());
        if (!row) return page;
        if (page.rows.size() >= limit || looked_at >= rows_per_page_max) break;
        last = inbox_list_.integer(0);
        if (!wanted.source.empty() && inbox_list_.text(1) != wanted.source) continue;
        page.rows.push_back({.seq = last,
                             .source = std::string(inbox_list_.text(1)),
                             .id = std::string(inbox_list_.text(2)),
                             .endpoint = std::string(inbox_list_.text(3)),
                             .processed_at = optional_time(inbox_list_, 4),
                             .claimed_until = optional_time(inbox_list_, 5),
                             .expires_at = from_ms(inbox_list_.integer(6))});
    }
    page.next = last;
    return page;
}

// What waits in the outbox, by destination.

result<backlog_report> inspection_sql::backlog(wall_time now, const backlog_limits& limits) {
    backlog_report report;
    for (auto at = flows_.first();; at = flows_.next_destination((*at)->destination)) {
        if (!at) return std::unexpected(std::move(at).error());
        if (!*at) return report;
        report.more = report.destinations.size() == limits.destinations_max;
        if (report.more) return report;
        POSTHORN_LET(one, backlog_of((*at)->destination, now, limits));
        report.destinations.push_back(std::move(one));
    }
}

/// What is known of a destination after some of its flows.
struct inspection_sql::backlog_count {
    wall_time now;
    std::int64_t counted = 0;
    std::int64_t due_rows_left = 0;
    std::int64_t waiting_rows_left = 0;
    std::optional<std::int64_t> first_due{};  // The lowest seq.
};

result<destination_backlog> inspection_sql::backlog_of(std::string name, wall_time now,
                                                       const backlog_limits& limits) {
    destination_backlog found{.destination = std::move(name),
                              .pending = {},
                              .undeliverable = {},
                              .undeliverable_error = {}};
    backlog_count so_far{
        .now = now, .due_rows_left = limits.rows_max, .waiting_rows_left = limits.rows_max};
    result<> outcome;
    std::optional<flow> rest;
    POSTHORN_TRY(flows_.go_round(found.destination, rest, [&](const flow& one) {
        outcome = add_flow(found, so_far, one, limits);
        const bool on = outcome && so_far.counted <= limits.count_max;
        return on ? flow_walk::step::on : flow_walk::step::stop;
    }));
    POSTHORN_TRY(outcome);
    found.pending = up_to(so_far.counted, limits.count_max);
    if (rest) found.pending.at_least = true;
    const bool all_seen = so_far.due_rows_left > 0 && so_far.waiting_rows_left > 0 && !rest;
    if (!all_seen && found.undeliverable.value > 0) found.undeliverable.at_least = true;
    if (so_far.first_due) {
        const reset_at_end reset(since_);
        since_.bind(1, *so_far.first_due);
        POSTHORN_TRY(step_to_row(since_));
        const auto since = from_ms(since_.integer(0));
        found.oldest = std::min(found.oldest.value_or(since), since);
    }
    return found;
}

result<> inspection_sql::add_flow(destination_backlog& into, backlog_count& so_far, const flow& of,
                                  const backlog_limits& limits) {
    for (auto* query : {&due_count_, &waiting_count_}) {
        const reset_at_end reset(*query);
        bind_flow(*query, of);
        query->bind(4, to_ms(so_far.now));
        query->bind(5, limits.count_max + 1);
        POSTHORN_TRY(step_to_row(*query));
        so_far.counted += query->integer(0);
        if (query == &due_count_ && !query->is_null(1))
            so_far.first_due =
                std::min(so_far.first_due.value_or(query->integer(1)), query->integer(1));
    }
    POSTHORN_TRY(look_at(into, due_rows_, of, so_far.now, so_far.due_rows_left));
    return look_at(into, waiting_rows_, of, so_far.now, so_far.waiting_rows_left);
}

// Which of the rows waits only for its own time, and which cannot go anywhere, stands in no index.
result<> inspection_sql::look_at(destination_backlog& into, statement& rows, const flow& of,
                                 wall_time now, std::int64_t& rows_left) {
    const reset_at_end reset(rows);
    bind_flow(rows, of);
    rows.bind(4, to_ms(now));
    rows.bind(5, rows_left);
    for (;; --rows_left) {
        POSTHORN_LET(row, rows.step());
        if (!row) return {};
        const auto since = from_ms(std::max(rows.integer(0), rows.integer(1)));
        if (since <= now && (!into.oldest || since < *into.oldest)) into.oldest = since;
        if (!is_undeliverable_error(rows.text(3))) continue;
        if (into.undeliverable.value++ == 0) into.undeliverable_error = rows.text(3);
    }
}

}  // namespace posthorn::sqlite
