#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <posthorn/detail/time.hpp>
#include <posthorn/uuid.hpp>

namespace posthorn {

class transaction;

/// A value that was measured, of which not every one is worth keeping while its target is out.
struct forward_sample {
    std::string key;  // What was measured; 1 to 255 bytes.
    double value = 0;
};

/// What may be said of work that a site holds until its target takes it.
struct forward_options {
    std::optional<uuid> id{};                   // A new one unless given.
    std::optional<std::int32_t> max_retries{};  // 0 is for ever; the category's unless given.
    std::optional<std::chrono::milliseconds> retry_interval{};  // Likewise.
    /// Is tried before the call returns, and this attempt is not one of the retries. Without it the
    /// work is only stored.
    bool attempt_now = true;
    std::string origin_instance{};  // Who asked for it; kept when that is gone.
    std::string execution_id{};
    std::string source_script{};
    std::string parent_execution_id{};
    std::optional<forward_sample> sample{};  // What its payload says, for a category that thins.
};

/// What became of a call to `node::forward`.
struct forwarded {
    uuid id{};
    bool accepted = false;  // It was delivered, or is stored and will be.
    bool buffered = false;  // It is stored, and waits for its target.
    std::string error{};    // Why it was not accepted: the handler refused it for good.
};

/// What the handler of a category is given. Its id is its idempotency key: after a crash it comes
/// again.
struct forward_message {
    uuid id;
    std::string category;
    std::string target;
    std::string payload;
    std::int32_t retry_count = 0;  // Attempts that were charged to it so far.
    wall_time created_at{};
    std::string origin_instance{};
    std::string execution_id{};
    std::string source_script{};
    std::string parent_execution_id{};
};

/// What holds for all work of a category that does not say otherwise.
struct forward_category {
    bool tracked = true;                        // A row of OperationTracking for each.
    std::optional<std::int32_t> max_retries{};  // `forward.max_retries` unless given.
    std::optional<std::chrono::milliseconds> retry_interval{};     // `forward.retry_interval`.
    std::chrono::milliseconds timeout = std::chrono::seconds{30};  // Of one attempt.
    // How much of it may be held, parked work included; 0 is no limit. `forward.when_full` says
    // what is done then. What is older than `max_age` is dropped.
    std::int64_t max_messages = 0;
    std::int64_t max_bytes = 0;
    std::chrono::milliseconds max_age{};
    // While a target is out, a sample within `deadband` of the last one of its key that was kept is
    // closed: by as much, or by as many percent of that one. 0 keeps each.
    double deadband = 0;
    bool deadband_is_percent = false;
    bool keep_last = false;  // While a target is out, of each key only the last sample is kept.
};

/// To be thrown by a handler: its target does not answer at all. The attempt is not charged, and the
/// target is left alone until it answers.
class unreachable : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// To be thrown by a handler: its target asks for time. The attempt is not charged.
class throttled : public std::runtime_error {
public:
    explicit throttled(std::chrono::milliseconds wait)
        : std::runtime_error("the target asks for time"), wait_(wait) {}

    [[nodiscard]] std::chrono::milliseconds wait() const noexcept { return wait_; }

private:
    std::chrono::milliseconds wait_;
};

/// A row of OperationTracking. The site's own word, whether or not the centre can be reached.
struct tracked_operation {
    uuid id;
    std::string kind;  // The category.
    std::string target;
    std::string status;  // Submitted, Retrying, Delivered, Parked, Failed or Discarded.
    std::int64_t retry_count = 0;
    std::string last_error{};
    std::optional<std::int64_t> http_status{};
    std::string created_at{};  // ISO 8601, UTC.
    std::string updated_at{};
    std::string ended_at{};  // Empty while it may still change.
    std::string source_instance{};
    std::string source_script{};
    std::string source_node{};
};

/// What came of one attempt of tracked work.
struct forward_attempt {
    uuid id;
    std::string channel;  // ApiOutbound, or DbOutbound for CachedDbWrite.
    std::string category;
    std::string target;
    std::string source_site;
    std::string outcome;  // Delivered, TransientFailure, PermanentFailure or ParkedMaxRetries.
    std::int32_t retry_count = 0;
    std::string last_error{};
    std::optional<std::int64_t> http_status{};
    wall_time created_at{};   // Of the work.
    wall_time occurred_at{};  // When the attempt began.
    std::chrono::milliseconds duration{};
    std::string source_instance{};
    std::string execution_id{};
    std::string source_script{};
    std::string parent_execution_id{};
};

/// Something that happened to work that is held, for a log of the site.
struct forward_activity {
    // Queued, Delivered, Retried, Parked, Retry, Discard, Dropped, Thinned or Late.
    std::string what;
    uuid id;
    std::string category{};  // Empty where an operator did it.
    std::string target{};
    std::string error{};
};

namespace detail {

/// `transaction::forward`.
uuid forward_in(transaction& in, std::string_view category, std::string_view target,
                std::string_view payload, const forward_options& options);

}  // namespace detail

}  // namespace posthorn
