#include "workflow/runner/step_check.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/planted.hpp"
#include "base/text/utf8.hpp"
#include "message/json_check.hpp"
#include "workflow/binary/refusal.hpp"
#include "workflow/matching.hpp"

namespace posthorn {
namespace {

using detail::command_kind;
using detail::flow_command;
using detail::flow_step;

bool has_workflow(const binary_manifest& manifest, std::string_view name) {
    return std::ranges::find(manifest.workflows, name, &manifest_workflow::name) !=
           manifest.workflows.end();
}

bool has_arrival(const std::vector<manifest_arrival>& list, std::string_view name) {
    return std::ranges::find(list, name, &manifest_arrival::name) != list.end();
}

bool has_call(const binary_manifest& manifest, const flow_command& command) {
    return std::ranges::any_of(manifest.services, [&](const manifest_service& service) {
        return service.name == command.destination &&
               std::ranges::find(service.messages, command.name, &manifest_message::endpoint) !=
                   service.messages.end();
    });
}

bool is_json(std::string_view text) { return check_json(text).has_value(); }

std::optional<std::string> find_unsaid(const binary_manifest& manifest,
                                       const flow_command& command) {
    const auto unsaid = [&](std::string_view what) {
        return fmt::format("it {} {}, which its manifest does not say", what,
                           shown_name(command.name));
    };
    switch (command.kind) {
        case command_kind::call:
            if (!has_call(manifest, command) && !POSTHORN_PLANTED(runner_believed))
                return unsaid("calls");
            if (!command.undo_name.empty() && manifest.find_call(command.undo_name) == nullptr)
                return fmt::format("it undoes by {}, which its manifest does not say",
                                   shown_name(command.undo_name));
            break;
        case command_kind::wait:
            if (!has_arrival(manifest.waits, command.name)) return unsaid("waits for");
            break;
        case command_kind::receive:
        case command_kind::answer:
            if (!has_arrival(manifest.receives, command.name)) return unsaid("receives");
            break;
        case command_kind::again:
        case command_kind::child:
        case command_kind::start:
        case command_kind::attach:
            if (!has_workflow(manifest, command.name)) return unsaid("begins");
            break;
        case command_kind::sleep:
        case command_kind::patch: break;
        case command_kind::transact:
        case command_kind::run: return std::string("it works in the program");
    }
    return {};
}

std::optional<std::string> find_misfit(const flow_step& step, const flow_command& command) {
    const auto payload = step.of(command.payload);
    switch (command.kind) {
        case command_kind::wait:
        case command_kind::receive:
            if (!parse_terms(payload)) return "comparisons that cannot be read";
            break;
        case command_kind::answer:
            if (command.is_refusal ? !is_utf8(payload) : !is_json(payload))
                return "an answer that is not JSON";
            break;
        case command_kind::call:
            if (!is_json(payload) ||
                (!command.undo_name.empty() && !is_json(step.of(command.undo))))
                return "a payload that is not JSON";
            if (!is_utf8(command.options.order_key) || !is_utf8(command.options.tenant))
                return "options that are not UTF-8";
            break;
        case command_kind::again:
        case command_kind::child:
        case command_kind::start:
            if (!is_json(payload)) return "arguments that are not JSON";
            break;
        case command_kind::attach:
        case command_kind::sleep:
        case command_kind::patch:
        case command_kind::transact:
        case command_kind::run: break;
    }
    if (!is_utf8(step.of(command.id)) || !is_utf8(command.name)) return "a name that is not UTF-8";
    return {};
}

bool is_ended(flow_status status) {
    return status == flow_status::completed || status == flow_status::failed ||
           status == flow_status::cancelled;
}

}  // namespace

std::optional<std::string> find_lie(const runner_batch& asked,
                                    const std::vector<completion>& answered) {
    if (asked.activations.size() != answered.size())
        return fmt::format("it answered {} times to {} activations", answered.size(),
                           asked.activations.size());
    for (std::size_t i = 0; i < answered.size(); ++i) {
        const auto& one = asked.activations[i];
        const auto& given = answered[i];
        if (one.key != given.key)
            return fmt::format("it answered for {}, and {} was asked", given.key, one.key);
        const bool is_about_event = given.kind == completion_kind::stepped ||
                                    given.kind == completion_kind::ignored ||
                                    given.kind == completion_kind::unfit;
        if ((is_about_event && !one.event) ||
            (given.kind == completion_kind::repeated && one.event))
            return std::string("it answered to another question than it was asked");
    }
    return {};
}

std::optional<std::string> find_lie(const binary_manifest& manifest, const flow_step& step,
                                    std::uint32_t issued) {
    auto next = issued;
    for (const auto& command : step.commands) {
        if (command.number != ++next)
            return fmt::format("its command {} comes after {}", command.number, next - 1);
        if (auto unsaid = find_unsaid(manifest, command)) return unsaid;
        if (auto misfit = find_misfit(step, command))
            return fmt::format("command {} has {}", command.number, *misfit);
        const bool is_about_earlier =
            command.undoes < command.number && command.request < command.number;
        if (!is_about_earlier)
            return fmt::format("command {} is about a later one", command.number);
    }
    for (const auto number : step.dropped)
        if (number == 0 || number > next)
            return fmt::format("it drops command {}, and has made {}", number, next);
    if (step.state && !is_json(step.of(*step.state))) return "its state is not JSON";
    if (step.status == flow_status::completed ? !is_json(step.result) : !is_utf8(step.result))
        return "its result is not JSON";
    if (is_ended(step.status) && step.next_run() != nullptr)
        return "it has ended and begins another run";
    return {};
}

}  // namespace posthorn
