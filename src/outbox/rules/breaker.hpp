#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/time/clock.hpp"

namespace posthorn {

struct breaker_options {
    std::uint32_t silences_max = 5;  // Batches in a row without an answer; then it opens.
    std::chrono::milliseconds open_min = std::chrono::seconds{1};  // Doubles with each probe.
    std::chrono::milliseconds open_max = std::chrono::seconds{60};
    double jitter = 0.2;  // As much less, at most, so that senders do not come back together.
};

/// Keeps a lane from a destination that does not answer.
///
/// | state   | what happens                              | becomes                          |
/// |---------|-------------------------------------------|----------------------------------|
/// | closed  | an answer, whatever it says               | closed, and counts from zero     |
/// | closed  | silence, fewer than allowed in a row      | closed                           |
/// | closed  | silence for the last time allowed         | open for `open_min`              |
/// | open    | silence of a batch sent before it opened  | open                             |
/// | open    | its time is over, and there is a message  | probing, with that one message   |
/// | probing | silence of the probe                      | open for twice as long as before |
/// | open    | `probe_now`                               | open, and ready to probe at once |
/// | probing | `probe_now`, then silence of the probe    | open for `open_min`              |
/// | any     | an answer, to the probe or a batch before | closed                           |
/// | probing | the probe was given up without an outcome | open, and ready to probe at once |
///
/// A destination that refuses a message has answered: a message that is poison opens nothing. An
/// answer that does not count, since it is not the destination's own, is silence.
///
/// Pure: the caller gives the time of each event, and the chance in it.
/// Threads: one at a time.
class breaker {
public:
    enum class state : std::uint8_t { closed, open, probing };
    /// What may be sent now.
    enum class permit : std::uint8_t { all, one, none };

    explicit breaker(breaker_options options = {}) : options_(options) {}

    [[nodiscard]] permit permits(steady_time now) const;
    /// The next probe may go at once. One that is under way may have begun before whatever has
    /// changed, so the next comes soon after it.
    void probe_now(steady_time now);
    /// It keeps to these from now on. One that is open looks no later than they let it.
    void change(const breaker_options& options, steady_time now);
    /// One message was sent because it may be.
    void begin_probe();
    /// A batch came back. `unit` in [0, 1) is the chance in the time for which it stays open.
    void note(bool answered, bool was_probe, steady_time now, double unit);
    /// A probe ended without telling anything.
    void drop_probe();

    [[nodiscard]] state current() const noexcept { return state_; }
    /// When it will be ready to probe; says nothing unless it is open.
    [[nodiscard]] steady_time probe_at() const noexcept { return probe_at_; }

private:
    void open(steady_time now, double unit);

    breaker_options options_;
    state state_ = state::closed;
    std::uint32_t silences_ = 0;
    std::chrono::milliseconds open_for_{};  // The next time, before jitter.
    steady_time probe_at_{};
};

[[nodiscard]] std::string_view to_string(breaker::state state) noexcept;

}  // namespace posthorn
