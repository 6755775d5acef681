#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "app/node/node_runtime.hpp"

namespace posthorn::cost {

/// Two nodes of one process, orders and billing, as busy with each other as they can be: a message
/// that took effect is followed by the next.
///
/// Lifetime: `start` once; ends in its destructor.
/// Threads:  one.
class traffic {
public:
    /// The database of orders; that of billing lies beside it.
    explicit traffic(const std::filesystem::path& database);
    ~traffic();
    traffic(const traffic&) = delete;
    traffic& operator=(const traffic&) = delete;

    void start();
    /// Messages a second that took effect, from now on for so long.
    double rate(std::chrono::milliseconds span);
    [[nodiscard]] node_runtime& orders() { return *orders_; }

private:
    static constexpr int in_flight = 1'000;

    void send();

    std::atomic<bool> stopping_ = false;
    std::atomic<std::int64_t> handled_ = 0;
    std::mutex mutex_;
    std::condition_variable never_;
    std::unique_ptr<node_runtime> billing_;
    std::unique_ptr<node_runtime> orders_;
};

/// Fills the outbox of a new database of orders; each is old enough to be deleted.
struct old_messages {
    int sent = 0;
    int dead = 0;
};
void make_database(const std::filesystem::path& database, const old_messages& old);

}  // namespace posthorn::cost
