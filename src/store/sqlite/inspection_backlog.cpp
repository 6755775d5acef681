// What waits in the outbox, by destination.
#include <algorithm>
#include <utility>

#include "store/sqlite/counting.hpp"
#include "store/sqlite/inspection_sql.hpp"
#include "store/sqlite/outbox_insert.hpp"

namespace posthorn::sqlite {

result<backlog_report> inspection_sql::backlog(wall_time now, const backlog_limits& limits) {
    backlog_report report;
    for (auto at = flows_.first();; at = flows_.next_destination((*at)->destination)) {
        if (!at) return std::unexpected(std::move(at).error());
        if (!*at) return report;
        report.more = report.destinations.size() == limits.destinations_max;
        if (report.more) return report;
        auto one = backlog_of((*at)->destination, now, limits);
        if (!one) return std::unexpected(std::move(one).error());
        report.destinations.push_back(*std::move(one));
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
        auto row = rows.step();
        if (!row) return std::unexpected(std::move(row).error());
        if (!*row) return {};
        const auto since = from_ms(std::max(rows.integer(0), rows.integer(1)));
        if (since <= now && (!into.oldest || since < *into.oldest)) into.oldest = since;
        if (!is_undeliverable_error(rows.text(3))) continue;
        if (into.undeliverable.value++ == 0) into.undeliverable_error = rows.text(3);
    }
}

}  // namespace posthorn::sqlite
