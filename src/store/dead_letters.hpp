#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "store/inspection.hpp"

namespace posthorn {

inline constexpr std::size_t causes_max = 10'000;  // Then errors count as `other`.
/// Changed in one unit. What SQLite keeps to take a unit back is walked through at the end of every
/// statement, so that five times the rows take more than ten times as long.
inline constexpr std::size_t dead_slice_rows = 100;
inline constexpr std::size_t dead_groups_max = 1'000;  // On one page.

/// Which of the messages that were given up; empty fields ask for nothing.
struct dead_filter {
    outbox_status status = outbox_status::dead;  // Or expired, or resolved.
    std::string destination{};
    std::string endpoint{};
    std::string correlation_id{};
    std::string causation_id{};
    std::string tenant{};
    std::string order_key{};
    std::string error{};               // Is part of the last error, whatever the case of letters.
    std::int64_t cause = 0;            // The number of a group.
    std::optional<wall_time> since{};  // Given up then or later.
    std::optional<wall_time> until{};  // Given up before.
    std::optional<wall_time> past{};   // Whose time to live is over by then.
};

/// A message that was given up, as a list shows it.
struct dead_letter_row {
    message_summary summary;
    /// Changes with whatever an operator or the dispatcher does to the message.
    std::string state;
    std::optional<wall_time> closed_at{};  // When it was given up.
    std::int64_t cause = 0;                // Of dead ones; zero while it has none.
    std::string cause_text{};
};

struct dead_page {
    std::vector<dead_letter_row> rows;  // Newest first.
    std::int64_t next = 0;  // For `before_seq` of the next page; zero if this is the last.
};

/// Messages that died of the same thing.
struct dead_group {
    std::int64_t cause = 0;
    std::string destination;
    std::string endpoint;
    std::string text;
    std::int64_t count = 0;
    wall_time first_at{};
    wall_time last_at{};
    std::string example;  // The id of the newest.
};

struct dead_groups {
    std::vector<dead_group> groups;  // Largest first.
    bool more = false;               // Smaller ones were left out.
    std::int64_t ungrouped = 0;      // Dead ones not looked at yet; counted to 1,000.
};

/// A part of the messages that fit a filter, in the order of commit.
struct dead_slice {
    std::vector<std::int64_t> seqs;
    std::int64_t next = 0;     // For `after_seq` of the next slice; zero if this is the last.
    std::int64_t highest = 0;  // The newest message of that status, to tell how far one is.
};

/// The messages that were given up, as readers see them. Each question looks at a limited number of
/// rows, so a page may hold fewer than asked for, even none, and yet not be the last.
class dead_letter_reader {
public:
    virtual ~dead_letter_reader() = default;

    virtual result<dead_page> list(const dead_filter& wanted, std::int64_t before_seq,
                                   std::size_t limit) = 0;
    /// Of one destination if it is not empty.
    virtual result<dead_groups> groups(std::string_view destination, std::size_t limit) = 0;
    virtual result<dead_slice> find(const dead_filter& wanted, std::int64_t after_seq,
                                    std::size_t limit) = 0;
    /// Any message, whatever its state is.
    virtual result<std::optional<dead_letter_row>> row(const uuid& id) = 0;
};

/// What an operator asked for.
enum class dead_action : std::uint8_t {
    requeue,
    resolve,
    remove,
    reopen,  // Of one that was resolved: dead again, as it was. What it let go stays so.
};

struct dead_change {
    dead_action what = dead_action::requeue;
    std::string resolution{};  // Why it is resolved.
    /// Requeue under a new id, with a new time to live: the only way once a message has expired. If
    /// it was received after all, it takes effect twice.
    bool new_id = false;
    /// How long the new id has to live; as long as the old one had, if zero. Never without a new id:
    /// the receiver of the old one may forget it when it expires.
    std::chrono::milliseconds expires_in{};
    /// The state that the operator saw; whatever it is, if empty.
    std::string if_state{};
};

/// What becomes of a message before it is requeued; empty fields stay as they are.
struct message_edit {
    std::optional<std::string> destination{};
    std::optional<std::string> endpoint{};
    std::optional<std::string> payload{};
    std::optional<std::string> headers{};
    std::optional<std::string> content_type{};
    std::optional<std::int32_t> max_retries{};

    [[nodiscard]] bool empty() const noexcept {
        return !destination && !endpoint && !payload && !headers && !content_type && !max_retries;
    }
};

struct dead_changed {
    std::string id;  // A new one, if that was asked for.
    outbox_status status = outbox_status::pending;
    std::string state{};  // Empty if it is gone.
    bool removed = false;
};

struct dead_many {
    std::int64_t changed = 0;
    std::int64_t expired = 0;  // Could not be requeued for that.
};

/// The messages that were given up, inside a write transaction. Whatever is changed here was Dead
/// or Expired until then, or is Resolved and deleted or reopened, or nothing is changed and the error says what it is now:
/// `error_code::not_found`, `state_changed`, `message_expired` (only a new id helps).
class dead_letter_table {
public:
    virtual ~dead_letter_table() = default;

    virtual result<dead_changed> change(const uuid& id, const dead_change& how, wall_time now) = 0;
    /// The id stays. Refused as a send is if the message could not be carried so.
    virtual result<dead_changed> edit(const uuid& id, const message_edit& how,
                                      std::string_view if_state, wall_time now) = 0;
    /// Those of the rows that still fit the filter, in the order given.
    virtual result<dead_many> change_many(std::span<const std::int64_t> seqs,
                                          const dead_filter& still, const dead_change& how,
                                          wall_time now) = 0;
    /// Dead ones past their time become Expired; gives their number.
    virtual result<std::int64_t> expire(std::span<const std::int64_t> seqs, wall_time now) = 0;
    /// Finds the causes of dead ones that have none: written by hand, or by an earlier version.
    virtual result<std::int64_t> group_some(std::size_t limit) = 0;
};

}  // namespace posthorn
