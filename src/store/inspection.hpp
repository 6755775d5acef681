#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/time.hpp>
#include <posthorn/uuid.hpp>

#include "base/result.hpp"
#include "store/outbox_table.hpp"

namespace posthorn {

inline constexpr std::size_t list_rows_max = 1000;

/// A number that was not counted past some limit.
struct bounded_count {
    std::int64_t value = 0;
    bool at_least = false;  // There are more than `value`.

    bool operator==(const bounded_count&) const = default;
};

/// A count that was stopped one past its limit.
[[nodiscard]] bounded_count up_to(std::int64_t counted, std::int64_t at_most) noexcept;

/// Which messages of the outbox to list, newest first; empty fields ask for nothing.
struct message_filter {
    std::optional<outbox_status> status{};
    std::string_view destination{};
    std::string_view endpoint{};
    std::string_view correlation_id{};
    std::string_view causation_id{};
    std::string_view tenant{};
    std::string_view order_key{};
    std::string_view error{};          // Is part of the last error, whatever the case of letters.
    std::optional<wall_time> since{};  // Created then or later.
    std::optional<wall_time> until{};  // Created before.
    std::int64_t before_seq = 0;       // What the page before gave as `next`; zero: from the top.
    std::size_t limit = 100;           // At most `list_rows_max`.
};

/// What a person may know of a message without reading it. Columns are given as they stand in the
/// table: a row that is not a message, which a producer wrote by hand, is to be seen too.
struct message_summary {
    std::int64_t seq = 0;
    std::string id;
    std::string type;
    std::string destination;
    std::string endpoint;
    outbox_status status = outbox_status::pending;
    std::int32_t attempts = 0;  // That were charged and failed, since the last requeueing.
    std::int32_t max_retries = 0;
    wall_time created_at{};
    wall_time expires_at{};
    wall_time next_attempt_at{};
    std::optional<wall_time> deliver_at{};
    std::optional<wall_time> last_attempt_at{};
    std::optional<wall_time> sent_at{};
    std::string last_error;
    std::string resolution;
    std::string correlation_id;
    std::string tenant;
    std::string order_key;
    std::string causation_id;  // The message whose handler sent it.

    /// It is held back behind an earlier one of its order key: not due before it expires. A retry
    /// that would come past the expiry looks the same.
    [[nodiscard]] bool is_parked() const {
        return status == outbox_status::pending && !order_key.empty() &&
               next_attempt_at == expires_at;
    }

    bool operator==(const message_summary&) const = default;
};

/// One page. It may hold fewer rows than asked for, even none, and yet not be the last: a search
/// looks at a limited number of rows.
struct message_list {
    std::vector<message_summary> rows;
    std::int64_t next = 0;  // For `before_seq` of the next page; zero if this is the last.
};

struct attempt_entry {
    std::int64_t number = 0;  // Over all rounds.
    wall_time at{};
    std::string error;

    bool operator==(const attempt_entry&) const = default;
};

/// A message that is in the way of others of its order key.
struct order_blocker {
    std::string id;
    outbox_status status = outbox_status::pending;  // Or dead, or expired.
    std::optional<wall_time> since{};               // When it was given up.

    bool operator==(const order_blocker&) const = default;
};

struct message_detail {
    message_summary summary;
    /// What it waits behind: one that was given up, if there is one, since that needs a person.
    std::optional<order_blocker> waits_behind{};
    std::vector<attempt_entry>
        attempts;  // Those that failed, oldest first; at most the last 1,000.
    std::int64_t payload_bytes = 0;
    std::string content_type;
    std::string payload;  // Empty unless asked for, as are the headers.
    std::string headers;
};

/// What waits for one destination.
struct destination_backlog {
    std::string destination;
    bounded_count pending;
    /// Since when the oldest could have gone out: its creation, or its deliver-at. Empty if all of
    /// them are for later.
    std::optional<wall_time> oldest{};
    bounded_count undeliverable;  // Have no route or no handler; among the rows looked at.
    std::string undeliverable_error;
};

struct backlog_limits {
    std::size_t destinations_max = 100;
    std::int64_t count_max = 1'000'000;  // Rows counted of one destination, in an index alone.
    std::int64_t rows_max = 1'000;       // Rows looked at of one destination.
};

struct backlog_report {
    std::vector<destination_backlog> destinations;  // In order of their names.
    bool more = false;                              // Some were left out.
};

/// An order key in which messages wait behind one that was given up, until a person decides.
struct blocked_key {
    order_scope key;
    order_blocker by;  // The first that was given up.
    bounded_count waiting;

    bool operator==(const blocked_key&) const = default;
};

struct blocked_limits {
    std::int64_t rows_max = 5'000;    // Messages looked at, of those that were given up.
    std::int64_t keys_max = 100;      // Listed.
    std::int64_t count_max = 10'000;  // Messages counted of one key.
};

struct blocked_report {
    std::vector<blocked_key> keys;  // Those blocked by the oldest message first.
    bool more = false;              // There are others, or there may be.
};

/// Which of the messages that were taken in; empty fields ask for nothing.
struct inbox_filter {
    std::string_view source{};
    std::string_view endpoint{};
    std::optional<bool> processed{};   // Or an external handler has a claim on it.
    std::optional<wall_time> since{};  // Took effect then or later; what is claimed has not yet.
    std::optional<wall_time> until{};  // Took effect before.
    std::int64_t before_seq = 0;
    std::size_t limit = 100;
};

/// What a person may know of a message that was taken in.
struct inbox_summary {
    std::int64_t seq = 0;
    std::string source;
    std::string id;
    std::string endpoint;
    std::optional<wall_time> processed_at{};  // Empty while an external handler has a claim on it.
    std::optional<wall_time> claimed_until{};
    wall_time expires_at{};

    bool operator==(const inbox_summary&) const = default;
};

/// Whether it is one of those, wherever the page begins. Pure.
[[nodiscard]] bool fits(const inbox_summary& one, const inbox_filter& wanted) noexcept;

/// One page; it may hold fewer rows than asked for, even none, and yet not be the last.
struct inbox_list {
    std::vector<inbox_summary> rows;
    std::int64_t next = 0;
};

/// The outbox and the inbox as a person looks at them. Every question reads a limited part of the
/// tables, however large they are, and finds it through an index.
class store_inspector {
public:
    virtual ~store_inspector() = default;

    virtual result<bounded_count> count(outbox_status status, std::int64_t at_most) = 0;
    /// Dead ones but for deliveries to subscribers, of which some always are: strangers' endpoints.
    virtual result<bounded_count> count_dead_messages(std::int64_t at_most) = 0;
    virtual result<backlog_report> backlog(wall_time now, const backlog_limits& limits) = 0;
    /// Where messages wait behind one that was given up. None where the policy lets them pass.
    virtual result<blocked_report> blocked(const blocked_limits& limits) = 0;
    /// The latest time that the outbox and the log of changes know of; empty where they are.
    virtual result<std::optional<wall_time>> newest() = 0;
    virtual result<message_list> list(const message_filter& wanted) = 0;
    virtual result<std::optional<message_detail>> show(const uuid& id, bool with_payload) = 0;

    /// Past `at_most`, an estimate from above in place of a count.
    virtual result<bounded_count> inbox_size(std::int64_t at_most) = 0;
    virtual result<inbox_list> list(const inbox_filter& wanted) = 0;
};

/// Whether a last error says that nothing but a change of the configuration will help: no route
/// or no secret here, or no handler there.
[[nodiscard]] bool is_undeliverable_error(std::string_view text) noexcept;

}  // namespace posthorn
