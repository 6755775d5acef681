#include <utility>

#include <posthorn/error.hpp>
#include <posthorn/workflow/core.hpp>
#include <posthorn/workflow/failure.hpp>

namespace posthorn::detail {
namespace {

/// A call or a child goes on; that nothing waits for it is noted of the latter alone.
bool ends_with_its_handle(command_kind one) noexcept {
    return one == command_kind::wait || one == command_kind::receive ||
           one == command_kind::sleep || one == command_kind::child || one == command_kind::attach;
}

}  // namespace

pending_base::pending_base(flow_base& in, std::uint32_t number, command_kind kind, checker check)
    : in_(&in), check_(check), number_(number), kind_(kind) {
    if (in.live_handles_ == 0) {
        in.handles_.clear();
        in.first_handle_ = number;
    }
    in.handles_.resize(number - in.first_handle_ + 1, nullptr);
    in.handles_.back() = this;
    ++in.live_handles_;
}

pending_base::pending_base(pending_base&& other) noexcept
    : in_(std::exchange(other.in_, nullptr)),
      check_(other.check_),
      number_(other.number_),
      arrived_(other.arrived_),
      kind_(other.kind_),
      has_failed_(other.has_failed_),
      may_have_taken_effect_(other.may_have_taken_effect_),
      was_stopped_(other.was_stopped_),
      payload_(std::move(other.payload_)) {
    if (in_ != nullptr) in_->handles_[number_ - in_->first_handle_] = this;
}

pending_base& pending_base::operator=(pending_base&& other) noexcept {
    if (this == &other) return *this;
    unlink();
    in_ = std::exchange(other.in_, nullptr);
    group_ = nullptr;
    check_ = other.check_;
    number_ = other.number_;
    arrived_ = other.arrived_;
    kind_ = other.kind_;
    has_failed_ = other.has_failed_;
    may_have_taken_effect_ = other.may_have_taken_effect_;
    was_stopped_ = other.was_stopped_;
    payload_ = std::move(other.payload_);
    if (in_ != nullptr) in_->handles_[number_ - in_->first_handle_] = this;
    return *this;
}

pending_base::~pending_base() { unlink(); }

void pending_base::unlink() noexcept {
    if (in_ == nullptr) return;
    auto& flow = *std::exchange(in_, nullptr);
    flow.handles_[number_ - flow.first_handle_] = nullptr;
    --flow.live_handles_;
    // Without a step the frame itself goes, and nothing is decided by that.
    if (flow.step_ != nullptr && ends_with_its_handle(kind_) && !is_ready())
        flow.step_->dropped.push_back(number_);
}

void pending_base::join(pending_group& group) noexcept {
    if (is_ready())
        ++(has_failed_ ? group.failures : group.arrived);
    else
        group_ = &group;
}

void pending_base::throw_failure(std::string_view endpoint) const {
    if (kind_ == command_kind::call) throw call_failed(endpoint, payload_, may_have_taken_effect_);
    if (kind_ == command_kind::child || kind_ == command_kind::attach)
        throw child_failed(endpoint, payload_, was_stopped_);
    throw permanent(payload_);
}

flow_command& pending_base::command() const {
    auto& made = in_->step().commands;
    if (made.empty() || number_ < made.front().number)
        throw error(
            error_code::invalid_argument,
            "undo, exclusive and if_parent_ends come too late here; say them where the call, "
            "the wait or the child is made");
    return made[number_ - made.front().number];
}

}  // namespace posthorn::detail
