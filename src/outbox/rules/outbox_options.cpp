#include "outbox/rules/outbox_options.hpp"

#include <algorithm>

namespace posthorn {

lane_options with_limits(lane_options options, const route_limits& of) {
    options.batches_in_flight_max =
        std::max<std::size_t>(of.window.value_or(options.batches_in_flight_max), 1);
    options.batch_rows = std::max<std::size_t>(of.batch.value_or(options.batch_rows), 1);
    if (of.rate) options.rate = {.per_second = *of.rate};  // The burst belongs to its rate.
    if (of.burst) options.rate.burst = *of.burst;
    options.attempt_timeout = of.timeout.value_or(options.attempt_timeout);
    // Room for what is in flight, and for as much again while that is being settled.
    if (of.window || of.batch)
        options.window_rows =
            std::max(options.window_rows, 2 * options.batches_in_flight_max * options.batch_rows);
    options.breaker.open_max = of.probe_pause_max.value_or(options.breaker.open_max);
    options.retries = of.retries;
    options.failures_shut = of.failures_shut;
    options.replay = of.replay;
    return options;
}

}  // namespace posthorn
