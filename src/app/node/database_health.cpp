#include "app/node/database_health.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/text/counted.hpp"
#include "base/time/clock_watch.hpp"

namespace posthorn {
namespace {

std::string describe_wait(std::chrono::nanoseconds longest) {
    return fmt::format(
        "a write has waited for {} s; another program may hold the database's lock, or a "
        "transaction takes long",
        std::chrono::floor<std::chrono::seconds>(longest).count());
}

void judge_writes(const database_signs& seen, database_verdict& verdict) {
    if (seen.write_failure) {
        verdict.broken.push_back(
            fmt::format("the store cannot be written: {}", seen.write_failure->what()));
        return;
    }
    if (seen.is_stuck || seen.longest_wait < wait_green_below) return;
    if (seen.longest_wait >= wait_red_from)
        verdict.broken.push_back(describe_wait(seen.longest_wait));
    else
        verdict.worries.push_back({health_level::yellow, describe_wait(seen.longest_wait)});
}

// What keeps the store from being written at all has been said.
void judge_sweeps(const database_signs& seen, database_verdict& verdict) {
    if (!seen.sweeps_fail || seen.write_failure) return;
    const auto lasted = seen.steady_now - seen.sweeps_fail->since;
    if (lasted < wait_green_below) return;
    auto text = fmt::format(
        "messages in the table cannot be looked for, and wait, for {} s now: {}; is there a "
        "trigger "
        "or a change of yours on a table whose name begins with outbox_?",
        std::chrono::floor<std::chrono::seconds>(lasted).count(), seen.sweeps_fail->why);
    if (lasted >= wait_red_from)
        verdict.broken.push_back(std::move(text));
    else
        verdict.worries.push_back({health_level::yellow, std::move(text)});
}

}  // namespace

std::string describe_lag(wall_time now, std::optional<wall_time> newest) {
    if (!newest || !lags_behind(now, *newest)) return {};
    return fmt::format(
        "the clock shows {}, but the database was used at {}: peers refuse signatures of another "
        "time, and messages expire too late; set the clock, and let a time service keep it right",
        to_iso8601(now), to_iso8601(*newest));
}

database_verdict judge_database(const database_signs& seen) {
    database_verdict verdict;
    if (!seen.lost_file.empty()) verdict.broken.push_back(seen.lost_file);
    judge_writes(seen, verdict);
    judge_sweeps(seen, verdict);
    if (!seen.odd_arrival.empty())
        verdict.worries.push_back(
            {health_level::red,
             fmt::format("a message in the table cannot be taken in, and waits; seq {}; is there a "
                         "trigger or a change of yours on outbox_due or outbox_closed? 'posthorn "
                         "doctor' names it, and outbox_odd lists the messages",
                         seen.odd_arrival)});
    if (seen.settling.unrecorded > 0)
        verdict.worries.push_back(
            {health_level::yellow,
             fmt::format(
                 "what became of {} cannot be recorded, so {} Pending and sent again after a "
                 "restart: {}",
                 counted(seen.settling.unrecorded, "message"),
                 seen.settling.unrecorded == 1 ? "it stays" : "they stay",
                 seen.settling.last_error)});
    if (auto lag = describe_lag(seen.now, seen.newest_at_start); !lag.empty())
        verdict.worries.push_back({health_level::yellow, std::move(lag)});
    return verdict;
}

}  // namespace posthorn
