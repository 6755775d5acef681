// The hand-written minimum of what Posthorn does for workflows of three `transact` steps, with
// nothing but SQLite: the yardstick of `bench/workflows`. A workflow is a row with a status; each
// step is a row of its history and one of business, in a commit that all workflows share which are
// at a step at that time (synchronous=FULL). What a step is comes from the step before, read from
// memory.
//
// It leaves out what is not needed for that: mail, waiting, timers, calls, checks of the code, and
// any way to go on after a crash but by reading the histories.
//
//   bench_limit_workflows [--mode chains|alone] [--count N] [--at-once N] [--folder DIR]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/scratch.hpp"
#include "limit/database.hpp"
#include "measure/pace.hpp"
#include "workflow_load/settings.hpp"

namespace posthorn::bench {
namespace {

constexpr std::string_view tables =
    "CREATE TABLE instances(instance INTEGER PRIMARY KEY, workflow TEXT NOT NULL, version INTEGER "
    "NOT NULL, id TEXT NOT NULL, status TEXT NOT NULL, arguments TEXT NOT NULL, started_at INTEGER "
    "NOT NULL, ended_at INTEGER, result TEXT, UNIQUE(workflow, id));"
    "CREATE INDEX instances_open ON instances(workflow, version, status) WHERE ended_at IS NULL;"
    "CREATE TABLE history(instance INTEGER NOT NULL, step INTEGER NOT NULL, at INTEGER NOT NULL, "
    "cause TEXT NOT NULL, command INTEGER NOT NULL, payload TEXT NOT NULL, did TEXT NOT NULL, "
    "PRIMARY KEY(instance, step)) WITHOUT ROWID;"
    "CREATE TABLE effects(workflow INTEGER NOT NULL, step INTEGER NOT NULL);";

constexpr std::int64_t steps = 3;

/// A workflow under way.
struct running {
    std::int64_t instance = 0;
    std::int64_t step = 0;  // That it takes next.
};

class minimum {
public:
    explicit minimum(const std::string& folder)
        : place_(folder), rows_((place_.path() / "limit.db").string(), tables) {}

    void begin() { rows_.execute("BEGIN IMMEDIATE"); }
    void commit() { rows_.execute("COMMIT"); }

    running start() {
        const auto instance = ++last_;
        const auto id = std::to_string(instance);
        start_.bind(1, instance);
        start_.bind_text(2, id);
        start_.bind(3, measure::now_ns() / 1'000'000);
        start_.must_run();
        return {.instance = instance};
    }

    /// False if that was its last.
    bool take_step(running& one) {
        const bool is_last = one.step == steps;
        const auto now = measure::now_ns() / 1'000'000;
        note_.bind(1, one.instance);
        note_.bind(2, one.step + 1);
        note_.bind(3, now);
        note_.bind_text(4, one.step == 0 ? "start" : "done");
        note_.bind(5, one.step);
        note_.bind_text(6, one.step == 0 ? "" : "1");
        note_.bind_text(7, is_last ? "[\"completed\"]" : "[[\"transact\"]]");
        note_.must_run();
        if (is_last) {
            end_.bind(1, now);
            end_.bind(2, one.instance);
            end_.must_run();
            return false;
        }
        if (one.step == 0) {
            run_.bind(1, one.instance);
            run_.must_run();
        }
        ++one.step;
        effect_.bind(1, one.instance);
        effect_.bind(2, one.step);
        effect_.must_run();
        return true;
    }

    [[nodiscard]] std::int64_t effects() {
        return statement(rows_.raw(), "SELECT count(*) FROM effects").get();
    }

private:
    scratch place_;
    database rows_;
    std::int64_t last_ = 0;
    statement start_{rows_.raw(),
                     "INSERT INTO instances(instance, workflow, version, id, status, arguments, "
                     "started_at) VALUES(?, 'ThreeSteps', 1, ?, 'starting', '[0]', ?)"};
    statement run_{rows_.raw(), "UPDATE instances SET status = 'running' WHERE instance = ?"};
    statement note_{rows_.raw(), "INSERT INTO history VALUES(?, ?, ?, ?, ?, ?, ?)"};
    statement effect_{rows_.raw(), "INSERT INTO effects VALUES(?, ?)"};
    statement end_{rows_.raw(),
                   "UPDATE instances SET status = 'completed', ended_at = ?, result = '3' WHERE "
                   "instance = ?"};
};

/// So many at once: the last `transact` of each starts the next.
double run_chains(minimum& rows, const workflow_settings& with) {
    std::vector<running> all;
    const auto began = measure::now_ns();
    std::uint64_t started = 0;
    rows.begin();
    for (; started < std::min(with.at_once, with.count); ++started) all.push_back(rows.start());
    rows.commit();
    std::vector<running> next;
    while (!all.empty()) {
        rows.begin();
        for (auto& one : all) {
            if (!rows.take_step(one)) continue;
            if (one.step == steps && started < with.count) {
                next.push_back(rows.start());
                ++started;
            }
            next.push_back(one);
        }
        rows.commit();
        all.swap(next);
        next.clear();
    }
    return static_cast<double>(measure::now_ns() - began) / 1e9;
}

std::vector<std::int64_t> run_alone(minimum& rows, std::uint64_t count) {
    std::vector<std::int64_t> took;
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto began = measure::now_ns();
        rows.begin();
        auto one = rows.start();
        rows.commit();
        for (bool goes_on = true; goes_on;) {
            rows.begin();
            goes_on = rows.take_step(one);
            rows.commit();
        }
        took.push_back(measure::now_ns() - began);
    }
    return took;
}

void run(const workflow_settings& with) {
    minimum rows(with.folder);
    if (with.mode == "alone")
        print_alone(run_alone(rows, with.count));
    else
        print_chains(with, run_chains(rows, with));
    if (rows.effects() != static_cast<std::int64_t>(with.count) * steps)
        throw std::runtime_error("an effect is missing, or there twice");
}

}  // namespace
}  // namespace posthorn::bench

int main(int count, char** words) {
    try {
        posthorn::bench::run(posthorn::bench::read_workflow_settings(
            {words + 1, static_cast<std::size_t>(count - 1)}));
        return 0;
    } catch (const std::exception& why) {
        fmt::print(stderr, "error: {}\n", why.what());
        return 1;
    }
}
