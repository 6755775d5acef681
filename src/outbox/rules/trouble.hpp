#pragma once

#include <chrono>
#include <span>
#include <string>

#include "base/time/clock.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// Why messages to one destination do not get through, in the words of the last answer that said
/// so. Where others get through, it is remembered until those that it stopped were tried again.
///
/// Pure: the caller says what time it is.
/// Threads: one at a time.
class trouble {
public:
    /// The answers to one batch.
    void note(std::span<const delivery> answers, steady_time now);
    void note(std::string cause, steady_time now);

    /// Empty if there is none.
    [[nodiscard]] const std::string& cause() const noexcept { return cause_; }
    /// Whether a person should see to it; a receiver that asks for patience helps itself.
    [[nodiscard]] bool is_fault() const noexcept { return is_fault_; }
    [[nodiscard]] bool is_recent(steady_time now) const { return now < until_; }
    /// Messages get through again.
    void end() { *this = {}; }

private:
    static constexpr std::chrono::seconds remembered{15};

    std::string cause_;
    bool is_fault_ = false;
    bool concerns_all_ = false;  // So that any good answer is its end.
    steady_time until_{};
};

}  // namespace posthorn
