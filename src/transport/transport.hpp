#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <posthorn/message.hpp>
#include <posthorn/transport.hpp>

#include "base/async/task.hpp"

namespace posthorn {

/// Messages of one batch. They outlive the call they are given to.
using message_batch = std::vector<const message*>;

/// Brings messages to one destination.
///
/// Lifetime: outlives the lanes that use it.
/// Threads:  any.
/// Cancel:   gives an answer for every message, `unanswered` for those whose fate is not known.
class transport {
public:
    virtual ~transport() = default;

    /// One answer for each message, in their order. Does not throw.
    virtual task<std::vector<delivery>> deliver(message_batch batch) = 0;
    /// The same, for one that tells the other end which attempt this is: `failed` says how often
    /// each message has failed before.
    virtual task<std::vector<delivery>> deliver_again(message_batch batch,
                                                      std::vector<std::int32_t> failed) {
        static_cast<void>(failed);
        return deliver(std::move(batch));
    }
    /// Does for a message that is likely to come alone what can be done before it may be sent.
    virtual void prepare(const message& next) { static_cast<void>(next); }
    /// Whether it makes spans of its own, which say more than one around `deliver` would.
    [[nodiscard]] virtual bool traces_itself() const noexcept { return false; }
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
