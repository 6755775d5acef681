#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "outbox/rules/drop_order.hpp"
#include "outbox/rules/outbox_options.hpp"
#include "outbox/rules/retry_policy.hpp"
#include "store/outbox_table.hpp"
#include "transport/transport.hpp"

namespace posthorn {

// What becomes of a pending message after an attempt. The first line that fits counts.
//
// clang-format off
// | the answer                 | and                     | becomes | charged | tried again         |
// |----------------------------|-------------------------|---------|---------|---------------------|
// | delivered                  |                         | sent    | no      |                     |
// | transient, but a duplicate | (it took effect before) | sent    | no      |                     |
// | permanent                  |                         | dead    | yes     |                     |
// | transient                  | retries spent           | dead    | yes     |                     |
// | transient                  | the policy gives it up  | dead    | yes     |                     |
// | transient                  | past its expiry         | expired | yes     |                     |
// | any other                  | past its expiry         | expired | no      |                     |
// | transient                  |                         | pending | yes     | as the policy says  |
// | throttled                  |                         | pending | no      | after retry_after   |
// | undeliverable              |                         | pending | no      | after a fixed delay |
// | unanswered                 |                         | pending | no      | as for a first one  |
// clang-format on
//
// So only what the receiver itself says of a message is charged to it. Who does not answer is the
// lane's affair: its breaker keeps messages from going out for nothing.
//
// No attempt is scheduled past the expiry: one that would be comes at the expiry, and finds the
// message expired.

/// What to do with a message after one attempt.
struct decision {
    enum class kind : std::uint8_t { settle, retry, throttle, hold, spare, bury, expire };
    kind what = kind::settle;
    bool charged = false;
    wall_time next_attempt_at{};  // For those that leave it pending.

    bool operator==(const decision&) const = default;
};

struct judge_rules {
    const retry_policy& retries;
    const judge_options& options;
};

/// Pure: no clock, no chance, no I/O. `unit` in [0, 1) is the chance in the delay.
[[nodiscard]] decision judge(const delivery& answer, const outbox_row& row, wall_time now,
                             const judge_rules& rules, double unit);

/// How long the whole lane is asked to wait, if the receiver speaks for itself rather than of a
/// message: it says so with a code, as one that is overloaded does, or of every message of several.
/// A message that is in progress there holds no other up. Pure.
[[nodiscard]] std::optional<std::chrono::milliseconds> rest_asked(std::span<const delivery> answers,
                                                                  const judge_options& options);

/// Whether the message is past its time. One without an expiry never is.
[[nodiscard]] bool is_expired(const message& body, wall_time now) noexcept;

/// The decision in the words of the store.
[[nodiscard]] settlement to_settlement(const decision& what, const outbox_row& row, wall_time now,
                                       std::string error);

/// For a message that was found to be past its time without an attempt.
[[nodiscard]] settlement expire(std::int64_t seq, wall_time now);
/// For a message whose time to be delivered is still to come, as long as it lives.
[[nodiscard]] settlement postpone(const outbox_row& row, wall_time now);
/// For a message that was put off and need not be any longer.
[[nodiscard]] settlement recall(std::int64_t seq, wall_time now);
/// For a message that waits for an earlier one of its order key.
[[nodiscard]] settlement park(const outbox_row& row, wall_time now);
/// For a message that is not to be sent any more.
[[nodiscard]] settlement drop(const dropped_row& row, wall_time now);
/// For a row that is not a message.
[[nodiscard]] settlement bury(const bad_row& row, wall_time now);

}  // namespace posthorn
