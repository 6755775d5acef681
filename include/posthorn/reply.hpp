#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <posthorn/contract.hpp>
#include <posthorn/detail/unique_function.hpp>
#include <posthorn/json/decode.hpp>

namespace posthorn {
namespace detail {

/// Where a Response goes that a caller waits for.
///
/// Lifetime: shared between the reply and the node.
/// Threads:  any.
class reply_state {
public:
    virtual ~reply_state() = default;

    [[nodiscard]] virtual bool is_ready() const = 0;
    /// The payload; throws what came in its place, or `error_code::timed_out`.
    [[nodiscard]] virtual std::string take(std::chrono::milliseconds within) = 0;
    /// Calls `ready` once, from a thread of Posthorn's, or at once if it is ready: when it is, or
    /// when the time is over.
    virtual void then(unique_function<void()> ready, std::chrono::milliseconds within) = 0;
};

/// Stands for the answer to a call that the compiler has refused, so that it has nothing else to
/// say about what is done with it. There is none when a program runs.
struct refused {
    template <class T>
    operator T() const {  // NOLINT(google-explicit-constructor): it is to pass for anything.
        std::terminate();
    }
    [[nodiscard]] bool is_ready() const { return true; }
    [[nodiscard]] bool await_ready() const { return true; }
    void await_suspend(const auto&) const {}
    refused await_resume() const { return {}; }
    refused get(const auto&...) const { return {}; }
    refused within(const auto&) const { return {}; }
    void then(const auto&...) const {}
};

}  // namespace detail

/// The eventual response to a Command.
///
/// Lifetime: any; dropping it lets the answer go unseen. Taken once.
/// Threads:  one at a time.
template <class Response>
class reply {
public:
    using response_type = Response;

    /// The endpoint is a constant.
    reply(std::shared_ptr<detail::reply_state> state, std::string_view endpoint)
        : state_(std::move(state)), endpoint_(endpoint) {}

    [[nodiscard]] bool is_ready() const { return state_->is_ready(); }

    /// Waits for the answer. `error_code::timed_out` if none comes in time: it may come later, so
    /// `get` may be called again. `error_code::closed` if the node stops before, or
    /// if the Command was given up; `message_expired` if it was not delivered in time.
    Response get(std::chrono::milliseconds within = std::chrono::milliseconds::max()) {
        const auto payload = state_->take(within);
        if constexpr (!std::is_void_v<Response>)
            return detail::decode_response<Response>(endpoint_, payload);
    }

    /// Calls `ready` when `get` would not wait, on a thread that it must not block for long. With a
    /// time, also when that is over; `is_ready` then tells which it was.
    void then(detail::unique_function<void()> ready,
              std::chrono::milliseconds within = std::chrono::milliseconds::max()) {
        state_->then(std::move(ready), within);
    }

private:
    std::shared_ptr<detail::reply_state> state_;
    std::string_view endpoint_;
};

namespace detail {

template <class T>
auto refused_call() {
    if constexpr (message_contract<T>)
        if constexpr (contract_of<T>::type == message_type::command)
            return reply<response_of<T>>(nullptr, {});
        else
            return refused{};
    else
        return refused{};
}

}  // namespace detail

}  // namespace posthorn
