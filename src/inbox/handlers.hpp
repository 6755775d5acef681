#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include <posthorn/context.hpp>

#include "base/result.hpp"
#include "base/task.hpp"

namespace posthorn {

/// Works in the open transaction and takes effect exactly once. Gives the response's payload.
using transactional_handler = std::function<std::string(context&, const message&)>;
/// Work outside of the database, at least once, on a thread that it may block. The message's id is
/// its idempotency key.
using blocking_handler = std::function<std::string(const message&)>;
/// The same as a coroutine. It is cancelled when its lease ends.
using async_handler = std::function<task<result<std::string>>(message)>;

struct handler {
    std::variant<transactional_handler, blocking_handler, async_handler> run;
    std::chrono::milliseconds limit = std::chrono::seconds{5};   // For a transactional one's SQL.
    std::chrono::milliseconds lease = std::chrono::seconds{60};  // For the claim of the others.

    [[nodiscard]] bool is_transactional() const {
        return std::holds_alternative<transactional_handler>(run);
    }
};

/// Which handler takes the messages of an endpoint.
///
/// Lifetime: filled, then frozen, then read for as long as an inbox uses it.
/// Threads:  any once it is frozen; one before.
class handlers {
public:
    /// `error_code::invalid_argument` if the endpoint has a handler, or if it is too late.
    result<> add(std::string endpoint, handler added);
    /// From now on nothing is added, so that those who look need no lock.
    void freeze() noexcept { frozen_ = true; }
    [[nodiscard]] bool frozen() const noexcept { return frozen_; }

    /// Null if nothing handles the endpoint.
    [[nodiscard]] const handler* find(std::string_view endpoint) const;

private:
    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>{}(text);
        }
    };

    std::unordered_map<std::string, handler, text_hash, std::equal_to<>> by_endpoint_;
    bool frozen_ = false;
};

}  // namespace posthorn
