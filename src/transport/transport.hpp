#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <posthorn/error.hpp>
#include <posthorn/message.hpp>

#include "base/task.hpp"

namespace posthorn {

/// What an attempt to deliver came to, as the sender must treat it.
enum class outcome : std::uint8_t {
    delivered,      // It took effect, now or before.
    transient,      // Try again later; the attempt counts.
    permanent,      // Trying again cannot help.
    throttled,      // Try again after `retry_after`; the attempt does not count.
    undeliverable,  // No route, or no handler there: wait for a person to mend that.
};

/// The answer to one message of a batch.
struct delivery {
    outcome what = outcome::transient;
    bool duplicate = false;  // The receiver had it already.
    std::string payload{};   // The handler's response, the same to the byte for a duplicate.
    std::string error{};     // Why not, for people.
    std::chrono::milliseconds retry_after{};
    std::optional<error_code> code{};  // Why not, for programs, where the receiver itself refuses.

    bool operator==(const delivery&) const = default;
};

/// Messages of one batch. They outlive the call they are given to.
using message_batch = std::vector<const message*>;

/// Brings messages to one destination.
///
/// Lifetime: outlives the lanes that use it.
/// Threads:  any.
/// Cancel:   gives an answer for every message, `transient` for those whose fate is not known.
class transport {
public:
    virtual ~transport() = default;

    /// One answer for each message, in their order. Does not throw.
    virtual task<std::vector<delivery>> deliver(message_batch batch) = 0;
};

/// Takes messages in: the other end of a transport.
///
/// The contract is that of `transport`; an answer that says delivered is given only when the effect
/// is on disk.
class receiver {
public:
    virtual ~receiver() = default;

    virtual task<std::vector<delivery>> receive(message_batch batch) = 0;
};

}  // namespace posthorn
