#pragma once

#include <string>

#include "measure/load.hpp"

namespace posthorn::measure {

/// What was measured, for `bench/compare` and readers of the line.
struct subject {
    std::string name;       // limit, posthorn, redis, ...
    std::string transport;  // unix, http, inprocess, tcp
    /// `exactly-once` with the business rows on both sides, or `bare`: publish, consume,
    /// acknowledge.
    std::string guarantee = "exactly-once";
    bool syncs_before_ack = true;
    std::string note{};
};

/// One line of JSON, without its end.
[[nodiscard]] std::string to_json(const subject& what, const outcome& seen);
/// A few lines for people.
[[nodiscard]] std::string to_text(const subject& what, const outcome& seen);

}  // namespace posthorn::measure
