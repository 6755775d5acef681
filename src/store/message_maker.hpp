#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <posthorn/detail/pluggable.hpp>
#include <posthorn/message.hpp>

#include "base/result.hpp"
#include "base/time/clock.hpp"
#include "base/trace/tracer.hpp"
#include "base/uuid_generator.hpp"
#include "message/validate.hpp"

namespace posthorn {

/// What the node adds to a message where the sender says nothing.
struct message_defaults {
    std::string source;  // The id of the service that sends.
    std::chrono::milliseconds expires_in = std::chrono::hours{24};
    std::int32_t max_retries = 5;
    message_limits limits{};
    std::shared_ptr<const posthorn::serializer> serializer{};  // Of described messages.
    bool may_send = true;                                      // Not where the node has no outbox.
};

/// Makes a message out of what a caller says, ready to be stored, or refuses it. The payload moves
/// through it.
///
/// Lifetime: `time`, `ids` and `traces` outlive it.
/// Threads:  any.
class message_maker {
public:
    message_maker(message_defaults defaults, const clock& time, uuid_generator& ids,
                  tracer* traces = nullptr)
        : defaults_(std::move(defaults)), time_(time), ids_(ids), traces_(traces) {}

    /// The cause is the message whose handler sends, if one does. Where it is traced, the message
    /// belongs to a span of its own, a child of the one that its headers give or else of the cause's.
    [[nodiscard]] result<message> make(detail::send_request asked,
                                       const message* cause = nullptr) const;
    [[nodiscard]] const message_defaults& defaults() const noexcept { return defaults_; }

private:
    [[nodiscard]] result<std::string> content_type_of(detail::send_request& asked) const;
    void trace(message& made, const message* cause) const;

    message_defaults defaults_;
    const clock& time_;
    uuid_generator& ids_;
    tracer* traces_;
};

}  // namespace posthorn
