#pragma once

#include <chrono>
#include <string_view>

#include "base/log.hpp"
#include "outbox/judge.hpp"

namespace posthorn {

/// One finished attempt at one message.
struct attempt_record {
    const outbox_row& row;  // As before the attempt.
    const decision& what;
    std::string_view error;
    std::chrono::milliseconds duration;
};

/// Writes the line that people know from the documents, if there is one for this outcome.
void log_attempt(logger& log, const attempt_record& attempt);

}  // namespace posthorn
