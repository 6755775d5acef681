#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time/clock.hpp"
#include "outbox/rules/breaker.hpp"

namespace posthorn {

/// Why a lane sends, or does not.
enum class lane_mode : std::uint8_t {
    running,
    paused,     // By a person.
    throttled,  // The receiver asked for patience.
    no_route,   // None was found when it was last looked for.
    open,       // No peer answers.
    probing,    // One message is on its way, to see whether one does.
};
[[nodiscard]] std::string_view to_string(lane_mode mode) noexcept;

/// Whether a lane may send: all that can shut it, together. The first line that fits counts.
///
/// | it is                                   | mode      | takes messages in | sends            |
/// |-----------------------------------------|-----------|-------------------|------------------|
/// | paused                                  | paused    | none              | none             |
/// | asked for patience, not yet over        | throttled | none              | none             |
/// | without a route, until it is looked for | no_route  | none              | as the breaker   |
/// | open                                    | open      | one, in its time  | one, in its time |
/// | probing                                 | probing   | none              | none             |
/// | none of these                           | running   | all               | all              |
///
/// Without a route nothing goes out; "sends" is what tells people of the messages that it has.
///
/// Pure: the caller says what time it is.
/// Threads: one at a time.
class lane_gate {
public:
    lane_gate(breaker_options options, bool paused) : breaker(options), paused_(paused) {}

    [[nodiscard]] lane_mode mode(steady_time now) const;
    [[nodiscard]] breaker::permit may_take(steady_time now) const;
    [[nodiscard]] breaker::permit may_send(steady_time now) const;
    /// When it will change by itself; empty if it will not.
    [[nodiscard]] std::optional<steady_time> changes_at(steady_time now) const;

    void pause(bool paused) noexcept { paused_ = paused; }
    [[nodiscard]] bool is_paused() const noexcept { return paused_; }
    /// The receiver asked for patience.
    void rest_until(steady_time end);
    void look_for_route_at(steady_time then) noexcept { no_route_until_ = then; }
    /// There may be one now.
    void look_for_route() noexcept { no_route_until_ = {}; }
    /// A person knows that it is worth a try: nothing but a pause keeps a message from going out.
    void try_now(steady_time now);

    class breaker breaker;

private:
    steady_time rests_until_{};
    steady_time no_route_until_{};
    bool paused_;
};

}  // namespace posthorn
