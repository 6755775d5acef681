#pragma once

#include <chrono>
#include <functional>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/run/environment.hpp"
#include "base/time/clock_watch.hpp"
#include "outbox/lane/outbox_counters.hpp"
#include "outbox/lane/outbox_log.hpp"
#include "outbox/rules/judge.hpp"

namespace posthorn {

/// What a lane needs to make outcomes of answers, and to tell of them. All of it outlives the lane.
struct record_deps {
    const environment& env;
    clock_guard& clocks;
    outbox_counters& counters;
    const retry_policy& retries;
    const judge_options& options;
};

/// A batch that came back.
struct finished_batch {
    std::vector<outbox_row> rows;
    std::vector<delivery> answers;  // One for each.
    std::chrono::nanoseconds took{};
};

/// What becomes of the rows, in the words of the store; each is logged and counted. Those whose end
/// hangs on a clock that has jumped are given to `in_doubt` instead.
[[nodiscard]] std::vector<settlement> record(
    finished_batch batch, const record_deps& with,
    const std::function<void(const outbox_row&)>& in_doubt);

/// The same for rows that are past their time, without an attempt.
[[nodiscard]] std::vector<settlement> record_expired(
    const std::vector<outbox_row>& rows, const record_deps& with,
    const std::function<void(const outbox_row&)>& in_doubt);

/// For rows that are not messages.
[[nodiscard]] settlement record_bad(const bad_row& row, std::string_view destination,
                                    const record_deps& with);

}  // namespace posthorn
