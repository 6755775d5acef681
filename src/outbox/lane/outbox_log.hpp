#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/log/log.hpp"
#include "outbox/rules/judge.hpp"

namespace posthorn {

/// A line for each message that was stored, if its level is logged.
void log_enqueued(logger& log, const std::vector<outbox_row>& rows);

/// One finished attempt at one message.
struct attempt_record {
    const outbox_row& row;  // As before the attempt.
    const decision& what;
    std::string_view error;
    std::chrono::milliseconds duration;
};

/// Writes the line that people know from the documents, if there is one for this outcome.
void log_attempt(logger& log, const attempt_record& attempt);

/// What a lane says of its destination, and the error that it knows.
struct lane_trouble {
    const std::string& destination;
    const std::string& error;
};
void log_rest(logger& log, const lane_trouble& of);
void log_silence(logger& log, const lane_trouble& of);

}  // namespace posthorn
