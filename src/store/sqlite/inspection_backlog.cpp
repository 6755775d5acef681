// What waits in the outbox, by destination.
#include <algorithm>
#include <utility>

#include "store/sqlite/counting.hpp"
#include "store/sqlite/inspection_sql.hpp"
#include "store/sqlite/outbox_insert.hpp"

namespace posthorn::sqlite {

result<backlog_report> inspection_sql::backlog(wall_time now, const backlog_limits& limits) {
    std::vector<std::string> names;
    {
        const reset_at_end reset(destinations_);
        destinations_.bind(1, static_cast<std::int64_t>(limits.destinations_max) + 1);
        for (;;) {
            auto row = destinations_.step();
            if (!row) return std::unexpected(std::move(row).error());
            if (!*row) break;
            names.emplace_back(destinations_.text(0));
        }
    }
    backlog_report report{.destinations = {}, .more = names.size() > limits.destinations_max};
    if (report.more) names.pop_back();
    for (auto& name : names) {
        auto one = backlog_of(std::move(name), now, limits);
        if (!one) return std::unexpected(std::move(one).error());
        report.destinations.push_back(*std::move(one));
    }
    return report;
}

result<destination_backlog> inspection_sql::backlog_of(std::string name, wall_time now,
                                                       const backlog_limits& limits) {
    destination_backlog found{.destination = std::move(name),
                              .pending = {},
                              .undeliverable = {},
                              .undeliverable_error = {}};
    std::int64_t counted = 0;
    std::optional<std::int64_t> first_due;
    for (auto* query : {&due_count_, &waiting_count_}) {
        const reset_at_end reset(*query);
        query->bind(1, std::string_view(found.destination));
        query->bind(2, to_ms(now));
        query->bind(3, limits.count_max + 1);
        POSTHORN_TRY(step_to_row(*query));
        counted += query->integer(0);
        if (query == &due_count_ && !query->is_null(1)) first_due = query->integer(1);
    }
    found.pending = up_to(counted, limits.count_max);
    if (first_due) {
        const reset_at_end reset(since_);
        since_.bind(1, *first_due);
        POSTHORN_TRY(step_to_row(since_));
        found.oldest = from_ms(since_.integer(0));
    }
    for (auto* rows : {&due_rows_, &waiting_rows_})
        POSTHORN_TRY(look_at(found, *rows, now, limits.rows_max));
    return found;
}

// Which of the rows waits only for its own time, and which cannot go anywhere, stands in no index.
result<> inspection_sql::look_at(destination_backlog& into, statement& rows, wall_time now,
                                 std::int64_t rows_max) {
    const reset_at_end reset(rows);
    rows.bind(1, std::string_view(into.destination));
    rows.bind(2, to_ms(now));
    rows.bind(3, rows_max);
    std::int64_t seen = 0;
    for (;; ++seen) {
        auto row = rows.step();
        if (!row) return std::unexpected(std::move(row).error());
        if (!*row) break;
        const auto since = from_ms(std::max(rows.integer(0), rows.integer(1)));
        if (since <= now && (!into.oldest || since < *into.oldest)) into.oldest = since;
        if (!is_undeliverable_error(rows.text(3))) continue;
        if (into.undeliverable.value++ == 0) into.undeliverable_error = rows.text(3);
    }
    if (seen == rows_max && into.undeliverable.value > 0) into.undeliverable.at_least = true;
    return {};
}

}  // namespace posthorn::sqlite
