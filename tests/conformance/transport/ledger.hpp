#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/async/waiter.hpp"
#include "transport/transport.hpp"

namespace posthorn::conformance {

/// A receiver in memory that keeps to the contract as an inbox does: each message takes effect
/// once, a repeat gets the first response, another body under a known id is refused.
///
/// What it says to a message is chosen by the endpoint: see `answer_to`. Messages for `Wait` stay
/// until `release`.
///
/// Threads: any.
class ledger final : public receiver {
public:
    task<std::vector<delivery>> receive(message_batch batch) override;

    /// All that arrived, repeats too, in their order.
    [[nodiscard]] std::vector<message> arrived();
    /// How often each id took effect.
    [[nodiscard]] std::map<uuid, int> effects();
    /// How many wait.
    [[nodiscard]] std::size_t waiting();
    void release();

private:
    struct entry {
        std::string body;
        std::string response;
    };

    delivery take(const message& what);
    delivery answer_to(const message& what);
    task<bool> wait();

    std::mutex mutex_;
    std::vector<message> arrived_;
    std::map<uuid, int> effects_;
    std::map<uuid, entry> known_;
    std::vector<std::shared_ptr<waiter>> waiting_;
    bool released_ = false;
};

}  // namespace posthorn::conformance
