#include "outbox/dispatch/batch_span.hpp"

#include <utility>

#include "message/message_span.hpp"
#include "message/trace.hpp"

namespace posthorn {

void add_batch_span(tracer& traces, std::string_view destination, const outbox_page& found,
                    std::int64_t begun_ns) {
    constexpr std::size_t links_max = 128;
    if (found.rows.empty()) return;
    const auto own = traces.begin(nullptr);
    if (!own.is_sampled() || !traces.has_room()) return;
    trace_span made{.of = own,
                    .kind = span_kind::process_batch,
                    .begun_ns = begun_ns,
                    .ended_ns = traces.now_ns()};
    describe_destination(made, destination);
    made.attributes.emplace_back(span_key::batch_size,
                                 static_cast<std::int64_t>(found.rows.size()));
    for (const auto& row : found.rows) {
        const auto published = span_of(row.body.headers);
        if (!published) continue;
        if (made.links.size() < links_max)
            made.links.push_back({published->trace, published->span});
        else
            ++made.links_left_out;
    }
    traces.add(std::move(made));
}

}  // namespace posthorn
