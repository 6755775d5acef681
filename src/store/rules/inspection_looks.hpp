#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bounded_sum.hpp"
#include "store/inspection.hpp"
#include "store/rows/stored_time.hpp"
#include "store/rows/summary_rows.hpp"
#include "store/rules/time_seek.hpp"
#include "store/statements/inspection_looks_sql.hpp"

namespace posthorn {

/// What people ask of a store and every store answers alike; `Flows` is how it goes
/// from flow to flow.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
template <class Driver, class Flows>
class inspection_looks : public store_inspector {
public:
    using store_inspector::list;
    result<message_list> list(const message_filter& wanted) final;

    explicit inspection_looks(typename Driver::connection& database,
                              const inspection_looks_sql& texts = inspection_looks_texts)
        : flows_(database),
          count_pending_(database, texts.count_pending),
          count_sent_(database, texts.count_sent),
          count_closed_(database, texts.count_closed),
          count_dead_messages_(database, texts.count_dead_messages),
          show_(database, texts.show),
          attempts_(database, texts.attempts),
          waits_behind_(database, texts.waits_behind),
          blocked_(database, texts.blocked),
          newest_(database, texts.newest),
          highest_(database, texts.highest),
          times_from_(database, texts.times_from),
          inbox_count_(database, texts.inbox_count),
          inbox_ends_(database, texts.inbox_ends) {}

    result<bounded_count> count(outbox_status status, std::int64_t at_most) override;
    result<bounded_count> count_dead_messages(std::int64_t at_most) override {
        POSTHORN_LET(counted, count_dead_messages_.run(at_most + 1));
        return up_to(counted.front().integer(0), at_most);
    }
    result<backlog_report> backlog(wall_time now, const backlog_limits& limits) override;
    result<blocked_report> blocked(const blocked_limits& limits) override;
    result<std::optional<wall_time>> newest() override;
    result<std::optional<message_detail>> show(const uuid& id, bool with_payload) override;
    result<bounded_count> inbox_size(std::int64_t at_most) override;

protected:
    // A page ends after so many rows, found or not.
    static constexpr std::int64_t rows_per_page_max = 50'000;

    [[nodiscard]] Flows& flows() noexcept { return flows_; }
    /// Where a list begins that goes down from there.
    [[nodiscard]] static std::int64_t top(std::int64_t before_seq) {
        return before_seq > 0 ? before_seq : std::numeric_limits<std::int64_t>::max();
    }
    /// Which of the rows waits only for its own time, and which cannot go anywhere, stands in no
    /// index.
    static void note_waiting(destination_backlog& into, wall_time since, std::string_view error,
                             wall_time now) {
        since = std::max(since, wall_time{});  // Whatever a producer wrote, an age is told of it.
        if (since <= now && (!into.oldest || since < *into.oldest)) into.oldest = since;
        if (!is_undeliverable_error(error)) return;
        if (into.undeliverable.value++ == 0) into.undeliverable_error = error;
    }
    /// Since when the first of those that are due could have gone out.
    static void note_first_due(destination_backlog& into, const sql_row& row) {
        const auto since = std::max(from_ms(row.integer(0)), wall_time{});
        into.oldest = std::min(into.oldest.value_or(since), since);
    }
    [[nodiscard]] static inbox_summary read_inbox_summary(const sql_row& row) {
        return {.seq = row.integer(0),
                .source = std::string(row.text(1)),
                .id = std::string(row.text(2)),
                .endpoint = std::string(row.text(3)),
                .processed_at = optional_time(row, 4),
                .claimed_until = optional_time(row, 5),
                .expires_at = from_ms(row.integer(6))};
    }

private:
    [[nodiscard]] static order_blocker read_blocker(const sql_row& row, std::size_t first) {
        return {.id = std::string(row.text(first)),
                .status = parse_outbox_status(row.text(first + 1)).value_or(outbox_status::pending),
                .since = optional_time(row, first + 2)};
    }
    result<std::optional<order_blocker>> find_blocker(std::int64_t seq);
    /// What a list that goes down to older rows than `until` can leave out lies from here on.
    result<std::int64_t> end_of(wall_time until, std::int64_t before_seq);
    /// A page of what fits, whose first row lies below `before_seq`.
    virtual result<message_list> list_down(const message_filter& wanted) = 0;
    /// What waits for the one that it says.
    virtual result<> look_at(destination_backlog& into, wall_time now,
                             const backlog_limits& limits) = 0;

    Flows flows_;
    typename Driver::statement count_pending_;
    typename Driver::statement count_sent_;
    typename Driver::statement count_closed_;
    typename Driver::statement count_dead_messages_;
    typename Driver::statement show_;
    typename Driver::statement attempts_;
    typename Driver::statement waits_behind_;
    typename Driver::statement blocked_;
    typename Driver::statement newest_;
    typename Driver::statement highest_;
    typename Driver::statement times_from_;
    typename Driver::statement inbox_count_;
    typename Driver::statement inbox_ends_;
};

template <class Driver, class Flows>
result<bounded_count> inspection_looks<Driver, Flows>::count(outbox_status status,
                                                             std::int64_t at_most) {
    const auto ask = [&] {
        switch (status) {
            case outbox_status::pending: return count_pending_.run(at_most + 1);
            case outbox_status::sent: return count_sent_.run(at_most + 1);
            default: return count_closed_.run(to_string(status), at_most + 1);
        }
    };
    POSTHORN_LET(counted, ask());
    return up_to(counted.front().integer(0), at_most);
}

template <class Driver, class Flows>
result<backlog_report> inspection_looks<Driver, Flows>::backlog(wall_time now,
                                                                const backlog_limits& limits) {
    backlog_report report;
    POSTHORN_LET(names, flows_.destinations(limits.destinations_max + 1));
    report.more = names.size() > limits.destinations_max;
    if (report.more) names.pop_back();
    for (auto& name : names) {
        destination_backlog one{.destination = std::move(name),
                                .pending = {},
                                .undeliverable = {},
                                .undeliverable_error = {}};
        POSTHORN_TRY(look_at(one, now, limits));
        report.destinations.push_back(std::move(one));
    }
    return report;
}

template <class Driver, class Flows>
result<std::optional<message_detail>> inspection_looks<Driver, Flows>::show(const uuid& id,
                                                                            bool with_payload) {
    constexpr std::int64_t attempts_max = 1'000;
    message_detail detail;
    {
        POSTHORN_LET(found, show_.run(id, std::int64_t{with_payload}));
        if (found.empty()) return std::nullopt;
        const auto& row = found.front();
        detail.summary = read_summary(row);
        detail.payload_bytes = row.integer(summary_columns_count);
        detail.content_type = row.text(summary_columns_count + 1);
        if (with_payload) {
            detail.payload = row.text(summary_columns_count + 2);
            detail.headers = row.text(summary_columns_count + 3);
        }
    }
    POSTHORN_LET(tried, attempts_.run(detail.summary.seq, attempts_max));
    POSTHORN_TRY(tried.each([&](const sql_row& row) {
        detail.attempts.push_back({.number = row.integer(0),
                                   .at = from_ms(row.integer(1)),
                                   .error = std::string(row.text(2))});
    }));
    std::ranges::reverse(detail.attempts);  // They come with the last one first.
    POSTHORN_LET(behind, find_blocker(detail.summary.seq));
    detail.waits_behind = std::move(behind);
    return detail;
}

// One that was given up needs a person; the others end by themselves.
template <class Driver, class Flows>
result<std::optional<order_blocker>> inspection_looks<Driver, Flows>::find_blocker(
    std::int64_t seq) {
    std::optional<order_blocker> worst;
    std::pair<bool, std::int64_t> place{};  // Whether it ends by itself, and its seq.
    POSTHORN_LET(found, waits_behind_.run(seq));
    POSTHORN_TRY(found.each([&](const sql_row& row) {
        auto one = read_blocker(row, 0);
        const std::pair its_place(one.status == outbox_status::pending, row.integer(3));
        if (worst && place < its_place) return;
        worst = std::move(one);
        place = its_place;
    }));
    return worst;
}

// Asked for one key and one row more than are wanted, to know whether there are.
template <class Driver, class Flows>
result<blocked_report> inspection_looks<Driver, Flows>::blocked(const blocked_limits& limits) {
    blocked_report report;
    POSTHORN_LET(found,
                 blocked_.run(limits.rows_max + 1, limits.keys_max + 1, limits.count_max + 1));
    POSTHORN_TRY(found.each([&](const sql_row& row) {
        report.more |= row.integer(7) > limits.rows_max;
        if (std::ssize(report.keys) == limits.keys_max) {
            report.more = true;
            return;
        }
        report.keys.push_back({.key = {.destination = std::string(row.text(0)),
                                       .order_key = std::string(row.text(1)),
                                       .tenant = std::string(row.text(2))},
                               .by = read_blocker(row, 3),
                               .waiting = up_to(row.integer(6), limits.count_max)});
    }));
    return report;
}

template <class Driver, class Flows>
result<message_list> inspection_looks<Driver, Flows>::list(const message_filter& wanted) {
    if (!wanted.until) return list_down(wanted);
    auto below = wanted;
    POSTHORN_LET(end, end_of(*wanted.until, wanted.before_seq));
    below.before_seq = end;
    return list_down(below);
}

template <class Driver, class Flows>
result<std::int64_t> inspection_looks<Driver, Flows>::end_of(wall_time until,
                                                             std::int64_t before_seq) {
    std::int64_t top = 1;
    {
        POSTHORN_LET(highest, highest_.run());
        constexpr auto last = std::numeric_limits<std::int64_t>::max() - 1;
        if (!highest.empty() && !highest.front().is_null(0))
            top = std::min(highest.front().integer(0), last) + 1;
    }
    if (before_seq > 0) top = std::min(top, before_seq);
    time_seek seek(top, until);
    while (!seek.is_done()) {
        bool older = false;
        POSTHORN_LET(some, times_from_.run(seek.place(), time_seek::rows_per_look));
        POSTHORN_TRY(some.each(
            [&](const sql_row& row) { older = older || seek.is_older(from_ms(row.integer(0))); }));
        seek.saw(older);
    }
    return seek.end();
}

template <class Driver, class Flows>
result<std::optional<wall_time>> inspection_looks<Driver, Flows>::newest() {
    POSTHORN_LET(found, newest_.run());
    const auto at = found.front().integer(0);
    if (at == 0) return std::nullopt;
    return from_ms(at);
}

template <class Driver, class Flows>
result<bounded_count> inspection_looks<Driver, Flows>::inbox_size(std::int64_t at_most) {
    {
        POSTHORN_LET(counted, inbox_count_.run(at_most + 1));
        const auto number = counted.front().integer(0);
        if (number <= at_most) return bounded_count{number};
    }
    // Rows are added at one end and purged at about the other.
    POSTHORN_LET(ends, inbox_ends_.run());
    const auto between = bounded_difference(ends.front().integer(1), ends.front().integer(0));
    return bounded_count{bounded_sum(between, 1), true};
}

}  // namespace posthorn
