#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/message.hpp>

#include "base/result.hpp"

namespace posthorn {

namespace detail {
class settle_rider;
}

/// A message in the outbox, with what happened to it so far.
struct outbox_row {
    std::int64_t seq = 0;  // The order of commit.
    message body;
    std::int32_t attempts = 0;  // That were charged and failed.
    bool parked = false;        // Waits for an earlier one of its order key.
    std::int64_t claim = 0;     // The epoch it was stored under; zero if it is not claimed.
};

/// What its texts take in memory.
[[nodiscard]] inline std::size_t bytes_of(const outbox_row& row) noexcept {
    const auto& body = row.body;
    return body.payload.size() + body.headers.size() + body.source.size() +
           body.destination.size() + body.endpoint.size() + body.content_type.size() +
           body.correlation_id.size() + body.tenant.size() + body.order_key.size() +
           body.dedupe_key.size();
}

/// What a message was stored as.
struct enqueued {
    std::int64_t seq = 0;
    uuid id{};
    /// Its dedupe key was known: nothing was stored, and these are the first one's.
    bool repeated = false;

    bool operator==(const enqueued&) const = default;
};

/// What the followers of an order key do when an earlier one was given up: wait for a person, or go
/// on without it.
enum class order_policy : std::uint8_t { park, pass };
[[nodiscard]] std::string_view to_string(order_policy policy) noexcept;
[[nodiscard]] std::optional<order_policy> parse_order_policy(std::string_view text) noexcept;

enum class outbox_status : std::uint8_t { pending, sent, dead, expired, resolved };
[[nodiscard]] std::string_view to_string(outbox_status status) noexcept;
[[nodiscard]] std::optional<outbox_status> parse_outbox_status(std::string_view text) noexcept;

/// What becomes of a pending row after an attempt, or without one.
struct settlement {
    std::int64_t seq = 0;
    outbox_status to = outbox_status::sent;  // `pending`: try again at `next_attempt_at`.
    wall_time at{};
    wall_time next_attempt_at{};
    bool charged = false;  // Counts as an attempt, and `error` gets a row in outbox_attempts.
    /// It went out, and whether it took effect there is not known: the first time is kept.
    bool effect_unknown = false;
    std::string error{};            // Why it was not delivered; empty when it was.
    std::string resolution{};       // Why it is resolved.
    bool keeps_last_error = false;  // What the row says already is put after `error`.
    /// It has an order key, so others may wait for it. Of a row that is sent this has to be said;
    /// the store looks for itself at the few that are given up.
    bool followers_wait = false;
    /// Only if an earlier one of its order key is still in the way; `to` is `pending`.
    bool parks = false;
    std::size_t bytes = 0;  // Of the message, as far as it is known. The store does not ask.
    std::shared_ptr<detail::settle_rider> rider{};  // Writes more with it. The store does not ask.
};

/// Why a row cannot be sent at all, as read from the table.
struct bad_row {
    std::int64_t seq = 0;
    std::string reason;
    std::size_t bytes = 0;  // That it has in the table, if they are many.
};

/// Which due messages of a destination are wanted.
struct due_question {
    std::string_view destination;
    wall_time now{};
    std::size_t limit = 0;  // Of rows in the page, of whatever kind.
    /// Of messages in the page. The last one may go past that, so that there is always one.
    std::size_t bytes_max = std::size_t{32} << 20;
    std::span<const std::int64_t> held{};  // Ascending. In memory already: passed over.
    std::string_view tenant{};             // Of this one alone, unless it is empty.
    bool newest_first = false;             // Of each tenant and priority; otherwise the oldest.
};

struct outbox_page {
    std::vector<outbox_row> rows;
    std::vector<bad_row> bad;  // Written by hand or by a plain-SQL producer; to be buried.
    /// Due by their time, but an earlier one of their order key is in the way: to be parked again,
    /// or to expire. Never to be sent.
    std::vector<outbox_row> parked;
    bool more = false;  // There may be others, for which there was no room.
};

/// Within which an order key orders messages.
struct order_scope {
    std::string destination;
    std::string order_key;
    std::string tenant;

    bool operator==(const order_scope&) const = default;
};

/// Parked messages that nothing keeps back any longer, found by a walk over the order keys.
struct unblocked_slice {
    std::vector<std::int64_t> seqs;
    std::optional<order_scope> last{};  // The walk goes on after it; empty at the end.
};

/// A message that was given up and has not been reported yet.
struct final_row {
    outbox_row row;
    outbox_status status = outbox_status::dead;  // Or expired.
    std::string error{};                         // The last one; empty if there was none.
    bool may_have_taken_effect = false;          // It went out, charged or not.
};

/// A place among the pending messages of a destination, for a look that goes on later.
struct pending_place {
    std::string tenant;
    std::int64_t priority = 0;
    wall_time next_attempt_at{};
    std::int64_t seq = 0;

    bool operator==(const pending_place&) const = default;
};

/// Where to look for messages past their time.
struct expired_question {
    std::string_view destination;
    wall_time now{};
    std::optional<pending_place> after{};  // From the top if empty.
    std::size_t rows_max = 10'000;         // To look at, not to find.
};

struct expired_slice {
    std::vector<outbox_row> rows;
    std::optional<pending_place> last{};  // Where the next look goes on; empty at the end.
};

/// A destination to which a person lets nothing be sent for now.
struct paused_destination {
    std::string destination;
    wall_time since{};
    std::string reason{};

    bool operator==(const paused_destination&) const = default;
};

struct outbox_counts {
    std::int64_t pending = 0;
    std::int64_t sent = 0;
    std::int64_t dead = 0;
    std::int64_t expired = 0;
    std::int64_t resolved = 0;
};

/// The outbox inside a write transaction.
class outbox_table {
public:
    virtual ~outbox_table() = default;

    /// Stores a message as pending, unless its dedupe key is known. An id that is there already is
    /// `error_code::duplicate_id`. The message is taken only if it was stored.
    virtual result<enqueued> insert(message&& body) = 0;
    result<enqueued> insert(const message& body) { return insert(message(body)); }

    /// Applies outcomes to rows that are still pending; a row that is not is left as it is. Refused
    /// with `error_code::lease_lost` unless `epoch` is the dispatcher's present one. Gives the
    /// number of rows changed. The next message of an order key is released with the same commit.
    virtual result<std::int64_t> settle(std::span<const settlement> outcomes,
                                        std::int64_t epoch) = 0;

    /// Makes a dead message pending again, with all its retries, due at once, or as soon as its
    /// order key allows. False if it is not dead, whatever the caller saw before.
    virtual result<bool> requeue(const uuid& id) = 0;
    /// Lets nothing be sent to a destination until `resume`; false if it was so already, and then
    /// the reason stays.
    virtual result<bool> pause(const paused_destination& what) = 0;
    /// False if it was not paused.
    virtual result<bool> resume(std::string_view destination) = 0;
    /// Records that the end of a message was told; false if it was before, or if the message lives
    /// again, so that there is nothing to tell.
    virtual result<bool> mark_notified(std::int64_t seq) = 0;

    virtual result<> set_order_policy(order_policy policy) = 0;
    /// Releases those of the rows that are parked though nothing is in their way any longer; gives
    /// their number. `outbox_reader::unblocked` finds them.
    virtual result<std::int64_t> release_unblocked(std::span<const std::int64_t> seqs) = 0;
};

/// The outbox as readers see it: committed rows only.
class outbox_reader {
public:
    virtual ~outbox_reader() = default;

    /// Destinations that have a pending message due at `now`, in order, each once.
    virtual result<std::vector<std::string>> due_destinations(wall_time now) = 0;
    /// Due messages of one destination. Its tenants share the page evenly; of a tenant the highest
    /// priority comes first, then what has been due longest. No message that waits for an earlier
    /// one of its order key is among the `rows`.
    virtual result<outbox_page> due(const due_question& asked) = 0;
    /// When the next pending message falls due, over all destinations; empty if there is none.
    virtual result<std::optional<wall_time>> next_due() = 0;
    virtual result<std::optional<outbox_row>> find(const uuid& id) = 0;
    virtual result<std::optional<outbox_status>> status(const uuid& id) = 0;
    virtual result<outbox_counts> counts() = 0;
    /// Messages of one destination that are past their time though they are due, as they are where
    /// nothing is sent.
    virtual result<expired_slice> expired(const expired_question& asked) = 0;
    /// Destinations to which nothing is to be sent, in the order of their names.
    virtual result<std::vector<paused_destination>> paused() = 0;
    /// Messages after `seq` whose end was not reported yet, in order, at most `limit`. Of a row
    /// that is not a message, as much as can be read; of one that is too large, not its content. A
    /// page of large ones is shorter.
    virtual result<std::vector<final_row>> ended(std::int64_t after_seq, std::size_t limit) = 0;
    virtual result<order_policy> present_order_policy() = 0;
    /// Looks at the next `keys_max` order keys, after the last one of the slice before.
    virtual result<unblocked_slice> unblocked(const std::optional<order_scope>& after,
                                              std::size_t keys_max) = 0;
};

}  // namespace posthorn
