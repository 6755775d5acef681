#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "limit/database.hpp"

namespace posthorn::bench {

using message_id = std::array<std::uint8_t, 16>;

/// A message that is on disk and not yet delivered.
struct stored_message {
    std::int64_t seq = 0;
    message_id id{};
    std::int64_t created_ms = 0;
    std::int64_t expires_ms = 0;
    std::string payload;
};

inline constexpr std::string_view endpoint_name = "Charge";

/// What a receiver must know about a message, what a person asks about it, and how a sweep after a
/// crash finds what is left to send.
inline constexpr std::string_view outbox_tables =
    "CREATE TABLE orders(id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
    "CREATE TABLE outbox(seq INTEGER PRIMARY KEY, message_id BLOB NOT NULL,"
    " destination TEXT NOT NULL, endpoint TEXT NOT NULL, payload TEXT NOT NULL,"
    " created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, sent_at INTEGER);"
    "CREATE INDEX outbox_pending ON outbox(destination) WHERE sent_at IS NULL;";

[[nodiscard]] std::int64_t wall_ms();

/// Makes up the messages of a measurement.
///
/// Threads: one at a time.
class message_maker {
public:
    message_maker();
    [[nodiscard]] stored_message make(std::int64_t seq, std::uint64_t index, std::int64_t now_ms);

private:
    std::uint64_t ids_;
};

/// The sender's half of the guarantee, by hand: a business row and an outbox row in one transaction
/// for each sender, concurrent ones in one commit, and rows marked as sent along with later ones.
///
/// Whoever comes while nobody commits does so itself, for all who wait: no thread in between.
///
/// Lifetime: `hand_over` outlives it.
/// Threads:  any. `hand_over` is called by whoever commits, in the order of `seq`.
class outbox {
public:
    using taker = std::function<void(std::vector<stored_message>)>;

    outbox(const std::string& file, taker hand_over);
    ~outbox();
    outbox(const outbox&) = delete;
    outbox& operator=(const outbox&) = delete;

    /// Returns when it is on disk.
    void add(std::uint64_t index);
    /// `done` is called when it is on disk; it may add more.
    void add_then(std::uint64_t index, std::function<void()> done);
    /// Marks as sent, with the next commit or soon.
    void settle(std::int64_t first_seq, std::int64_t last_seq);
    void wait_settled();

private:
    struct request {
        std::uint64_t index = 0;
        std::function<void()> done{};
        std::atomic<int>* told = nullptr;  // 1 once it is done, 2 to lead.
    };
    using ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

    void lead(std::unique_lock<std::mutex>& held, const std::atomic<int>* own);
    /// Ends the program if it fails: nothing that is measured then counts.
    void commit(const std::vector<request>& group, const ranges& sent) noexcept;
    stored_message insert(std::uint64_t index, std::int64_t now_ms);
    void serve(const std::stop_token& stop);

    taker hand_over_;
    database file_;
    statement begin_;
    statement add_order_;
    statement add_message_;
    statement mark_sent_;
    statement commit_;
    std::int64_t last_seq_ = 0;
    message_maker maker_;
    std::mutex lock_;
    std::condition_variable_any changed_;
    bool busy_ = false;
    std::deque<request> queue_;
    ranges sent_;
    std::int64_t pending_ = 0;  // Rows that are not marked as sent.
    std::jthread server_;       // The last, so that it ends before what it works on.
};

}  // namespace posthorn::bench
