#pragma once

#include <cstddef>
#include <vector>

#include "base/trace/tracer.hpp"
#include "transport/http/guarded/guarded_client.hpp"
#include "transport/transport.hpp"
#include "webhook/subscription.hpp"
#include "webhook/webhook_request.hpp"

namespace posthorn {

/// The spans of events that are fanned out, each a child of the one that published it. All of it
/// does nothing without a tracer.
///
/// Lifetime: the batch outlives it.
class fan_out_trace {
public:
    fan_out_trace(tracer* traces, const message_batch& batch);

    /// What the children of an event have for headers.
    [[nodiscard]] std::string headers_of_children(std::size_t event) const;
    void note(std::size_t event, std::size_t subscriptions);
    void end(const std::vector<delivery>& answers);

private:
    struct one_span {
        span_context own{};
        span_id parent{};
        std::int64_t subscriptions = 0;
    };

    tracer* traces_;
    const message_batch& batch_;
    std::vector<one_span> spans_;
    std::int64_t begun_ns_ = 0;
};

/// The span of one request to a subscriber, a child of its event's fan-out.
///
/// Lifetime: what it is given outlives it.
class webhook_trace {
public:
    webhook_trace(tracer* traces, const message& child);

    /// The subscriber is told which span calls it.
    void add_to(guarded_request& request) const;
    struct facts {
        const webhook_event& event;
        const subscription& to;
        std::int32_t attempt = 0;
        const guarded_answer& answer;
        bool delivered = false;
    };
    void end(const facts& seen);

private:
    tracer* traces_;
    const message& child_;
    span_context own_{};
    span_id parent_{};
    std::int64_t begun_ns_ = 0;
};

}  // namespace posthorn
