#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <thread>

namespace posthorn::crash {

/// Prints a whole line, at once: whoever reads it may kill us for it.
void say(std::string_view line);

/// Where the worker stops to be killed: it says `at: NAME` and never goes on.
class crash_points {
public:
    explicit crash_points(std::string chosen) : chosen_(std::move(chosen)) {}

    [[nodiscard]] bool is(std::string_view name) const { return chosen_ == name; }
    void reach(std::string_view name) const;

private:
    std::string chosen_;
};

/// Told from outside: SIGUSR1 opens the gate, SIGTERM asks to end.
///
/// Lifetime: made before any other thread, so that all of them leave the signals to it.
/// Threads:  any.
class signal_gate {
public:
    signal_gate();
    ~signal_gate();
    signal_gate(const signal_gate&) = delete;
    signal_gate& operator=(const signal_gate&) = delete;

    [[nodiscard]] bool is_open() const { return open_; }
    void wait_open() const { open_.wait(false); }
    void wait_end() const { end_.wait(false); }

private:
    void listen();

    std::atomic<bool> open_ = false;
    std::atomic<bool> end_ = false;
    std::jthread listener_;
};

}  // namespace posthorn::crash
