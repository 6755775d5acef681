#include "fuzz/runner_target.hpp"

#include <string>
#include <string_view>

#include "fuzz/promise.hpp"
#include "workflow/runner/batch.hpp"
#include "workflow/runner/step_check.hpp"

namespace posthorn {
namespace {

using fuzz::demand;

constexpr batch_limits small{.activations_max = 16, .commands_max = 32, .lines_max = 8};

void look_at(const detail::flow_step& step) {
    const auto is_inside = [&](const detail::text_slice& part) {
        return part.at <= step.text.size() && part.size <= step.text.size() - part.at;
    };
    demand(step.commands.size() <= small.commands_max, "commands are bounded");
    demand(step.log.size() <= small.lines_max, "a log is bounded");
    demand(!step.state || is_inside(*step.state), "a state is of the text");
    for (const auto& command : step.commands) {
        demand(is_inside(command.payload) && is_inside(command.id) && is_inside(command.undo),
               "a slice is of the text");
        demand(command.kind != detail::command_kind::transact &&
                   command.kind != detail::command_kind::run,
               "no function comes over a pipe");
    }
    demand(find_lie(binary_manifest(), step, 0).has_value() || step.commands.empty() ||
               step.commands.front().kind == detail::command_kind::sleep ||
               step.commands.front().kind == detail::command_kind::patch,
           "an empty manifest allows nothing");
}

}  // namespace

void fuzz_runner(const std::uint8_t* data, std::size_t size) {
    const auto bytes = fuzz::text_of(data, size);
    if (const auto head = read_frame_head(bytes, 4096)) {
        demand(head->body_bytes <= 4096, "a frame is bounded");
        std::string again;
        write_frame_head(again, *head);
        demand(bytes.starts_with(again), "a head is read whole");
    } else {
        demand(head.error().code() == error_code::malformed_request, "what is no frame is told");
    }
    if (const auto batch = decode_batch(bytes, small)) {
        demand(batch->activations.size() <= small.activations_max, "a batch is bounded");
        demand(encode_batch(*batch) == bytes, "a batch is read whole");
    } else {
        demand(batch.error().code() == error_code::malformed_request, "what is no batch is told");
    }
    name_pool names;
    if (const auto all = decode_completions(bytes, names, small)) {
        demand(all->size() <= small.activations_max, "completions are bounded");
        demand(encode_completions(*all) == bytes, "completions are read whole");
        for (const auto& one : *all)
            if (one.kind == completion_kind::stepped) look_at(one.step);
    } else {
        demand(all.error().code() == error_code::malformed_request, "what is none is told");
    }
}

}  // namespace posthorn
