#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <posthorn/message.hpp>

#include "base/time/clock.hpp"
#include "inbox/handlers.hpp"
#include "store/migration.hpp"
#include "store/store.hpp"

namespace posthorn {

/// The table `posthorn_queue`, from which a service takes its messages with SQL or over HTTP.
[[nodiscard]] table_set queue_tables() noexcept;

/// Puts a message into the queue, in the transaction that records it: exactly once. What the
/// service does with it is then its own affair: it deletes the row in the transaction of its work.
/// The clock outlives it.
[[nodiscard]] transactional_handler make_queue_handler(const clock& time);

struct queued_message {
    std::int64_t seq = 0;
    std::string message_id;
    std::string source;
    std::string endpoint;
    std::string message_type;
    std::string correlation_id;
    std::string tenant;
    std::string order_key;
    std::string payload;
    std::string content_type;
    std::string headers;
    wall_time received_at{};
    wall_time taken_until{};
    std::int64_t attempts = 0;  // This one counted.
};

struct queue_take {
    std::string endpoint;
    std::string owner;
    std::int64_t limit = 1;
    std::chrono::milliseconds lease = std::chrono::seconds{60};
};

/// One that was taken, as its owner names it.
struct queue_receipt {
    std::vector<std::int64_t> seqs;
    std::string owner;
};

// Work inside a unit, for the owner of the transaction. Pure SQL: docs/concepts/handlers.md shows
// the same statements for services that run them themselves.

/// The oldest ones that are not held, in their order. Of those with one order key only the first
/// that is there may be taken, together with those that follow it at once, and none while another
/// owner holds a later one.
[[nodiscard]] result<std::vector<queued_message>> take_queued(store_transaction& tx,
                                                              const queue_take& asked,
                                                              wall_time now);
/// Deletes what the owner has done; gives how many were still its own.
[[nodiscard]] result<std::int64_t> acknowledge_queued(store_transaction& tx,
                                                      const queue_receipt& done);
/// Gives back what the owner will not do, or not now.
[[nodiscard]] result<std::int64_t> release_queued(store_transaction& tx, const queue_receipt& back,
                                                  wall_time free_at);

}  // namespace posthorn
