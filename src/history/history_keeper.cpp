#include "history/history_keeper.hpp"

#include <algorithm>
#include <utility>

#include "base/async/run_on.hpp"
#include "history/history_table.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t seconds_in_memory = 900;
constexpr auto fine_step = 10s;
constexpr auto coarse_step = 60s;
/// A longer silence is not a slow second: the machine slept, or its clock was set.
constexpr auto silence_max = 60s;
/// Of a core, for reading how much waits.
constexpr int reading_share = 100;
/// Where the store cannot write, no more is piled up than so many units.
constexpr int units_max = 30;

wall_time slot_of(wall_time time, std::chrono::seconds step) {
    const std::chrono::milliseconds length = step;
    return wall_time(time.time_since_epoch() / length * length);
}

void add_waiting(history_lines& to, const backlog_report& seen, wall_time now) {
    for (const auto& one : seen.destinations) {
        const auto age =
            one.oldest ? std::max<std::int64_t>(0, (now - *one.oldest).count()) : std::int64_t{0};
        for (auto* const into :
             {&to[{history_kind::destination, one.destination}], &to[{history_kind::outbox, {}}]}) {
            into->waiting += one.pending.value;
            into->oldest_ms = std::max(into->oldest_ms, age);
        }
    }
}

}  // namespace

void history_keeper::saving::done(const result<>& outcome, std::size_t rows) {
    --units;
    if (outcome) {
        if (fails.exchange(false)) log.info("History: rows can be written again");
        return;
    }
    lost += rows;
    if (!fails.exchange(true))
        log.warn("History: rows cannot be written, so the desk's charts have a gap: {Error}",
                 {{"Error", outcome.error().what()}});
}

task<> history_keeper::run() {
    begin();
    while (co_await with_.env.timer.sleep_for(1s)) co_await tick();
    // The slots that are open end here.
    if (!ten_seconds_.lines.empty()) append(minute_.lines, ten_seconds_.lines);
    auto rows = rows_of(ten_seconds_);
    std::ranges::move(rows_of(minute_), std::back_inserter(rows));
    save(std::move(rows), false);
}

void history_keeper::begin() {
    last_ = slot_of(with_.env.clock.wall(), 1s);
    before_ = count();
    ten_seconds_ = {.at = slot_of(last_, fine_step), .step = fine_step};
    minute_ = {.at = slot_of(last_, coarse_step), .step = coarse_step};
}

task<> history_keeper::tick() {
    const auto now = slot_of(with_.env.clock.wall(), 1s);
    if (now == last_) co_return;
    if (now < last_ || now - last_ > silence_max) {
        close_slots(now);
        co_return begin();
    }
    if (now >= ten_seconds_.at + fine_step) co_await look_at_backlog();
    auto counted = count();
    history_sample second{
        .at = last_,
        .step = std::chrono::duration_cast<std::chrono::seconds>(now - last_),
        .lines = bounded(with_backlog(difference(counted, before_)), with_.names_max)};
    before_ = std::move(counted);
    last_ = now;
    append(ten_seconds_.lines, second.lines);
    keep_in_memory(std::move(second));
    if (now >= ten_seconds_.at + fine_step) close_slots(now);
}

/// The slots that have ended go to the database, and the next ones begin.
void history_keeper::close_slots(wall_time now) {
    ten_seconds_.lines = bounded(std::move(ten_seconds_.lines), with_.names_max);
    auto rows = rows_of(ten_seconds_);
    append(minute_.lines, ten_seconds_.lines);
    const bool is_minute = now < minute_.at || now >= minute_.at + coarse_step;
    if (is_minute) {
        minute_.lines = bounded(std::move(minute_.lines), with_.names_max);
        std::ranges::move(rows_of(minute_), std::back_inserter(rows));
        minute_ = {.at = slot_of(now, coarse_step), .step = coarse_step};
    }
    ten_seconds_ = {.at = slot_of(now, fine_step), .step = fine_step};
    save(std::move(rows), is_minute);
}

void history_keeper::save(std::vector<history_row> rows, bool at_once) {
    if (rows.empty()) return;
    if (saving_->units >= units_max) {
        saving_->lost += rows.size();
        return;
    }
    ++saving_->units;
    const auto number = rows.size();
    with_.where.submit({.work = [rows = std::move(rows), at_once, now = last_,
                                 node = with_.node](store_transaction& tx) -> result<> {
                            POSTHORN_TRY(insert_history(tx, rows));
                            return at_once ? trim_history(tx, now, node) : result<>{};
                        },
                        .done = [saving = saving_, number](
                                    const result<>& outcome) { saving->done(outcome, number); },
                        .lazy = !at_once});
}

std::vector<history_row> history_keeper::rows_of(const history_sample& sample) const {
    std::vector<history_row> rows;
    for (const auto& [key, numbers] : sample.lines)
        rows.push_back({.at = sample.at,
                        .step = sample.step,
                        .node = with_.node,
                        .key = key,
                        .numbers = numbers});
    return rows;
}

task<> history_keeper::look_at_backlog() {
    const auto begun = with_.env.clock.steady();
    if (begun < next_look_) co_return;
    auto seen = co_await run_on(with_.env.readers, [this] {
        result<history_lines> lines;
        for (auto* const each : with_.outboxes) {
            const auto read = each->read([&](store_reader& from) -> result<> {
                const auto now = with_.env.clock.wall();
                POSTHORN_LET(report, from.inspect().backlog(now, {}));
                add_waiting(*lines, report, now);
                return {};
            });
            if (!read) return result<history_lines>(std::unexpected(read.error()));
        }
        return lines;
    });
    if (seen) backlog_ = *std::move(seen);  // Otherwise health tells of it.
    const auto ended = with_.env.clock.steady();
    next_look_ = ended + (ended - begun) * reading_share;
}

history_lines history_keeper::with_backlog(history_lines lines) const {
    for (const auto& [key, numbers] : backlog_) {
        auto& into = lines[key];
        into.waiting = numbers.waiting;
        into.oldest_ms = numbers.oldest_ms;
    }
    return lines;
}

history_lines history_keeper::count() const {
    history_lines lines;
    auto& outbox = lines[{history_kind::outbox, {}}];
    for (const auto* const of_database : with_.counters)
        for (const auto& [name, counted] : of_database->destinations.view()) {
            history_numbers numbers{.done = counted.sent,
                                    .failed = counted.retried + counted.dead,
                                    .dead = counted.dead + counted.expired,
                                    .took = counted.took};
            merge(outbox, numbers);
            merge(lines[{history_kind::destination, name}], numbers);
        }
    const auto* const inbox = with_.inbox ? with_.inbox() : nullptr;
    if (inbox == nullptr) return lines;
    auto& received = lines[{history_kind::inbox, {}}];
    for (const auto& [name, counted] : inbox->endpoints().view()) {
        history_numbers numbers{.done = counted.processed,
                                .failed = counted.failed,
                                .duplicates = counted.duplicates,
                                .took = counted.took};
        merge(received, numbers);
        merge(lines[{history_kind::endpoint, name}], numbers);
    }
    return lines;
}

void history_keeper::keep_in_memory(history_sample sample) {
    const std::scoped_lock lock(mutex_);
    recent_.push_back(std::move(sample));
    if (recent_.size() > seconds_in_memory) recent_.pop_front();
}

std::vector<history_row> history_keeper::recent(wall_time since, const history_key& of) const {
    std::vector<history_row> rows;
    const std::scoped_lock lock(mutex_);
    for (const auto& each : recent_) {
        if (each.at + each.step <= since) continue;
        // Nothing is known of a second without a sample; one without the line was idle.
        const auto found = each.lines.find(of);
        rows.push_back({.at = each.at,
                        .step = each.step,
                        .node = with_.node,
                        .key = of,
                        .numbers = found != each.lines.end() ? found->second : history_numbers{}});
    }
    return rows;
}

std::optional<wall_time> history_keeper::recent_since() const {
    const std::scoped_lock lock(mutex_);
    if (recent_.empty()) return std::nullopt;
    return recent_.front().at;
}

std::vector<std::string> history_keeper::names(history_kind kind) const {
    std::vector<std::string> all;
    for (const auto& [key, numbers] : count())
        if (key.kind == kind) all.push_back(key.name);
    return all;
}

}  // namespace posthorn
