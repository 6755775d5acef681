#include "workflow/runner/flow_server.hpp"

#include <utility>

#include "workflow/history.hpp"

namespace posthorn {
namespace {

completion_kind kind_of(detail::event_fit fit) {
    switch (fit) {
        case detail::event_fit::taken: return completion_kind::stepped;
        case detail::event_fit::ignored: return completion_kind::ignored;
        case detail::event_fit::unfit: return completion_kind::unfit;
        case detail::event_fit::stale: break;
    }
    return completion_kind::stale;
}

}  // namespace

std::vector<completion> flow_server::answer(const runner_batch& batch) {
    for (const auto key : batch.released) frames_.erase(key);
    std::vector<completion> all;
    all.reserve(batch.activations.size());
    for (const auto& one : batch.activations) all.push_back(answer(one));
    return all;
}

completion flow_server::answer(const activation& one) {
    if (one.is_fresh) {
        frames_.erase(one.key);
        const auto* const code = find_(one.workflow, one.version);
        if (code == nullptr) return {.key = one.key, .kind = completion_kind::unknown};
        frames_.emplace(one.key, kept_frame{code->begin(one.run)});
    }
    const auto found = frames_.find(one.key);
    if (found == frames_.end() || found->second.steps != one.steps_before)
        return {.key = one.key, .kind = completion_kind::stale};
    auto given = repeat(one, found->second);
    if (given.kind == completion_kind::repeated && one.event) given = feed(one, found->second);
    const bool is_useless =
        given.kind == completion_kind::differs || given.kind == completion_kind::damaged ||
        given.kind == completion_kind::stale ||
        (given.kind == completion_kind::stepped &&
         (given.step.status != flow_status::running || given.step.next_run() != nullptr));
    if (is_useless)
        frames_.erase(found);
    else
        given.bytes = found->second.flow->bytes();
    return given;
}

completion flow_server::repeat(const activation& one, kept_frame& frame) {
    detail::flow_step scratch;
    for (const auto& row : one.rows) {
        const auto step = parse_row(row);
        if (!step)
            return {.key = one.key, .kind = completion_kind::damaged, .why = step.error().what()};
        // It may reach a log, where payloads have no place.
        if (auto difference =
                repeat_step(*frame.flow, ++frame.steps, *step, scratch, {}, quoting::nothing))
            return {
                .key = one.key, .kind = completion_kind::differs, .why = *std::move(difference)};
    }
    return {.key = one.key, .kind = completion_kind::repeated};
}

completion flow_server::feed(const activation& one, kept_frame& frame) {
    completion given{.key = one.key};
    given.kind = kind_of(frame.flow->feed(*one.event, given.step));
    if (given.kind == completion_kind::stepped) ++frame.steps;
    if (given.kind == completion_kind::unfit) given.why = given.step.result;
    return given;
}

}  // namespace posthorn
