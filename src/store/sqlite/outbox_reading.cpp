#include <algorithm>

#include <fmt/format.h>
#include <sqlite3.h>

#include "store/sqlite/outbox_insert.hpp"
#include "store/sqlite/outbox_rows.hpp"
#include "store/sqlite/outbox_sql.hpp"
#include "store/sqlite/prepare_all.hpp"

namespace posthorn::sqlite {
namespace {

// Each destination that has pending rows, by one step of the index each, however many rows it has.
// Bytes, which only a writer with its checks switched off can leave there, are no name: as text
// they could be the same as another.
#define POSTHORN_PENDING_DESTINATIONS                                        \
    "WITH RECURSIVE pending(name) AS ("                                      \
    " SELECT min(destination) FROM outbox_messages WHERE status = 'Pending'" \
    " UNION ALL SELECT (SELECT min(destination) FROM outbox_messages"        \
    "  WHERE status = 'Pending' AND destination > pending.name)"             \
    " FROM pending WHERE pending.name IS NOT NULL) "

}  // namespace

result<outbox_reading> outbox_reading::open(connection& database, outbox_rules rules) {
    outbox_reading reading;
    reading.rules_ = std::move(rules);
    auto order = order_keys::open(database);
    if (!order) return std::unexpected(std::move(order).error());
    reading.order_ = *std::move(order);
    POSTHORN_TRY(prepare_all(
        database,
        {{&reading.destinations_, POSTHORN_PENDING_DESTINATIONS
          "SELECT name FROM pending WHERE typeof(name) = 'text' AND EXISTS (SELECT 1 FROM"
          " outbox_messages WHERE status = 'Pending' AND destination = name"
          " AND next_retry_at <= ?)"},
         {&reading.due_, "SELECT " POSTHORN_OUTBOX_COLUMNS
                         " FROM outbox_messages WHERE status = 'Pending' AND destination = ?1"
                         " AND next_retry_at <= ?2 ORDER BY next_retry_at, seq LIMIT ?3"},
         {&reading.next_due_, POSTHORN_PENDING_DESTINATIONS
          "SELECT min((SELECT min(next_retry_at) FROM outbox_messages WHERE status = 'Pending'"
          " AND destination = name)) FROM pending WHERE typeof(name) = 'text'"},
         {&reading.find_,
          "SELECT " POSTHORN_OUTBOX_COLUMNS " FROM outbox_messages WHERE message_id = ?"},
         {&reading.status_, "SELECT status FROM outbox_messages WHERE message_id = ?"},
         {&reading.counts_, "SELECT status, count(*) FROM outbox_messages GROUP BY status"},
         {&reading.ended_, "SELECT " POSTHORN_OUTBOX_COLUMNS
                           ", status, last_error FROM outbox_ended CROSS JOIN outbox_messages"
                           " USING (seq) WHERE outbox_ended.seq > ? ORDER BY outbox_ended.seq"
                           " LIMIT ?"}}));
    return reading;
}

result<std::vector<std::string>> outbox_reading::due_destinations(wall_time now) {
    const reset_at_end reset(destinations_);
    destinations_.bind(1, to_ms(now));
    std::vector<std::string> names;
    for (;;) {
        auto row = destinations_.step();
        if (!row) return std::unexpected(std::move(row).error());
        if (!*row) return names;
        names.emplace_back(destinations_.text(0));
    }
}

result<outbox_page> outbox_reading::due(const due_question& asked) {
    const reset_at_end reset(due_);
    due_.bind(1, asked.destination);
    due_.bind(2, to_ms(asked.now));
    due_.bind(3, static_cast<std::int64_t>(asked.limit + asked.held.size()));
    outbox_page page;
    for (;;) {
        auto more = due_.step();
        if (!more) return std::unexpected(std::move(more).error());
        if (!*more) return page;
        if (std::ranges::binary_search(asked.held, due_.integer(0))) continue;
        if (page.rows.size() + page.bad.size() + page.parked.size() >= asked.limit) {
            page.more = true;
            return page;
        }
        auto row = read_row(due_, rules_.source);
        if (row)
            if (auto fit = validate(row->body, rules_.limits); !fit)
                row = std::unexpected(fit.error());
        if (!row) {
            page.bad.push_back(
                {due_.integer(0), fmt::format("{}: {}", row.error().name(), row.error().what())});
            continue;
        }
        if (!row->body.order_key.empty()) {
            auto blocked = order_.is_blocked(row->seq);
            if (!blocked) return std::unexpected(std::move(blocked).error());
            row->parked = *blocked;
        }
        (row->parked ? page.parked : page.rows).push_back(*std::move(row));
    }
}

result<unblocked_slice> outbox_reading::unblocked(const std::optional<order_scope>&, std::size_t) {
    return unblocked_slice{};
}

result<std::optional<wall_time>> outbox_reading::next_due() {
    const reset_at_end reset(next_due_);
    auto row = next_due_.step();
    if (!row) return std::unexpected(std::move(row).error());
    if (!*row || next_due_.is_null(0)) return std::nullopt;
    return from_ms(next_due_.integer(0));
}

result<std::optional<outbox_row>> outbox_reading::find(const uuid& id) {
    const reset_at_end reset(find_);
    find_.bind(1, id);
    auto row = find_.step();
    if (!row) return std::unexpected(std::move(row).error());
    if (!*row) return std::nullopt;
    return read_row(find_, rules_.source);
}

result<std::optional<outbox_status>> outbox_reading::status(const uuid& id) {
    const reset_at_end reset(status_);
    status_.bind(1, id);
    auto row = status_.step();
    if (!row) return std::unexpected(std::move(row).error());
    if (!*row) return std::nullopt;
    return parse_outbox_status(status_.text(0));
}

result<outbox_counts> outbox_reading::counts() {
    const reset_at_end reset(counts_);
    outbox_counts counts;
    for (;;) {
        auto row = counts_.step();
        if (!row) return std::unexpected(std::move(row).error());
        if (!*row) return counts;
        const std::int64_t number = counts_.integer(1);
        switch (parse_outbox_status(counts_.text(0)).value_or(outbox_status::pending)) {
            case outbox_status::pending: counts.pending = number; break;
            case outbox_status::sent: counts.sent = number; break;
            case outbox_status::dead: counts.dead = number; break;
            case outbox_status::expired: counts.expired = number; break;
            case outbox_status::resolved: counts.resolved = number; break;
        }
    }
}

result<std::vector<ended_row>> outbox_reading::ended(std::int64_t after_seq, std::size_t limit) {
    const reset_at_end reset(ended_);
    ended_.bind(1, after_seq);
    ended_.bind(2, static_cast<std::int64_t>(limit));
    std::vector<ended_row> rows;
    for (;;) {
        auto more = ended_.step();
        if (!more) return std::unexpected(std::move(more).error());
        if (!*more) return rows;
        auto row = read_row(ended_, rules_.source);
        rows.push_back(
            {.row = row ? *std::move(row) : read_what_can_be(ended_, rules_.source),
             .status = parse_outbox_status(ended_.text(20)).value_or(outbox_status::dead),
             .error = std::string(ended_.text(21))});
    }
}

}  // namespace posthorn::sqlite
