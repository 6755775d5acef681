#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/async/waiter.hpp"
#include "transport/broker/broker_message.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// A batch on its way to a broker, whose answers come one by one and in any order.
///
/// Lifetime: shared by the coroutine that waits and the link that sends; what comes after the wait
///           has ended is dropped.
/// Threads:  `answer` from any; the rest from the one that waits.
class publication {
public:
    explicit publication(std::vector<broker_message> messages);

    [[nodiscard]] const std::vector<broker_message>& messages() const noexcept { return messages_; }
    /// The first answer to a message counts.
    void answer(std::size_t which, delivery what);
    void answer_all(const delivery& what);
    /// No coroutine waits for an answer any more.
    [[nodiscard]] bool is_over() const;
    /// One answer for each, when the last has come; when cancelled, `unanswered` for those that are
    /// still out. Once.
    task<std::vector<delivery>> answers();

private:
    const std::vector<broker_message> messages_;
    mutable std::mutex mutex_;
    std::vector<std::optional<delivery>> answers_;
    std::size_t left_;
    bool over_ = false;
    std::shared_ptr<waiter> all_in_ = waiter::make();
};

/// Gives batches to a broker.
///
/// Lifetime: destroyed when no coroutine waits for it any more; that closes the connection.
/// Threads:  `publish` from any; it does not block.
class broker_publisher {
public:
    virtual ~broker_publisher() = default;

    /// Sees to it that every message gets an answer, unless the publisher is destroyed before.
    virtual void publish(std::shared_ptr<publication> batch) = 0;
};

}  // namespace posthorn
