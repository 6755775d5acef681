#pragma once

#include <chrono>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <posthorn/contract.hpp>
#include <posthorn/proxy.hpp>
#include <posthorn/workflow/core.hpp>
#include <posthorn/workflow/failure.hpp>
#include <posthorn/workflow/manifest.hpp>
#include <posthorn/workflow/request.hpp>

namespace posthorn {
namespace detail {

/// What a workflow may `co_await`. Each waits for a group of handles to be ready.
struct flow_awaitable {};
template <class T>
concept awaited_by_flow = std::derived_from<std::remove_cvref_t<T>, flow_awaitable>;

void issue_sleep(flow_base& in, wall_time until);

/// Ends a run of a workflow and begins the next one.
class [[nodiscard("posthorn: co_await it: the next run begins by that")]] next_run
    : public flow_awaitable {
public:
    next_run(flow_base& in, const workflow_entry& code, std::string arguments)
        : in_(in), code_(code), arguments_(std::move(arguments)) {}

    [[nodiscard]] bool await_ready() const noexcept { return in_.is_cancelled(); }
    void await_suspend(std::coroutine_handle<>) { in_.end_run(code_, arguments_); }
    /// Only of one that is cancelled.
    [[noreturn]] void await_resume() const { in_.throw_cancelled(); }

private:
    flow_base& in_;
    const workflow_entry& code_;
    std::string arguments_;
};

}  // namespace detail

template <class R>
class limited;
template <class R>
class outcome_of;

/// What a workflow has asked for and may wait for. The command is made at once, awaiting only waits;
/// a wait or a sleep ends with its handle, a call stays sent.
///
/// Lifetime: the workflow's frame; moved, not copied. Awaited twice, it gives the same again.
template <class R>
class [[nodiscard(
    "posthorn: co_await it, or keep it: what is waited for ends with its handle")]] pending
    : public detail::pending_base,
      public detail::flow_awaitable {
public:
    using value_type = R;

    pending(detail::flow_base& in, std::uint32_t number, detail::command_kind kind,
            std::string_view endpoint, checker check = nullptr)
        : pending_base(in, number, kind, check), endpoint_(endpoint) {}

    [[nodiscard]] bool await_ready() {
        own_ = {};
        join(own_);
        return own_.is_met() || flow().is_cancelled();
    }
    void await_suspend(std::coroutine_handle<>) { flow().suspend(own_); }
    R await_resume() {
        leave();
        return get();
    }

    /// What came; throws what came in its place, and `cancelled` if nothing did.
    [[nodiscard]] R get() const {
        if (!is_ready()) flow().throw_cancelled();
        if (has_failed()) throw_failure(endpoint_);
        if constexpr (!std::is_void_v<R>) return decoded();
    }

    /// Waits no longer than this: an empty `optional` if it did not come in time, or false where
    /// there is no value.
    [[nodiscard]] limited<R> within(std::chrono::milliseconds limit) && {
        return {std::move(*this), limit};
    }
    /// A failure as a value, since `co_await` may not stand in a `catch`.
    [[nodiscard]] outcome_of<R> as_outcome() && { return outcome_of<R>(std::move(*this)); }

    [[nodiscard]] std::string_view endpoint() const noexcept { return endpoint_; }

private:
    [[nodiscard]] R decoded() const {
        try {
            if constexpr (detail::is_request<R>)
                return R(flow(), number(), endpoint_, decode<typename R::message_type>(payload()));
            else
                return decode<R>(payload());
        } catch (const error& misfit) {
            throw call_failed(endpoint_, misfit.what(), true);
        }
    }

    std::string_view endpoint_;  // A constant.
    detail::pending_group own_;
};

/// A call on its way.
template <class Service, class Command>
class [[nodiscard]] pending_call : public pending<response_of<Command>> {
public:
    using pending<response_of<Command>>::pending;

    /// What takes the call back if the workflow ends badly: a Command of the same service. Those of
    /// all calls are made one after the other, the last one first; not that of a call which surely
    /// had no effect.
    template <class Undo>
    [[nodiscard]] pending_call undo(const Undo& with) && {
        if constexpr (detail::check_call<Service, Undo>()) {
            detail::leave_note<detail::note_kind::call, detail::written_call<Service, Undo>>();
            auto& text = this->flow().step().text;
            auto& call = this->command();
            const auto at = static_cast<std::uint32_t>(text.size());
            encode_to(text, with);
            call.undo = {at, static_cast<std::uint32_t>(text.size()) - at};
            this->flow().note_undo(call.number, Service::template endpoint<Undo>);
        }
        return std::move(*this);
    }
};

/// A wait for a signal.
template <class T>
class [[nodiscard]] pending_signal : public pending<T> {
public:
    using pending<T>::pending;

    /// Of all such waits for a signal, the oldest alone gets it.
    [[nodiscard]] pending_signal exclusive() && {
        this->command().exclusive = true;
        return std::move(*this);
    }
};

/// A child on its way. It goes on without its handle, too.
template <class R>
class [[nodiscard]] pending_child : public pending<R> {
public:
    using pending<R>::pending;

    /// What becomes of it if this workflow ends first; it is cancelled unless something is said.
    [[nodiscard]] pending_child if_parent_ends(child_fate fate) && {
        this->command().fate = fate;
        return std::move(*this);
    }
};

/// A handle with a time limit.
template <class R>
class [[nodiscard("posthorn: co_await it: the time limit ends with it")]] limited
    : public detail::flow_awaitable {
public:
    limited(pending<R> inner, std::chrono::milliseconds limit)
        : inner_(std::move(inner)), limit_(sleep_for(inner_.flow(), limit)) {}

    [[nodiscard]] bool await_ready() {
        group_ = {};
        inner_.join(group_);
        limit_.join(group_);
        return group_.is_met() || inner_.flow().is_cancelled();
    }
    void await_suspend(std::coroutine_handle<>) { inner_.flow().suspend(group_); }
    auto await_resume() {
        inner_.leave();
        limit_.leave();
        const bool is_late =
            limit_.is_ready() && (!inner_.is_ready() || limit_.arrived() < inner_.arrived());
        if constexpr (std::is_void_v<R>) {
            if (!is_late) inner_.get();
            return !is_late;
        } else {
            return is_late ? std::optional<R>() : std::optional<R>(inner_.get());
        }
    }

private:
    static pending<void> sleep_for(detail::flow_base& in, std::chrono::milliseconds limit) {
        detail::issue_sleep(in, detail::later(in.step_time(), limit));
        return {in, in.commands(), detail::command_kind::sleep, {}};
    }

    pending<R> inner_;
    pending<void> limit_;
    detail::pending_group group_;
};

/// A handle whose failure is a value.
template <class R>
class [[nodiscard("posthorn: co_await it")]] outcome_of : public detail::flow_awaitable {
public:
    using value_type = std::expected<R, call_failed>;

    explicit outcome_of(pending<R> inner) : inner_(std::move(inner)) {}

    [[nodiscard]] bool await_ready() { return inner_.await_ready(); }
    void await_suspend(std::coroutine_handle<> waiting) { inner_.await_suspend(waiting); }
    value_type await_resume() {
        try {
            if constexpr (std::is_void_v<R>) {
                inner_.await_resume();
                return {};
            } else {
                return inner_.await_resume();
            }
        } catch (const call_failed& failure) {
            return std::unexpected(failure);
        }
    }

private:
    pending<R> inner_;
};

}  // namespace posthorn
