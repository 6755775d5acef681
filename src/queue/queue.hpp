#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <posthorn/message.hpp>

#include "base/time/clock.hpp"
#include "inbox/handlers.hpp"
#include "store/message_maker.hpp"
#include "store/migration.hpp"
#include "store/store.hpp"

namespace posthorn {

/// The table `posthorn_queue`, from which a service takes its messages with SQL or over HTTP. A
/// message in it is a job until a worker has finished it.
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

struct queue_rules {
    std::int64_t attempts_max = 20;  // A job that was taken so often is given up; 0 is never.
};

struct queue_take {
    std::string endpoint;
    std::string owner;
    std::int64_t limit = 1;
    std::chrono::milliseconds lease = std::chrono::seconds{60};
    /// How much one take gives, though always one job; and how much a job may have to be given.
    std::int64_t octets_max = std::int64_t{8} << 20U;
    std::int64_t job_octets_max = std::int64_t{64} << 20U;
};

/// How long a worker may have a job for, over HTTP. One that is held for longer was taken by a wrong
/// clock, or by a program that means it.
inline constexpr std::chrono::milliseconds queue_lease_max = std::chrono::days{1};
/// Small steps of the clock are believed.
inline constexpr std::chrono::milliseconds longest_hold = queue_lease_max + std::chrono::minutes{5};

/// Those that were taken, as their owner names them.
struct queue_receipt {
    std::vector<std::int64_t> seqs;
    std::string owner;
};

/// Why and for how long an owner gives jobs back.
struct queue_release {
    /// Unless given it grows with the attempts: `pause_after`.
    std::optional<std::chrono::milliseconds> delay{};
    std::string error{};    // What went wrong, for people.
    bool gives_up = false;  // Trying again cannot help.
};

/// One that no worker gets any more, until an operator lets it be tried again.
struct given_up_job {
    std::int64_t seq = 0;
    std::string endpoint;
    std::string message_id;
    std::int64_t attempts = 0;
    std::string error;
};

struct queue_taken {
    std::vector<queued_message> messages{};  // The oldest first.
    std::vector<given_up_job> given_up{};    // Too large to be given to any worker.
};

/// How long a job waits that was given back after so many attempts: 1 s, 2 s, 4 s and so on, at
/// most five minutes. Pure.
[[nodiscard]] std::chrono::milliseconds pause_after(std::int64_t attempts) noexcept;

/// Whether there is any more use in a job. Pure.
[[nodiscard]] bool is_spent(std::int64_t attempts, const queue_rules& rules) noexcept;

// Work inside a unit, for the owner of the transaction. Pure SQL: docs/concepts/queues.md shows
// the same statements for services that run them themselves.

/// Gives up those whose attempts are spent and whose last worker's time is over.
[[nodiscard]] result<std::vector<given_up_job>> give_up_spent(store_transaction& tx,
                                                              const queue_rules& rules,
                                                              wall_time now);
/// The oldest ones that are neither held nor given up, in their order. Of those with one order key
/// only the first that is there may be taken, together with those that follow it at once, and none
/// while another owner holds a later one. One that was given up holds back the later ones of its
/// key. `give_up_spent` comes first, in the same transaction.
///
/// Their sizes are looked at before they are read. One that is too large for any take is given up.
[[nodiscard]] result<queue_taken> take_queued(store_transaction& tx, const queue_take& asked,
                                              wall_time now);
/// Whether `take_queued` might give something, without taking it.
[[nodiscard]] result<bool> has_free(store_reader& from, const std::string& endpoint, wall_time now);

/// Deletes what the owner has done, and sends the response to those that are Commands; gives how
/// many were still its own.
[[nodiscard]] result<std::int64_t> acknowledge_queued(store_transaction& tx,
                                                      const message_maker& maker,
                                                      const queue_receipt& done,
                                                      std::string_view response = {});

struct queue_released {
    std::int64_t count = 0;  // Those that were still the owner's.
    std::vector<given_up_job> given_up{};
};
/// Gives back what the owner will not do, or not now; gives up what is spent.
[[nodiscard]] result<queue_released> release_queued(store_transaction& tx,
                                                    const queue_receipt& back,
                                                    const queue_release& how,
                                                    const queue_rules& rules, wall_time now);

// What an operator does. `error_code::not_found` for a job that is not there, and
// `error_code::state_changed` for one that a worker holds.

/// Lets a job be taken at once, as if it had never been tried.
[[nodiscard]] result<> retry_queued(store_transaction& tx, std::int64_t seq, wall_time now);
/// The same for all of a queue that were given up; gives how many.
[[nodiscard]] result<std::int64_t> retry_given_up(store_transaction& tx,
                                                  const std::string& endpoint);
/// Ends a job in place of a worker, with the response if it is a Command.
[[nodiscard]] result<> finish_queued(store_transaction& tx, const message_maker& maker,
                                     std::int64_t seq, std::string_view response, wall_time now);

}  // namespace posthorn
