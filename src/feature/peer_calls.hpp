#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <posthorn/message.hpp>

#include "base/async/task.hpp"
#include "store/message_maker.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// The way to another service by the routes of this node; null if there is none. On the network
/// executor.
using peer_ways = std::function<transport*(std::string_view service)>;

struct peer_question {
    std::string service;
    std::string endpoint;
    std::string payload;
    send_options options{};
    /// Of a question that may be asked again, under the id of its options: the peer takes it once
    /// until its time is over, counted from here.
    std::optional<wall_time> created_at{};
};

/// Asks another service and gives its answer, without storing the question: for what is stored
/// already, or is of no use later.
///
/// Lifetime: as the node's.
/// Threads:  the network executor.
/// Cancel:   gives what the transport gives then, `unanswered`.
class peer_calls {
public:
    peer_calls(peer_ways ways, const message_maker& maker)
        : ways_(std::move(ways)), maker_(maker) {}

    /// `undeliverable` without a route; `permanent` if it could not be sent as it is.
    [[nodiscard]] task<delivery> ask(peer_question what) const;

private:
    peer_ways ways_;
    const message_maker& maker_;
};

}  // namespace posthorn
