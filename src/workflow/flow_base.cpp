#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <posthorn/error.hpp>
#include <posthorn/workflow/core.hpp>
#include <posthorn/workflow/failure.hpp>
#include <posthorn/workflow/function.hpp>

#include "base/assert.hpp"
#include "base/checksum.hpp"
#include "base/planted.hpp"

namespace posthorn::detail {
namespace {

// A step is one transaction, and lies in memory until that commits.
constexpr std::size_t step_commands_max = 10'000;
constexpr std::size_t step_bytes_max = 256UL * 1024 * 1024;
constexpr std::chrono::milliseconds end_of_time{253'402'300'799'999};

bool is_answer(event_kind event, command_kind to) noexcept {
    switch (event) {
        case event_kind::answered:
        case event_kind::died: return to == command_kind::call;
        case event_kind::signalled: return to == command_kind::wait || to == command_kind::receive;
        case event_kind::elapsed: return to == command_kind::sleep;
        case event_kind::done:
        case event_kind::refused: return to == command_kind::transact || to == command_kind::run;
        case event_kind::returned:
        case event_kind::failed:
        case event_kind::stopped: return to == command_kind::child || to == command_kind::attach;
        case event_kind::start:
        case event_kind::cancel: break;
    }
    return false;
}

std::uint64_t seed_of(const uuid& run) noexcept {
    checksum sum;
    for (const auto byte : run.bytes()) sum.add(std::uint64_t{byte});
    return static_cast<std::uint64_t>(sum.value());
}

}  // namespace

void flow_step::clear() {
    text.clear();
    commands.clear();
    dropped.clear();
    state.reset();
    status = flow_status::running;
    result.clear();
    log.clear();
    has_left = false;
}

const flow_command* flow_step::next_run() const noexcept {
    const bool is_any = !commands.empty() && commands.back().kind == command_kind::again;
    return is_any ? &commands.back() : nullptr;
}

wall_time later(wall_time than, std::chrono::milliseconds by) noexcept {
    const auto since = than.time_since_epoch();
    if (by <= std::chrono::milliseconds::zero()) return than;
    return by > end_of_time - since ? wall_time(end_of_time) : than + by;
}

void fail_arguments(std::size_t given, std::size_t wanted) {
    throw error(error_code::invalid_payload,
                fmt::format("{} arguments are given to a workflow that takes {}", given, wanted));
}

void issue_sleep(flow_base& in, wall_time until) {
    in.issue(command_kind::sleep, {}).due = std::min(until, wall_time(end_of_time));
}

uuid random_uuid(flow_base& from) noexcept {
    // Version 7, of the step's time.
    const auto millis = static_cast<std::uint64_t>(from.step_time().time_since_epoch().count());
    const std::uint64_t high = millis << 16U | 0x7000U | (from.next_random() & 0xfffU);
    const std::uint64_t low = std::uint64_t{1} << 63U | from.next_random() >> 2U;
    uuid::bytes_type bytes{};
    for (unsigned i = 0; i < 8; ++i) {
        bytes[i] = static_cast<std::uint8_t>(high >> (56U - 8U * i));
        bytes[8 + i] = static_cast<std::uint8_t>(low >> (56U - 8U * i));
    }
    return uuid(bytes);
}

flow_base::flow_base(const uuid& run) noexcept : run_(run), random_state_(seed_of(run)) {}

flow_base::~flow_base() { POSTHORN_ASSERT(!frame_); }

void flow_base::destroy_frame() noexcept {
    if (frame_) std::exchange(frame_, {}).destroy();
}

std::size_t flow_base::bytes() const noexcept {
    return sizeof(*this) + frame_bytes_ + handles_.capacity() * sizeof(pending_base*) +
           undos_.capacity() * sizeof(undo_note) + patches_.capacity() * sizeof(patch_note);
}

void flow_base::note_frame(std::size_t bytes) {
    if (bytes > frame_bytes_max)
        throw error(error_code::invalid_argument,
                    fmt::format("the frame of this workflow takes {} bytes, and {} are allowed; "
                                "keep large local variables in a std::vector",
                                bytes, frame_bytes_max));
    frame_bytes_ = bytes;
}

pending_base* flow_base::find(std::uint32_t command) const noexcept {
    const auto index = std::size_t{command} - first_handle_;  // Wraps round below the first.
    return command >= first_handle_ && index < handles_.size() ? handles_[index] : nullptr;
}

flow_base::undo_note* flow_base::undo_of(std::uint32_t command) noexcept {
    // The last one may be under way, and then ends with its own answer.
    const auto left = std::span(undos_).first(undos_.size() - (undoing_ != 0 ? 1 : 0));
    const auto found = std::ranges::find(left, command, &undo_note::call);
    return found == left.end() ? nullptr : &*found;
}

event_fit flow_base::fit_of(const flow_event& event, flow_step& into) {
    if (event.kind == event_kind::start) return is_begun_ ? event_fit::ignored : event_fit::taken;
    if (!is_begun_) return event_fit::stale;
    if (status_ != flow_status::running || has_next_run_) return event_fit::ignored;
    if (event.kind == event_kind::cancel)
        return is_cancelled_ || undoing_ != 0 ? event_fit::ignored : event_fit::taken;
    if (event.command == 0 || event.command > issued_) return event_fit::stale;
    if (event.command == undoing_)
        return is_answer(event.kind, command_kind::call) ? event_fit::taken : event_fit::ignored;
    const auto* const handle = find(event.command);
    if (handle != nullptr && !handle->is_ready() && is_answer(event.kind, handle->kind_)) {
        if (handle->check_ != nullptr) try {
                handle->check_(event.payload);
            } catch (const std::exception& misfit) {
                into.clear();
                into.result = misfit.what();
                return event_fit::unfit;
            }
        return event_fit::taken;
    }
    // Nothing waits for this call, but whether it had an effect decides what is undone.
    const bool had_none = event.kind == event_kind::died && !event.may_have_taken_effect;
    return had_none && undo_of(event.command) != nullptr ? event_fit::taken : event_fit::ignored;
}

event_fit flow_base::feed(flow_event event, flow_step& into, const recorded_patches* recorded) {
    if (const auto fit = fit_of(event, into); fit != event_fit::taken) return fit;
    into.clear();
    step_ = &into;
    recorded_ = recorded;
    now_ = std::max(now_, event.at);  // A clock that is set back is not seen by the code.
    if (event.kind == event_kind::start) {
        begin(event);
    } else if (event.kind == event_kind::cancel) {
        is_cancelled_ = true;
        reason_ = std::move(event.payload);
        go_on();
    } else if (undoing_ != 0 && event.command == undoing_) {
        take_undo_event(event);
    } else {
        deliver(std::move(event));
    }
    look_at_state();
    into.status = status_;
    step_ = nullptr;
    recorded_ = nullptr;
    return event_fit::taken;
}

void flow_base::begin(const flow_event& event) {
    is_begun_ = true;
    std::string_view what;
    try {
        what = "its state, which the run before left, does";
        if (!event.state.empty()) decode_state(event.state);
        what = "its arguments do";
        frame_ = make_frame(event.payload);
    } catch (const error& refused) {
        const bool is_misfit = refused.code() == error_code::invalid_payload;
        return quarantine(is_misfit ? fmt::format("{} not fit: {}", what, refused.what())
                                    : refused.what());
    } catch (const std::exception& refused) {
        return quarantine(refused.what());
    }
    go_on();
}

void flow_base::deliver(flow_event event) {
    const bool was_stopped = event.kind == event_kind::stopped;
    const bool has_failed = event.kind == event_kind::died || event.kind == event_kind::refused ||
                            event.kind == event_kind::failed || was_stopped;
    if (event.kind == event_kind::died && !event.may_have_taken_effect &&
        !POSTHORN_PLANTED(undo_of_what_failed))
        if (const auto* const note = undo_of(event.command))
            undos_.erase(undos_.begin() + (note - undos_.data()));
    auto* const handle = find(event.command);
    if (handle == nullptr) return;
    if (handle->kind_ == command_kind::receive) unanswered_.push_back(event.command);
    handle->arrived_ = ++arrivals_;
    handle->has_failed_ = has_failed;
    handle->may_have_taken_effect_ = event.may_have_taken_effect;
    handle->was_stopped_ = was_stopped;
    handle->payload_ = std::move(event.payload);
    if (auto* const group = std::exchange(handle->group_, nullptr))
        ++(has_failed ? group->failures : group->arrived);
    if (until_ != nullptr && until_->is_met()) go_on();
}

void flow_base::go_on() {
    until_ = nullptr;
    frame_.resume();
    if (frame_.done() || has_next_run_) end_code();
}

void flow_base::complete(std::string_view result) {
    leaves_as_ = flow_status::completed;
    step_->result = result;
}

void flow_base::leave_by_exception() noexcept {
    try {
        throw;
    } catch (const cancelled& why) {
        leaves_as_ = flow_status::cancelled;
        reason_ = why.reason();
    } catch (const failed& why) {
        leaves_as_ = flow_status::failed;
        reason_ = why.what();
    } catch (const permanent& why) {
        leaves_as_ = flow_status::failed;
        reason_ = why.what();
    } catch (const std::exception& bug) {
        leaves_as_ = flow_status::quarantined;
        reason_ =
            fmt::format("the code threw an exception that is not posthorn::failed: {}", bug.what());
    } catch (...) {
        leaves_as_ = flow_status::quarantined;
        reason_ = "the code threw something else than a std::exception";
    }
}

void flow_base::end_code() {
    destroy_frame();
    if (has_next_run_) return undos_.clear();  // What was called is kept.
    if (leaves_as_ == flow_status::quarantined) return quarantine(reason_);
    step_->has_left = true;
    if (leaves_as_ == flow_status::completed) {
        status_ = flow_status::completed;
        return;
    }
    if (POSTHORN_PLANTED(undos_in_order)) std::ranges::reverse(undos_);
    undo_next();
}

void flow_base::undo_next() {
    if (undos_.empty()) {
        status_ = leaves_as_;
        step_->result = reason_;
        return;
    }
    const auto& note = undos_.back();
    auto& made = issue(command_kind::call, note.name);
    made.destination = note.destination;
    made.undoes = note.call;
    made.options.order_key = note.options.order_key;
    made.options.tenant = note.options.tenant;
    made.payload = {static_cast<std::uint32_t>(step_->text.size()),
                    static_cast<std::uint32_t>(note.payload.size())};
    step_->text += note.payload;
    undoing_ = made.number;
}

void flow_base::take_undo_event(const flow_event& event) {
    if (event.kind == event_kind::died)
        return quarantine(fmt::format("{}, which undoes command {}, was given up: {}",
                                      undos_.back().name, undos_.back().call, event.payload));
    undos_.pop_back();
    undoing_ = 0;
    undo_next();
}

void flow_base::note_undo(std::uint32_t of, std::string_view name) {
    auto& call = step_->commands[of - step_->commands.front().number];
    call.undo_name = name;
    undos_.push_back({.call = of,
                      .destination = call.destination,
                      .name = name,
                      .payload = std::string(step_->of(call.undo)),
                      .options = call.options});
}

void flow_base::look_at_state() {
    if (status_ == flow_status::quarantined) return;
    const auto at = step_->text.size();
    try {
        encode_state(step_->text);
    } catch (const std::exception& misfit) {
        return quarantine(fmt::format("the state cannot be stored: {}", misfit.what()));
    }
    checksum sum;
    sum.add(std::string_view(step_->text).substr(at));
    if (std::exchange(state_sum_, sum.value()) == sum.value())
        step_->text.resize(at);
    else
        step_->state = {static_cast<std::uint32_t>(at),
                        static_cast<std::uint32_t>(step_->text.size() - at)};
}

void flow_base::quarantine(std::string why) {
    destroy_frame();
    status_ = flow_status::quarantined;
    step_->commands.clear();
    step_->dropped.clear();
    step_->result = std::move(why);
}

flow_command& flow_base::issue(command_kind kind, std::string_view name) {
    if (step_->commands.size() >= step_commands_max || step_->text.size() > step_bytes_max)
        throw error(error_code::invalid_argument,
                    fmt::format("a step of a workflow makes {} commands of {} bytes at most; wait "
                                "for some of them in between",
                                step_commands_max, step_bytes_max));
    auto& made = step_->commands.emplace_back();
    made.number = ++issued_;
    made.kind = kind;
    made.name = name;
    return made;
}

void flow_base::answer(const answered_request& what, std::string_view payload) {
    if (std::erase(unanswered_, what.request) == 0)
        throw error(error_code::invalid_argument,
                    fmt::format("the Command {} is answered already", what.endpoint));
    auto& made = issue(command_kind::answer, what.endpoint);
    made.request = what.request;
    made.is_refusal = what.is_refusal;
    made.payload = {static_cast<std::uint32_t>(step_->text.size()),
                    static_cast<std::uint32_t>(payload.size())};
    step_->text += payload;
}

void flow_base::end_run(const workflow_entry& next, std::string_view arguments) {
    auto& made = issue(command_kind::again, next.name());
    made.code = &next;
    made.payload = {static_cast<std::uint32_t>(step_->text.size()),
                    static_cast<std::uint32_t>(arguments.size())};
    step_->text += arguments;
    has_next_run_ = true;
}

void flow_base::throw_cancelled() const { throw cancelled(reason_); }

std::uint64_t flow_base::next_random() noexcept {
    // SplitMix64: what it gives for a run never changes.
    auto mixed = random_state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30U) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27U) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31U;
}

void flow_base::write_log(std::string_view text) {
    if (recorded_ == nullptr) step_->log.emplace_back(text);
}

bool flow_base::has_patch(std::string_view name) {
    const auto known = std::ranges::find(patches_, name, &patch_note::name);
    if (known != patches_.end()) return known->is_there;
    const bool is_there =
        recorded_ == nullptr || std::ranges::find(*recorded_, name) != recorded_->end();
    patches_.push_back({std::string(name), is_there});
    if (is_there) issue(command_kind::patch, name);
    return is_there;
}

// --- What a program has ---

const named_workflow*& named_workflow::all() noexcept {
    static const named_workflow* first = nullptr;
    return first;
}

const awaited_signal*& awaited_signal::first() noexcept {
    static const awaited_signal* one = nullptr;
    return one;
}

const workflow_entry& entry_of(any_function code) {
    const auto* const found = named_workflow::find(code);
    if (found == nullptr)
        throw error(error_code::invalid_argument,
                    "this function has no name as a workflow; write POSTHORN_WORKFLOW(function, "
                    "\"Name\", 1) after it");
    return *found;
}

std::string_view name_of(const workflow_entry& code) noexcept { return code.name(); }

const named_workflow* named_workflow::find(any_function code) noexcept {
    const auto* each = all();
    while (each != nullptr && each->function() != code) each = each->next_;
    return each;
}

const named_workflow* named_workflow::find(std::string_view name, unsigned version) noexcept {
    const auto* each = all();
    while (each != nullptr && (each->name() != name || each->version() != version))
        each = each->next_;
    return each;
}

}  // namespace posthorn::detail
