#include "history/chart.hpp"

#include <algorithm>

namespace posthorn {
namespace {

using std::chrono::milliseconds;

/// Rows of less than ten seconds do not have a number of their own for what waits.
constexpr std::chrono::seconds waiting_every{10};

struct slot {
    bool is_known = false;
    double done = 0;
    double failed = 0;
    double dead = 0;
    double duplicates = 0;
    std::array<double, duration_bounds_us.size() + 1> took{};
    std::int64_t waiting_max = 0;
    std::int64_t waiting_last = 0;
    wall_time last{};
    std::int64_t oldest_ms = 0;
};

void put(slot& into, const history_row& row, double share) {
    const auto& numbers = row.numbers;
    into.is_known = true;
    into.done += static_cast<double>(numbers.done) * share;
    into.failed += static_cast<double>(numbers.failed) * share;
    into.dead += static_cast<double>(numbers.dead) * share;
    into.duplicates += static_cast<double>(numbers.duplicates) * share;
    for (std::size_t i = 0; i < into.took.size(); ++i)
        into.took[i] += static_cast<double>(numbers.took[i]) * share;
    into.waiting_max = std::max(into.waiting_max, numbers.waiting);
    into.oldest_ms = std::max(into.oldest_ms, numbers.oldest_ms);
    const auto end = row.at + row.step;
    if (end > into.last) {
        into.last = end;
        into.waiting_last = numbers.waiting;
    } else if (end == into.last) {
        into.waiting_last = std::max(into.waiting_last, numbers.waiting);
    }
}

std::vector<slot> fill(std::span<const history_row> rows, const history_range& range,
                       wall_time from) {
    std::vector<slot> slots(range.slots);
    const milliseconds step = range.step;
    for (const auto& row : rows) {
        const milliseconds length = row.step;
        const auto first = std::max<std::int64_t>(0, (row.at - from) / step);
        for (auto i = static_cast<std::size_t>(first); i < slots.size(); ++i) {
            const auto begin = from + step * static_cast<std::int64_t>(i);
            if (begin >= row.at + length) break;
            const auto overlap = std::min(begin + step, row.at + length) - std::max(begin, row.at);
            if (overlap <= milliseconds{0}) continue;
            put(slots[i], row,
                static_cast<double>(overlap.count()) / static_cast<double>(length.count()));
        }
    }
    return slots;
}

/// Over as many slots at a time as what waits has a number for.
void fill_came(const std::vector<slot>& slots, const history_range& range, history_chart& into) {
    const auto group = static_cast<std::size_t>(
        std::max<std::int64_t>(1, waiting_every.count() / range.step.count()));
    std::optional<std::int64_t> before;
    for (std::size_t begin = 0; begin < slots.size(); begin += group) {
        const auto end = std::min(begin + group, slots.size());
        double left = 0;
        std::size_t known = 0;
        std::optional<std::int64_t> after;
        for (auto i = begin; i < end; ++i) {
            if (!slots[i].is_known) continue;
            ++known;
            left += slots[i].done + slots[i].dead;
            after = slots[i].waiting_last;
        }
        const auto grown =
            before && after ? static_cast<double>(*after) - static_cast<double>(*before) : 0;
        const auto came = std::max(0.0, left + grown);
        for (auto i = begin; i < end; ++i)
            if (into[i])
                into[i]->came =
                    came / static_cast<double>(known) / static_cast<double>(range.step.count());
        before = after;
    }
}

}  // namespace

wall_time begin_of(const history_range& range, wall_time now) {
    const milliseconds step = range.step;
    const auto whole = now.time_since_epoch() / step * step;
    return wall_time(whole) - step * static_cast<std::int64_t>(range.slots);
}

history_chart lay_out(std::span<const history_row> rows, const history_range& range,
                      wall_time from) {
    const auto slots = fill(rows, range, from);
    const auto seconds = static_cast<double>(range.step.count());
    constexpr double us_per_ms = 1000;
    history_chart chart(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const auto& one = slots[i];
        if (!one.is_known) continue;
        chart[i] = history_point{.done = one.done / seconds,
                                 .failed = one.failed / seconds,
                                 .dead = one.dead / seconds,
                                 .duplicates = one.duplicates / seconds,
                                 .p50_ms = percentile_us(one.took, 50) / us_per_ms,
                                 .p99_ms = percentile_us(one.took, 99) / us_per_ms,
                                 .waiting = one.waiting_max,
                                 .oldest_ms = one.oldest_ms};
    }
    fill_came(slots, range, chart);
    return chart;
}

}  // namespace posthorn
