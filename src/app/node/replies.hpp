#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <posthorn/reply.hpp>

#include "base/async/bell.hpp"
#include "base/result.hpp"

namespace posthorn {

/// A time limit on a reply: `late` is called on a thread that it may block, unless `answered` is
/// rung within it.
struct reply_limit {
    std::chrono::milliseconds within;
    std::shared_ptr<bell> answered;
    std::function<void()> late;
};

/// The calls that wait for their Responses, by correlation id.
///
/// Lifetime: shared with the replies it gives, which may outlive the node.
/// Threads:  any.
class replies : public std::enable_shared_from_this<replies> {
public:
    /// `watch` sees to a limit. It is not called once `close` has returned, and must not block.
    explicit replies(std::function<void(reply_limit)> watch) : watch_(std::move(watch)) {}

    /// `error_code::invalid_argument` if a call with this correlation id waits already, `closed` if
    /// the node has stopped. Only `from` can answer it.
    result<std::shared_ptr<detail::reply_state>> expect(std::string correlation_id,
                                                        std::string_view from);
    /// Gives a Response to the call that waits for it. False if one waits for another service.
    bool complete(std::string_view correlation_id, std::string_view from, std::string payload,
                  std::exception_ptr refusal = {});
    /// Lets the call that waits throw this, if one does.
    void fail(std::string_view correlation_id, std::exception_ptr why);
    /// Ends every wait.
    void close();
    [[nodiscard]] bool is_closed() const;

private:
    class waiting_reply;

    std::shared_ptr<waiting_reply> take(std::string_view correlation_id);
    void forget(const std::string& correlation_id);
    void limit(reply_limit to);

    std::function<void(reply_limit)> watch_;
    mutable std::mutex mutex_;
    bool closed_ = false;
    struct call {
        std::weak_ptr<waiting_reply> waiting{};
        std::string to{};
    };
    std::map<std::string, call, std::less<>> waiting_;
};

}  // namespace posthorn
