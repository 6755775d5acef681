#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "limit/database.hpp"
#include "limit/outbox.hpp"

namespace posthorn::bench {

/// The sender's half of the guarantee as most would write it: each sender commits its business row
/// and its outbox row by itself, one after the other on one connection, and a relay reads the
/// table.
///
/// No sender shares a sync with another; that is what `outbox` in `limit/` adds.
///
/// Threads: any; `take_due` one.
class plain_outbox {
public:
    explicit plain_outbox(const std::string& file);

    /// Returns when it is on disk.
    void add(std::uint64_t index);
    /// The next that were not taken yet, in order, at most so many; waits for some. Nothing once
    /// `close` was called.
    [[nodiscard]] std::vector<stored_message> take_due(std::size_t count_max);
    /// Marks as sent, in a commit of its own.
    void settle(std::int64_t first_seq, std::int64_t last_seq);
    void wait_settled();
    void close();

private:
    database file_;
    statement begin_;
    statement add_order_;
    statement add_message_;
    statement mark_sent_;
    statement commit_;
    database reading_;  // The relay's: it reads while others write.
    statement due_;
    message_maker maker_;
    std::mutex lock_;
    std::condition_variable changed_;
    std::int64_t last_seq_ = 0;   // Committed.
    std::int64_t taken_seq_ = 0;  // By the relay.
    std::int64_t pending_ = 0;
    bool closed_ = false;
};

}  // namespace posthorn::bench
