#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <posthorn/detail/unique_function.hpp>
#include <posthorn/service.hpp>
#include <posthorn/transaction.hpp>

#include "base/async/task.hpp"
#include "base/result.hpp"

namespace posthorn {

/// Works in the open transaction and takes effect exactly once. Gives the response's payload.
using transactional_handler = detail::unique_function<std::string(context&, const message&)>;
/// Work outside of the database, at least once, on a thread that it may block. The message's id is
/// its idempotency key.
using blocking_handler = detail::unique_function<std::string(const message&)>;
/// The same as a coroutine. It is cancelled when its lease ends.
using async_handler = detail::unique_function<task<result<std::string>>(message)>;

struct handler {
    std::variant<transactional_handler, blocking_handler, async_handler> run;
    std::chrono::milliseconds limit = std::chrono::seconds{5};   // For a transactional one's SQL.
    std::chrono::milliseconds lease = std::chrono::seconds{60};  // For the claim of the others.

    bool takes_responses = true;  // Those that know their message's type do not.
    bool answers_later = false;   // It only stores a Command; who finishes it sends the Response.
    /// Told of each message that it took in, after the commit. On the receiver's executor; must not
    /// throw or block.
    std::function<void(const message&)> arrived{};

    [[nodiscard]] bool is_transactional() const {
        return std::holds_alternative<transactional_handler>(run);
    }
};

/// Which handler takes the messages of an endpoint.
///
/// The endpoints of an offered service are found by its own constant table; those that are named at
/// run time or by configuration, in a map.
///
/// Lifetime: filled, then frozen, then read for as long as an inbox uses it.
/// Threads:  any once it is frozen; one before.
class handlers {
public:
    /// `error_code::invalid_argument` if the endpoint has a handler, or if it is too late.
    result<> add(std::string endpoint, handler added);
    /// For Responses to Commands of an endpoint. Without one they go to a handler of that endpoint
    /// that takes them, and without that to `add_replies`.
    result<> add_response(std::string endpoint, handler added);
    void add_replies(handler added) { replies_ = std::move(added); }
    /// For Responses whose correlation id begins so, before any other; the calls of a feature.
    void add_correlated(std::string beginning, handler added) {
        correlated_.emplace_back(std::move(beginning), std::move(added));
    }
    /// Gives the number under which the service's handlers are added.
    result<std::size_t> offer(const detail::service_info& service);
    result<> add_to_service(std::size_t service, std::size_t position, handler added);
    /// `error_code::invalid_configuration` if an offered service lacks a handler.
    [[nodiscard]] result<> complete() const;

    /// Whether anything but `add_replies` was added.
    [[nodiscard]] bool has_any() const noexcept {
        return !by_endpoint_.empty() || !responses_.empty() || !services_.empty();
    }

    /// The offered services, and the endpoints that are handled beside them, in the order of their
    /// names.
    [[nodiscard]] std::vector<detail::service_info> offered() const;
    [[nodiscard]] std::vector<std::string> endpoints() const;

    /// From now on nothing is added, so that those who look need no lock.
    void freeze() noexcept { frozen_ = true; }
    [[nodiscard]] bool frozen() const noexcept { return frozen_; }

    /// Null if nothing handles the message.
    [[nodiscard]] const handler* find(const message& what) const;
    /// Null if nothing handles Signals, Commands and PushCalls of the endpoint.
    [[nodiscard]] const handler* find(std::string_view endpoint) const;
    [[nodiscard]] bool has_response(std::string_view endpoint) const {
        return responses_.contains(endpoint);
    }

private:
    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>{}(text);
        }
    };

    using handler_map = std::unordered_map<std::string, handler, text_hash, std::equal_to<>>;
    struct offered_service {
        detail::service_info what;
        std::vector<handler> by_position;  // Empty ones are missing.
    };

    result<> check(std::string_view endpoint, const handler& added) const;
    static bool is_empty(const handler& one);

    handler_map by_endpoint_;
    handler_map responses_;
    handler replies_{};
    std::vector<std::pair<std::string, handler>> correlated_;
    std::vector<offered_service> services_;
    bool frozen_ = false;
};

}  // namespace posthorn
