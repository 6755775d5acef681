#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "sim/restores.hpp"
#include "sim/world.hpp"

namespace posthorn::sim {

/// What happens to a world: drawn from its seed.
///
/// Lifetime: the world outlives it; `run()` once.
/// Threads:  one.
/// Cancel:   `run()` returns.
class faults {
public:
    struct options {
        std::chrono::milliseconds pause_mean = std::chrono::seconds{4};
        bool power_only = false;  // Nothing but cuts, one after the other.
        /// The longest that a clock is wrong. Where rows are purged it is less than the time for
        /// which a clock has to be steady to be believed: that is what is promised.
        std::chrono::milliseconds clock_wrong_max = std::chrono::seconds{20};
    };

    faults(world& what, options with) : world_(what), with_(with), restores_(what) {}

    /// Until `heal()`.
    task<> run();
    /// Ends all that is under way, so that everything can come to an end.
    void heal();
    /// How often each thing happened.
    [[nodiscard]] const std::map<std::string, std::uint64_t>& counts() const { return counts_; }
    [[nodiscard]] restores& copies() noexcept { return restores_; }
    /// A node has stood still past its lease and is to come back.
    [[nodiscard]] bool is_taking_over() const noexcept { return !left_alone_.empty(); }

private:
    struct kind;
    static const kind kinds[];
    void strike();

    // To processes: faults_process.cpp.
    void kill(machine& which);
    void kill_at_operation(machine& which);
    void kill_after_foreign(machine& which);
    void cut_power(machine& which);
    void restart_gently(machine& which);
    void pause(machine& which);
    void take_over(machine& first);
    void take_over_from(machine& which, process& one);
    void stand_still(machine& which, process& one, std::chrono::milliseconds span);

    // To what is around them: faults_outside.cpp.
    void storm(machine& which);
    void part(machine& which);
    void set_clock(machine& which);
    void freeze_clock(machine& which);
    void fill_disk(machine& which);
    void fail_sync(machine& which);
    void echo(machine& which);

    // By people: faults_people.cpp.
    void back_up(machine& which);
    void restore(machine& which);
    void rotate_keys(machine& which);
    void probe_retired(machine& at, const std::string& from, const signing_key& key);

    void count(const std::string& what) { ++counts_[what]; }
    [[nodiscard]] machine& other_than(const machine& which);
    void after(std::chrono::nanoseconds delay, std::function<void()> then);
    task<> call_later(std::chrono::nanoseconds delay, std::function<void()> then);
    [[nodiscard]] std::chrono::milliseconds up_to(std::int64_t ms);

    world& world_;
    options with_;
    restores restores_;
    bool healed_ = false;
    std::map<std::string, std::uint64_t> counts_;
    std::set<const machine*> left_alone_;  // Until a take-over there has come to its end.
    /// Key files that are on one side and have to reach the other.
    std::map<std::pair<std::string, std::string>, std::function<void()>> rotations_;
};

}  // namespace posthorn::sim
