#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <posthorn/json_decode.hpp>

namespace posthorn {
namespace detail {

/// Where a Response goes that somebody waits for.
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
    virtual void then(std::function<void()> ready, std::chrono::milliseconds within) = 0;
};

struct call_target {
    std::string_view destination;
    std::string_view endpoint;
};

}  // namespace detail

/// What the answer to a Command will be in.
///
/// Lifetime: any; dropping it lets the answer go unseen. Taken once.
/// Threads:  one at a time.
template <class Response>
class reply {
public:
    using response_type = Response;

    explicit reply(std::shared_ptr<detail::reply_state> state) : state_(std::move(state)) {}

    [[nodiscard]] bool is_ready() const { return state_->is_ready(); }

    /// Waits for the answer. `error_code::timed_out` if none comes in time: it may come later, so
    /// `get` may be called again. `error_code::closed` if the node stops before, or
    /// if the Command was given up; `message_expired` if it was not delivered in time.
    Response get(std::chrono::milliseconds within = std::chrono::milliseconds::max()) {
        const auto payload = state_->take(within);
        if constexpr (!std::is_void_v<Response>) return decode<Response>(payload);
    }

    /// Calls `ready` when `get` would not wait, on a thread that it must not block for long. With a
    /// time, also when that is over; `is_ready` then tells which it was.
    void then(std::function<void()> ready,
              std::chrono::milliseconds within = std::chrono::milliseconds::max()) {
        state_->then(std::move(ready), within);
    }

private:
    std::shared_ptr<detail::reply_state> state_;
};

}  // namespace posthorn
