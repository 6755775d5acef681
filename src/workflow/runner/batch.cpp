#include "workflow/runner/batch.hpp"

#include <algorithm>
#include <utility>

namespace posthorn {
namespace {

using detail::command_kind;
using detail::event_kind;
using detail::flow_command;
using detail::flow_event;
using detail::flow_step;
using detail::text_slice;

// What each takes at the least, so that a count is never believed for more than there is.
constexpr std::size_t activation_bytes = 18;
constexpr std::size_t completion_bytes = 21;
constexpr std::size_t command_bytes = 74;

void write_event(field_writer& to, const flow_event& event) {
    to.byte(static_cast<std::uint8_t>(event.kind));
    to.number(event.command);
    to.flag(event.may_have_taken_effect);
    to.number(std::int64_t{event.at.time_since_epoch().count()});
    to.text(event.payload);
    to.text(event.state);
}

wall_time read_time(field_reader& from) {
    return wall_time(std::chrono::milliseconds(from.signed_64()));
}

flow_event read_event(field_reader& from) {
    flow_event event;
    event.kind = from.one_of(event_kind::stopped);
    event.command = from.number_32();
    event.may_have_taken_effect = from.flag();
    event.at = read_time(from);
    event.payload = from.text();
    event.state = from.text();
    return event;
}

void write_activation(field_writer& to, const activation& one) {
    to.number(one.key);
    to.flag(one.is_fresh);
    if (one.is_fresh) {
        to.text(one.workflow);
        to.number(std::uint32_t{one.version});
        to.bytes(one.run.bytes());
    }
    to.number(one.steps_before);
    to.number(static_cast<std::uint32_t>(one.rows.size()));
    for (const auto& row : one.rows) to.text(row);
    to.flag(one.event.has_value());
    if (one.event) write_event(to, *one.event);
}

activation read_activation(field_reader& from) {
    activation one;
    one.key = from.number_64();
    one.is_fresh = from.flag();
    if (one.is_fresh) {
        one.workflow = from.text();
        one.version = from.number_32();
        uuid::bytes_type run{};
        from.bytes(run);
        one.run = uuid(run);
    }
    one.steps_before = from.number_32();
    for (auto rows = from.count(4); rows > 0 && from.is_sound(); --rows)
        one.rows.emplace_back(from.text());
    if (from.flag()) one.event = read_event(from);
    return one;
}

void write_slice(field_writer& to, const text_slice& part) {
    to.number(part.at);
    to.number(part.size);
}

text_slice read_slice(field_reader& from, std::string_view text) {
    const text_slice part{from.number_32(), from.number_32()};
    if (part.at > text.size() || part.size > text.size() - part.at) from.refuse();
    return from.is_sound() ? part : text_slice{};
}

void write_options(field_writer& to, const call_options& options) {
    to.text(options.order_key);
    to.text(options.tenant);
    to.number(static_cast<std::uint32_t>(options.priority));
    to.flag(options.max_retries.has_value());
    if (options.max_retries) to.number(static_cast<std::uint32_t>(*options.max_retries));
    to.flag(options.expires_in.has_value());
    if (options.expires_in) to.number(std::int64_t{options.expires_in->count()});
}

call_options read_options(field_reader& from) {
    call_options options;
    options.order_key = from.text();
    options.tenant = from.text();
    options.priority = static_cast<std::int32_t>(from.number_32());
    if (from.flag()) options.max_retries = static_cast<std::int32_t>(from.number_32());
    if (from.flag()) options.expires_in = std::chrono::milliseconds(from.signed_64());
    return options;
}

void write_command(field_writer& to, const flow_command& command) {
    to.number(command.number);
    to.byte(static_cast<std::uint8_t>(command.kind));
    to.flag(command.exclusive);
    to.number(command.undoes);
    to.text(command.destination);
    to.text(command.name);
    write_slice(to, command.payload);
    write_slice(to, command.id);
    to.byte(static_cast<std::uint8_t>(command.fate));
    to.number(command.request);
    to.flag(command.is_refusal);
    to.text(command.undo_name);
    write_slice(to, command.undo);
    to.number(std::int64_t{command.due.time_since_epoch().count()});
    write_options(to, command.options);
}

/// A name that the step's views may point to.
std::string_view read_name(field_reader& from, name_pool& names) {
    const auto name = names.keep(from.text());
    if (!name) from.refuse();
    return name.value_or(std::string_view());
}

flow_command read_command(field_reader& from, name_pool& names, std::string_view text) {
    flow_command command;
    command.number = from.number_32();
    command.kind = from.one_of(command_kind::answer);
    // These are functions of the program; a pipe carries none.
    if (command.kind == command_kind::transact || command.kind == command_kind::run) from.refuse();
    command.exclusive = from.flag();
    command.undoes = from.number_32();
    command.destination = read_name(from, names);
    command.name = read_name(from, names);
    command.payload = read_slice(from, text);
    command.id = read_slice(from, text);
    command.fate = from.one_of(child_fate::abandon);
    command.request = from.number_32();
    command.is_refusal = from.flag();
    command.undo_name = read_name(from, names);
    command.undo = read_slice(from, text);
    command.due = read_time(from);
    command.options = read_options(from);
    return command;
}

void write_step(field_writer& to, const flow_step& step) {
    to.text(step.text);
    to.number(static_cast<std::uint32_t>(step.commands.size()));
    for (const auto& command : step.commands) write_command(to, command);
    to.number(static_cast<std::uint32_t>(step.dropped.size()));
    for (const auto number : step.dropped) to.number(number);
    to.flag(step.state.has_value());
    if (step.state) write_slice(to, *step.state);
    to.byte(static_cast<std::uint8_t>(step.status));
    to.text(step.result);
    to.number(static_cast<std::uint32_t>(step.log.size()));
    for (const auto& line : step.log) to.text(line);
    to.flag(step.has_left);
}

flow_step read_step(field_reader& from, name_pool& names, const batch_limits& limits) {
    flow_step step;
    step.text = from.text();
    const auto commands = from.count(command_bytes);
    if (commands > limits.commands_max) from.refuse();
    for (std::size_t i = 0; i < commands && from.is_sound(); ++i)
        step.commands.push_back(read_command(from, names, step.text));
    for (auto left = from.count(4); left > 0 && from.is_sound(); --left)
        step.dropped.push_back(from.number_32());
    if (from.flag()) step.state = read_slice(from, step.text);
    step.status = from.one_of(flow_status::quarantined);
    step.result = from.text();
    const auto lines = from.count(4);
    if (lines > limits.lines_max) from.refuse();
    for (std::size_t i = 0; i < lines && from.is_sound(); ++i) step.log.emplace_back(from.text());
    step.has_left = from.flag();
    return step;
}

}  // namespace

std::optional<std::string_view> name_pool::keep(std::string_view name) {
    if (const auto known = names_.find(name); known != names_.end()) return *known;
    if (name.size() > name_bytes_max || names_.size() == names_max) return {};
    return *names_.emplace(name).first;
}

std::string encode_batch(const runner_batch& batch) {
    std::string body;
    field_writer to(body);
    to.number(static_cast<std::uint32_t>(batch.released.size()));
    for (const auto key : batch.released) to.number(key);
    to.number(static_cast<std::uint32_t>(batch.activations.size()));
    for (const auto& one : batch.activations) write_activation(to, one);
    return body;
}

result<runner_batch> decode_batch(std::string_view body, const batch_limits& limits) {
    field_reader from(body);
    runner_batch batch;
    for (auto left = from.count(8); left > 0 && from.is_sound(); --left)
        batch.released.push_back(from.number_64());
    const auto count = from.count(activation_bytes);
    if (count > limits.activations_max)
        return fail(error_code::malformed_request, "a batch has {} activations, and {} are allowed",
                    count, limits.activations_max);
    for (std::size_t i = 0; i < count && from.is_sound(); ++i)
        batch.activations.push_back(read_activation(from));
    if (!from.is_done())
        return fail(error_code::malformed_request, "a batch of {} bytes does not fit", body.size());
    return batch;
}

void encode_completion(std::string& to, const completion& one) {
    field_writer writer(to);
    writer.number(one.key);
    writer.byte(static_cast<std::uint8_t>(one.kind));
    writer.number(one.bytes);
    writer.text(one.why);
    if (one.kind == completion_kind::stepped) write_step(writer, one.step);
}

std::string encode_completions(const std::vector<completion>& all) {
    std::string body;
    field_writer(body).number(static_cast<std::uint32_t>(all.size()));
    for (const auto& one : all) encode_completion(body, one);
    return body;
}

result<std::vector<completion>> decode_completions(std::string_view body, name_pool& names,
                                                   const batch_limits& limits) {
    field_reader from(body);
    std::vector<completion> all;
    const auto count = from.count(completion_bytes);
    if (count > limits.activations_max)
        return fail(error_code::malformed_request,
                    "a runner completes {} activations, and {} are allowed", count,
                    limits.activations_max);
    for (std::size_t i = 0; i < count && from.is_sound(); ++i) {
        completion one;
        one.key = from.number_64();
        one.kind = from.one_of(completion_kind::damaged);
        one.bytes = from.number_64();
        one.why = from.text();
        if (one.kind == completion_kind::stepped) one.step = read_step(from, names, limits);
        all.push_back(std::move(one));
    }
    if (!from.is_done())
        return fail(error_code::malformed_request,
                    "completions of {} bytes do not fit: a name, a number or a length in them is "
                    "none that a workflow gives",
                    body.size());
    return all;
}

}  // namespace posthorn
