#pragma once

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
#error \
    "<posthorn/async.hpp> holds coroutines, which GCC before 14 miscompiles; use Clang or GCC 14, or <posthorn/posthorn.hpp>"
#endif

#include <chrono>
#include <concepts>
#include <coroutine>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <posthorn/node.hpp>
#include <posthorn/proxy.hpp>

namespace posthorn::async {

/// What `co_await` waits on. The coroutine goes on, on a thread of Posthorn's, once the commit is
/// on disk; like every such thread's work it must not block there for long.
///
/// Lifetime: awaited once, at once.
class commit {
public:
    commit(node& on, posthorn::detail::unique_function<void(transaction&)> work)
        : node_(on), work_(std::move(work)) {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
        // `this` lives in the waiting coroutine's frame, which goes on only after `done`.
        node_.transact_then(std::move(work_), [this, waiting](std::exception_ptr failure) {
            failure_ = std::move(failure);
            waiting.resume();
        });
    }
    void await_resume() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    node& node_;
    posthorn::detail::unique_function<void(transaction&)> work_;
    std::exception_ptr failure_;
};

/// The message's id, once it is on disk. Likewise. What is wrong with the message is thrown where
/// this is made.
class sent {
public:
    sent(node& on, posthorn::detail::send_request asked)
        : node_(on), made_(on.make(std::move(asked))) {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
        node_.store_then(std::move(made_), [this, waiting](uuid id, std::exception_ptr failure) {
            id_ = id;
            failure_ = std::move(failure);
            waiting.resume();
        });
    }
    [[nodiscard]] uuid await_resume() const {
        if (failure_) std::rethrow_exception(failure_);
        return id_;
    }

private:
    node& node_;
    message made_;
    uuid id_;
    std::exception_ptr failure_;
};

/// `co_await async::transact(node, [=](transaction& tx) { … });`
[[nodiscard]] inline commit transact(node& on,
                                     posthorn::detail::unique_function<void(transaction&)> work) {
    return {on, std::move(work)};
}

/// `const uuid id = co_await async::send(node, "inventory", "OrderApproved", payload);`
[[nodiscard]] inline sent send(node& on, std::string_view destination, std::string_view endpoint,
                               std::string payload, send_options options = {}) {
    return {on, {destination, endpoint, std::move(payload), std::move(options)}};
}

/// `const uuid id = co_await async::send(node, "inventory", order_approved{"o1", "desk-3"});`
template <class T>
    requires(!std::convertible_to<const T&, std::string_view>)
[[nodiscard]] sent send(node& on, std::string_view destination, const T& payload,
                        send_options options = {}) {
    if constexpr (posthorn::detail::check_message<T>())
        return {on, posthorn::detail::request_for(destination, payload, std::move(options))};
    else
        return {on, {}};
}

/// `const uuid id = co_await async::send(bill, order_cancelled{"o2"});` with a proxy.
template <class Service, class T>
[[nodiscard]] sent send(proxy<Service>& to, const T& payload, send_options options = {}) {
    if constexpr (posthorn::detail::check_in_service<Service, T>())
        return {to.from(),
                posthorn::detail::request_for(to.destination(), Service::template endpoint<T>,
                                              payload, std::move(options))};
    else
        return {to.from(), {}};
}

/// The answer to a Command. The coroutine goes on, on a thread that it may block, when it is there.
///
/// Lifetime: awaited once, at once.
template <class Response>
class answered {
public:
    explicit answered(reply<Response> waited_for) : reply_(std::move(waited_for)) {}

    /// Waits no longer than this: then `error_code::timed_out` comes in place of the answer.
    [[nodiscard]] answered within(std::chrono::milliseconds limit) && {
        limit_ = limit;
        return std::move(*this);
    }

    [[nodiscard]] bool await_ready() const { return reply_.is_ready(); }
    void await_suspend(std::coroutine_handle<> waiting) {
        reply_.then([waiting] { waiting.resume(); }, limit_);
    }
    // Whatever there was to wait for is over.
    Response await_resume() { return reply_.get(std::chrono::milliseconds::zero()); }

private:
    reply<Response> reply_;
    std::chrono::milliseconds limit_ = std::chrono::milliseconds::max();
};

namespace detail {

template <class Response>
answered<Response> wait_for(reply<Response> waited_for) {
    return answered<Response>(std::move(waited_for));
}
inline posthorn::detail::refused wait_for(posthorn::detail::refused call) { return call; }

}  // namespace detail

/// `const receipt r = co_await async::call(node, "billing", charge{"o1", 995}).within(5s);`
///
/// For messages that are in no service: those of one are called through its proxy.
template <class T>
[[nodiscard]] auto call(node& on, std::string_view destination, const T& command,
                        send_options options = {}) {
    return detail::wait_for(on.call_later(destination, command, std::move(options)));
}

/// `const receipt r = co_await async::call(bill, charge{"o1", 995}).within(5s);` with a proxy.
template <class Service, class T>
[[nodiscard]] auto call(proxy<Service>& to, const T& command, send_options options = {}) {
    return detail::wait_for(to.call_later(command, std::move(options)));
}

}  // namespace posthorn::async
