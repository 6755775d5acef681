#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.hpp"
#include "feature/node_builder.hpp"
#include "store/store.hpp"

namespace posthorn {

/// One of the jobs, and a time of it.
struct noted_job {
    std::int64_t seq = 0;
    wall_time at{};

    bool operator==(const noted_job&) const = default;
};

/// How a queue is.
struct queue_numbers {
    std::string endpoint;
    std::int64_t waiting = 0;  // No worker is at them; some may have been put off.
    std::int64_t taken = 0;    // A worker is at them.
    std::int64_t workers = 0;  // That have taken these.
    std::int64_t given_up = 0;
    /// Those among the waiting that are later than one of their order key that was given up.
    std::int64_t parked = 0;
    std::int64_t attempts_max = 0;              // Of those that wait or are taken.
    std::optional<wall_time> oldest_waiting{};  // When it came.
    std::optional<noted_job> first_given_up{};  // Since when.
    /// One that a worker has for longer than it may, and until when: nothing gets it before.
    std::optional<noted_job> held_too_long{};

    bool operator==(const queue_numbers&) const = default;
};

/// Jobs past this are not counted, so that a look at a long queue stays cheap.
inline constexpr std::int64_t queue_count_max = 1'000'000;

/// Those that are configured, then those in which something is left; at most a hundred.
[[nodiscard]] result<std::vector<queue_numbers>> look_at_queues(
    store_reader& from, const std::vector<std::string>& configured, wall_time now);

/// What a person should see to. Pure.
[[nodiscard]] std::vector<health_worry> worries_of(const std::vector<queue_numbers>& seen,
                                                   std::chrono::milliseconds alarm_after,
                                                   wall_time now);

/// Pure.
void write_metrics(prometheus_text& text, const std::vector<queue_numbers>& seen, wall_time now);

enum class job_state : std::uint8_t { waiting, taken, given_up };
[[nodiscard]] std::string_view to_string(job_state state) noexcept;
[[nodiscard]] std::optional<job_state> parse_job_state(std::string_view text) noexcept;

/// A job that was given up, behind which others of its order key wait.
struct job_blocker {
    std::int64_t seq = 0;
    std::string message_id;
    wall_time given_up_at{};
};

/// A job as an operator sees it.
struct queue_job {
    std::int64_t seq = 0;
    job_state state = job_state::waiting;
    std::string endpoint;
    std::string message_id;
    std::string source;
    std::string message_type;
    std::string correlation_id;
    std::string tenant;
    std::string order_key;
    std::string content_type;
    std::int64_t payload_size = 0;         // In bytes.
    std::optional<std::string> payload{};  // If it was asked for, and has at most 64 MiB.
    wall_time received_at{};
    std::int64_t attempts = 0;
    std::string taken_by;                // The worker that has it, or had it last.
    std::optional<wall_time> free_at{};  // When it may be taken; none if it may be now, or never.
    std::optional<wall_time> given_up_at{};
    std::string error;
    std::optional<job_blocker> waits_behind{};  // Of a job that waits.
};

struct job_filter {
    std::optional<std::string> endpoint{};
    std::optional<job_state> state{};
    std::int64_t after = 0;  // The seq of the last one of the page before.
    std::int64_t limit = 50;
};

/// The oldest first.
[[nodiscard]] result<std::vector<queue_job>> list_jobs(store_reader& from, const job_filter& wanted,
                                                       wall_time now);
/// `error_code::not_found` if there is none.
[[nodiscard]] result<queue_job> find_job(store_reader& from, std::int64_t seq, bool with_payload,
                                         wall_time now);

}  // namespace posthorn
