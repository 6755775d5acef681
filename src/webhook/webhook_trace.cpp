#include "webhook/webhook_trace.hpp"

#include <utility>

#include "base/text/http_url.hpp"
#include "message/message_span.hpp"
#include "message/trace.hpp"

namespace posthorn {
namespace {

constexpr std::size_t headers_size_max = 4096;

/// A path or a query may be the secret of a hook.
std::string shown(const std::string& url) {
    const auto parsed = parse_http_url(url);
    return parsed ? origin(*parsed) : std::string();
}

}  // namespace

fan_out_trace::fan_out_trace(tracer* traces, const message_batch& batch)
    : traces_(traces), batch_(batch) {
    if (traces == nullptr) return;
    begun_ns_ = traces->now_ns();
    for (const auto* const event : batch) {
        end_publish_span(*traces, *event);  // Of a transaction that nothing here heard of.
        const auto parent = span_of(event->headers);
        spans_.push_back({.own = traces->begin(parent ? &*parent : nullptr),
                          .parent = parent ? parent->span : span_id{}});
    }
}

std::string fan_out_trace::headers_of_children(std::size_t event) const {
    if (traces_ == nullptr) return {};
    const auto state = trace_of(batch_[event]->headers).state;
    return put_trace({}, spans_[event].own, state, headers_size_max).value_or(std::string());
}

void fan_out_trace::note(std::size_t event, std::size_t subscriptions) {
    if (traces_ != nullptr) spans_[event].subscriptions = static_cast<std::int64_t>(subscriptions);
}

void fan_out_trace::end(const std::vector<delivery>& answers) {
    if (traces_ == nullptr) return;
    const auto now = traces_->now_ns();
    for (std::size_t i = 0; i < spans_.size(); ++i) {
        if (!spans_[i].own.is_sampled() || !traces_->has_room()) continue;
        trace_span made{.of = spans_[i].own,
                        .parent = spans_[i].parent,
                        .kind = span_kind::fan_out,
                        .failed = answers[i].what != outcome::delivered,
                        .begun_ns = begun_ns_,
                        .ended_ns = now};
        describe_message(made, *batch_[i]);
        made.attributes.emplace_back(span_key::subscriptions, spans_[i].subscriptions);
        if (made.failed) made.attributes.emplace_back(span_key::error_type, std::string("store"));
        traces_->add(std::move(made));
    }
}

webhook_trace::webhook_trace(tracer* traces, const message& child)
    : traces_(traces), child_(child) {
    if (traces == nullptr) return;
    begun_ns_ = traces->now_ns();
    const auto parent = span_of(child.headers);
    own_ = traces->begin(parent ? &*parent : nullptr);
    if (parent) parent_ = parent->span;
}

void webhook_trace::add_to(guarded_request& request) const {
    if (traces_ == nullptr) return;
    request.headers.add("traceparent", to_traceparent(own_));
    if (auto state = trace_of(child_.headers).state; !state.empty())
        request.headers.add("tracestate", std::move(state));
}

void webhook_trace::end(const facts& seen) {
    if (traces_ == nullptr || !own_.is_sampled() || !traces_->has_room()) return;
    trace_span made{.of = own_,
                    .parent = parent_,
                    .kind = span_kind::deliver_webhook,
                    .failed = !seen.delivered,
                    .begun_ns = begun_ns_,
                    .ended_ns = traces_->now_ns()};
    auto& said = made.attributes;
    said.emplace_back(span_key::message_id, seen.event.id.to_string());
    said.emplace_back(span_key::endpoint, seen.event.type);
    said.emplace_back(span_key::subscription, seen.to.id.to_string());
    said.emplace_back(span_key::webhook_url, shown(seen.to.url));
    said.emplace_back(span_key::attempt, std::int64_t{seen.attempt});
    said.emplace_back(span_key::delivered, seen.delivered);
    if (seen.answer.status != 0)
        said.emplace_back(span_key::http_status, std::int64_t{seen.answer.status});
    if (!seen.delivered)
        said.emplace_back(span_key::error_type, seen.answer.status != 0
                                                    ? std::to_string(seen.answer.status)
                                                    : std::string("unanswered"));
    made.state = trace_of(child_.headers).state;
    traces_->add(std::move(made));
}

}  // namespace posthorn
