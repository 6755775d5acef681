#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <sqlite3.h>

#include "store/rows/outbox_rows.hpp"
#include "store/sqlite/driver/prepare_all.hpp"
#include "store/sqlite/tables/outbox_insert.hpp"
#include "store/sqlite/tables/outbox_sql.hpp"

namespace posthorn::sqlite {
result<outbox_reading> outbox_reading::open(connection& database, outbox_rules rules) {
    outbox_reading reading;
    reading.rules_ = std::move(rules);
    POSTHORN_TRY(open_into(reading.order_, database));
    POSTHORN_TRY(open_into(reading.keys_, database));
    POSTHORN_TRY(open_into(reading.flows_, database));
    POSTHORN_TRY(open_into(reading.due_, database));
    POSTHORN_TRY(open_into(reading.expired_, database));
    POSTHORN_TRY(prepare_all(
        database,
        {{&reading.one_,
          "SELECT " POSTHORN_OUTBOX_COLUMNS_WITH("payload") " FROM outbox_messages WHERE seq = ?"},
         {&reading.policy_, "SELECT value FROM posthorn_meta WHERE name = 'order_policy'"},
         {&reading.find_, "SELECT " POSTHORN_OUTBOX_COLUMNS_WITH(
                              "payload") " FROM outbox_messages WHERE message_id = ?"},
         {&reading.status_, "SELECT status FROM outbox_messages WHERE message_id = ?"},
         {&reading.counts_, "SELECT status, count(*) FROM outbox_messages GROUP BY status"},
         {&reading.paused_,
          "SELECT destination, paused_at, reason FROM outbox_paused ORDER BY destination"
          " LIMIT 10000"},
         {&reading.ended_,
          "SELECT " POSTHORN_OUTBOX_COLUMNS_WITH(
              "payload") ", status, last_error FROM outbox_ended CROSS JOIN outbox_messages"
                         " USING (seq) WHERE outbox_ended.seq > ? ORDER BY outbox_ended.seq"
                         " LIMIT ?"}}));
    return reading;
}

result<std::vector<std::string>> outbox_reading::due_destinations(wall_time now) {
    std::set<std::string> names;
    POSTHORN_TRY(flows_.go_round(std::nullopt, destinations_after_, [&](const flow& one) {
        if (one.first_ms > to_ms(now)) return flow_walk::step::on;
        names.insert(one.destination);
        return flow_walk::step::to_next_destination;
    }));
    return std::vector(names.begin(), names.end());
}

result<outbox_page> outbox_reading::due(const due_question& asked) {
    POSTHORN_LET(chosen, due_.choose(asked));
    outbox_page page;
    page.rows.reserve(chosen.seqs.size());
    page.more = chosen.more;
    for (const auto seq : chosen.seqs) POSTHORN_TRY(read_into(page, seq));
    return page;
}

result<> outbox_reading::read_into(outbox_page& page, std::int64_t seq) {
    const reset_at_end reset(one_);
    one_.bind(1, seq);
    POSTHORN_LET(found, one_.step());
    if (!found) return {};
    auto row = read_row(one_, rules_.source);
    if (row)
        if (auto fit = validate(row->body, rules_.limits); !fit) row = std::unexpected(fit.error());
    if (!row) {
        page.bad.push_back({seq, fmt::format("{}: {}", row.error().name(), row.error().what())});
        return {};
    }
    if (!row->body.order_key.empty()) {
        POSTHORN_LET(blocked, order_.is_blocked(seq));
        row->parked = blocked;
    }
    (row->parked ? page.parked : page.rows).push_back(*std::move(row));
    return {};
}

result<std::optional<wall_time>> outbox_reading::next_due() {
    std::optional<std::int64_t> next;
    POSTHORN_TRY(flows_.go_round(std::nullopt, next_due_after_, [&](const flow& one) {
        next = std::min(next.value_or(one.first_ms), one.first_ms);
        return flow_walk::step::on;
    }));
    if (!next) return std::nullopt;
    return from_ms(*next);
}

result<order_policy> outbox_reading::present_order_policy() {
    const reset_at_end reset(policy_);
    POSTHORN_LET(row, policy_.step());
    if (!row) return order_policy::park;
    return parse_order_policy(policy_.text(0)).value_or(order_policy::park);
}

result<std::optional<outbox_row>> outbox_reading::find(const uuid& id) {
    const reset_at_end reset(find_);
    find_.bind(1, id);
    POSTHORN_LET(row, find_.step());
    if (!row) return std::nullopt;
    return read_row(find_, rules_.source);
}

result<std::optional<outbox_status>> outbox_reading::status(const uuid& id) {
    const reset_at_end reset(status_);
    status_.bind(1, id);
    POSTHORN_LET(row, status_.step());
    if (!row) return std::nullopt;
    return parse_outbox_status(status_.text(0));
}

result<outbox_counts> outbox_reading::counts() {
    const reset_at_end reset(counts_);
    outbox_counts counts;
    for (;;) {
        POSTHORN_LET(row, counts_.step());
        if (!row) return counts;
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

result<std::vector<final_row>> outbox_reading::ended(std::int64_t after_seq, std::size_t limit) {
    const reset_at_end reset(ended_);
    ended_.bind(1, after_seq);
    ended_.bind(2, static_cast<std::int64_t>(limit));
    std::vector<final_row> rows;
    for (;;) {
        POSTHORN_LET(more, ended_.step());
        if (!more) return rows;
        auto row = read_row(ended_, rules_.source);
        rows.push_back(
            {.row = row ? *std::move(row) : read_what_can_be(ended_, rules_.source),
             .status =
                 parse_outbox_status(ended_.text(outbox_columns)).value_or(outbox_status::dead),
             .error = std::string(ended_.text(outbox_columns + 1))});
    }
}

}  // namespace posthorn::sqlite
