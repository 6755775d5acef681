#include "outbox/lane/attempt_trace.hpp"

#include <utility>

#include "message/message_span.hpp"
#include "message/trace.hpp"

namespace posthorn {
namespace {

std::string error_type_of(const delivery& answer) {
    if (answer.code) return std::string(describe(*answer.code).name);
    switch (answer.what) {
        case outcome::permanent: return "refused";
        case outcome::throttled: return "throttled";
        case outcome::undeliverable: return "undeliverable";
        case outcome::unanswered: return "unanswered";
        case outcome::delivered:
        case outcome::transient: break;
    }
    return "failed";
}

/// Says in the headers that they come from this span; false if that is not possible.
bool begin_in(std::string& headers, const span_context& own, bool has_parent) {
    // What others write into the table may be as long as a receiver takes.
    constexpr std::size_t size_max = 4096;
    // What belongs to a trace that is not recorded goes on as it came.
    if (has_parent) return own.is_sampled() && change_span(headers, own);
    auto made = put_trace(headers, own, {}, size_max);
    if (made) headers = *std::move(made);
    return made.has_value();
}

}  // namespace

std::optional<prepared_span> prepare_traced(transport& wire, const message& next, tracer* traces) {
    const auto parent =
        traces != nullptr && !wire.traces_itself() ? span_of(next.headers) : std::nullopt;
    if (!parent || !parent->is_sampled()) {
        wire.prepare(next);
        return std::nullopt;
    }
    prepared_span made{.message = next.id, .own = *parent};
    made.own.span = traces->next_span();
    auto traced = next;
    change_span(traced.headers, made.own);
    wire.prepare(traced);
    return made;
}

attempt_trace::attempt_trace(tracer& traces, std::vector<outbox_row>& rows,
                             std::optional<prepared_span>& prepared)
    : traces_(traces), rows_(rows), begun_ns_(traces.now_ns()) {
    const bool is_lone = prepared && rows.size() == 1 && rows.front().body.id == prepared->message;
    spans_.reserve(rows.size());
    for (auto& row : rows) {
        auto& headers = row.body.headers;
        end_publish_span(traces, row.body);  // Of a transaction that nothing here heard of.
        const auto parent = span_of(headers);
        one_span made{.own = traces.begin(parent ? &*parent : nullptr)};
        if (parent) made.parent = parent->span;
        if (is_lone && made.own.is_sampled()) made.own = std::exchange(prepared, {})->own;
        if (!begin_in(headers, made.own, parent.has_value())) made.own.flags = 0;
        spans_.push_back(made);
    }
}

void attempt_trace::end(const std::vector<delivery>& answers) {
    const auto now = traces_.now_ns();
    for (std::size_t i = 0; i < rows_.size() && i < answers.size(); ++i) {
        if (!spans_[i].own.is_sampled() || !traces_.has_room()) continue;
        const auto& row = rows_[i];
        const auto& answer = answers[i];
        const bool delivered = answer.what == outcome::delivered;
        trace_span made{.of = spans_[i].own,
                        .parent = spans_[i].parent,
                        .kind = span_kind::deliver,
                        .failed = !delivered,
                        .begun_ns = begun_ns_,
                        .ended_ns = now};
        describe_message(made, row.body);
        describe_destination(made, row.body.destination);
        made.attributes.emplace_back(span_key::attempt, std::int64_t{row.attempts} + 1);
        if (rows_.size() > 1)
            made.attributes.emplace_back(span_key::batch_size,
                                         static_cast<std::int64_t>(rows_.size()));
        made.attributes.emplace_back(span_key::delivered, delivered);
        if (answer.duplicate) made.attributes.emplace_back(span_key::duplicate, true);
        if (!delivered) made.attributes.emplace_back(span_key::error_type, error_type_of(answer));
        traces_.add(std::move(made));
    }
}

}  // namespace posthorn
