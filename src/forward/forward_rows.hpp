#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/forward.hpp>

#include "base/result.hpp"
#include "store/store.hpp"

namespace posthorn {

/// What a category holds.
struct forward_total {
    std::string category;
    bool tracked = false;
    std::int64_t waiting = 0;
    std::int64_t parked = 0;
    std::int64_t bytes = 0;
    std::optional<std::int64_t> oldest{};  // When the oldest that waits was stored.
};

/// Work that is held, as an operator sees it.
struct held_work {
    std::int64_t seq = 0;
    std::string id;
    std::string category;
    std::string target;
    bool parked = false;
    std::int64_t retry_count = 0;
    std::int64_t max_retries = 0;
    std::int64_t retry_interval_ms = 0;
    std::int64_t bytes = 0;
    std::int64_t created_at = 0;
    std::optional<std::int64_t> last_attempt_at{};
    std::string last_error{};
    std::string origin_instance{};
    std::string execution_id{};
    std::string source_script{};
    std::string parent_execution_id{};
};

struct held_filter {
    std::optional<bool> parked{};
    std::string category{};  // Any if empty.
    std::int64_t after = 0;  // The seq that a page before ended with.
    std::int64_t limit = 100;
};

[[nodiscard]] result<std::vector<forward_total>> read_forward_totals(store_reader& from);
[[nodiscard]] result<std::vector<held_work>> read_held(store_reader& from,
                                                       const held_filter& which);
[[nodiscard]] result<std::optional<held_work>> find_held(store_reader& from, const uuid& id);
[[nodiscard]] result<std::optional<tracked_operation>> find_tracked(store_reader& from,
                                                                    const uuid& id);

/// The same in a transaction of another kind.
inline constexpr std::string_view held_sql =
    "SELECT seq, substr(id, 1, 200), substr(category, 1, 200), substr(target, 1, 500), status,"
    " retry_count, max_retries, retry_interval_ms, bytes, created_at, last_attempt_at,"
    " substr(last_error, 1, 4000), substr(origin_instance, 1, 4000), substr(execution_id, 1, 4000),"
    " substr(source_script, 1, 4000), substr(parent_execution_id, 1, 4000) FROM forward_messages";
inline constexpr std::string_view tracked_sql =
    "SELECT substr(Kind, 1, 200), substr(TargetSummary, 1, 4000), substr(Status, 1, 200),"
    " RetryCount, substr(LastError, 1, 4000), HttpStatus, substr(CreatedAtUtc, 1, 50),"
    " substr(UpdatedAtUtc, 1, 50), substr(TerminalAtUtc, 1, 50), substr(SourceInstanceId, 1, 4000),"
    " substr(SourceScript, 1, 4000), substr(SourceNode, 1, 4000) FROM OperationTracking WHERE "
    "TrackedOperationId = ?";
inline constexpr std::string_view retry_parked_sql =
    "UPDATE outbox_messages SET status = 'Pending', retry_count = 0, next_retry_at = 0,"
    " last_attempt_at = NULL, expires_at = 253402300799000 WHERE message_id = ? AND destination"
    " LIKE 'forward:%' AND (status = 'Dead' OR status = 'Expired')";
inline constexpr std::string_view discard_parked_sql =
    "UPDATE outbox_messages SET status = 'Resolved', resolution = 'discarded' WHERE message_id = ?"
    " AND destination LIKE 'forward:%' AND (status = 'Dead' OR status = 'Expired')";
[[nodiscard]] held_work read_held_row(const sql_row& row);
[[nodiscard]] tracked_operation read_tracked_row(const uuid& id, const sql_row& row);

/// What an operator does with parked work; false if it is not parked, or no longer.
[[nodiscard]] result<bool> retry_parked(store_transaction& tx, const uuid& id);
[[nodiscard]] result<bool> discard_parked(store_transaction& tx, const uuid& id);

/// Whether there is anything for `purge_forward` to do.
[[nodiscard]] result<bool> may_purge_forward(store_reader& from, std::string_view before);
/// Forgets tracked operations that ended before then, and what is noted of their attempts; at most
/// `limit`. How many there were.
[[nodiscard]] result<std::int64_t> purge_forward(store_transaction& tx, std::string_view before,
                                                 std::int64_t limit);
/// Held work whose message was deleted by hand while it waited: at most `limit`, by their seqs.
[[nodiscard]] result<std::vector<std::int64_t>> find_orphans(store_reader& from,
                                                             std::int64_t limit);
/// Closes those of them that still have no message. How many there were.
[[nodiscard]] result<std::int64_t> drop_orphans(store_transaction& tx,
                                                std::span<const std::int64_t> seqs);

}  // namespace posthorn
