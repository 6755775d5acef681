#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <posthorn/error.hpp>
#include <posthorn/transaction.hpp>

#include "forward/forward_terms.hpp"
#include "store/swallowed.hpp"

/// What programs do with store-and-forward in their transactions.
namespace posthorn::detail {
namespace {

// The document's work does not expire by itself.
constexpr std::chrono::milliseconds as_long_as_it_takes = std::chrono::years{1000};

std::int32_t checked_retries(const forward_options& options, std::int64_t fallback) {
    // Any program may have written the category's own.
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() - 1;  // Of a message.
    const auto asked = std::min(options.max_retries ? *options.max_retries : fallback, most);
    if (asked < 0)
        throw error(error_code::invalid_argument, "max_retries is negative; 0 is for ever");
    return static_cast<std::int32_t>(asked);
}

void check_sample(const forward_sample& one) {
    constexpr std::size_t key_bytes_max = 255;
    if (one.key.empty() || one.key.size() > key_bytes_max)
        throw error(error_code::invalid_argument,
                    fmt::format("the key of a sample has 1 to {} bytes; this one has {}",
                                key_bytes_max, one.key.size()));
    if (!std::isfinite(one.value))
        throw error(error_code::invalid_argument, "the value of a sample is a finite number");
}

// Plain SQL is held to the same by a trigger.
void require_room(transaction& in, std::string_view category, std::int64_t bytes) {
    const auto full = in.query_one<std::string, std::int64_t, std::int64_t>(
        "SELECT category, messages, bytes FROM (SELECT cap.category, max_messages, max_bytes,"
        " CAST(coalesce(sum(waiting + parked), 0) AS bigint) AS messages,"
        " CAST(coalesce(sum(bytes), 0) AS bigint) AS bytes FROM forward_caps AS cap"
        " LEFT JOIN forward_totals AS held ON cap.category IN ('', held.category)"
        " WHERE cap.category IN ('', ?) GROUP BY cap.category, max_messages, max_bytes) AS held"
        " WHERE (max_messages > 0 AND messages + 1 > max_messages)"
        " OR (max_bytes > 0 AND bytes + ? > max_bytes) LIMIT 1",
        category, bytes);
    if (!full) return;
    const auto& [of, messages, held] = *full;
    throw error(error_code::buffer_full,
                fmt::format("{} operations with {} bytes are held{}{}, as much as [forward] allows;"
                            " nothing was stored",
                            messages, held, of.empty() ? "" : " in category ", of));
}

}  // namespace

uuid forward_in(transaction& in, std::string_view category, std::string_view target,
                std::string_view payload, const forward_options& options) {
    if (target.empty() || target.size() > forward_target_max)
        throw error(error_code::invalid_argument,
                    fmt::format("a target has 1 to {} bytes; this one has {}", forward_target_max,
                                target.size()));
    const auto found = in.query_one<std::int64_t, std::int64_t, std::int64_t, std::int64_t>(
        "SELECT tracked, max_retries, retry_interval_ms, CASE WHEN EXISTS (SELECT 1 FROM"
        " forward_caps) THEN 1 ELSE 0 END FROM forward_categories WHERE name = ?",
        category);
    if (!found)
        throw error(error_code::invalid_argument,
                    fmt::format("there is no category '{}'; register a handler for it before the "
                                "node starts",
                                category));
    const auto& [tracked, retries, interval_ms, capped] = *found;
    if (capped != 0) require_room(in, category, static_cast<std::int64_t>(payload.size()));
    const auto max_retries = checked_retries(options, retries);
    const auto interval = options.retry_interval.value_or(std::chrono::milliseconds(interval_ms));
    if (interval.count() < 0)
        throw error(error_code::invalid_argument, "retry_interval is negative");
    if (options.sample) check_sample(*options.sample);
    const auto id = in.send(
        forward_destination({category, target}), category, payload,
        {.id = options.id,
         .headers = write_forward_terms({.interval = interval,
                                         .attempts_first = options.attempt_now,
                                         .origin_instance = options.origin_instance,
                                         .execution_id = options.execution_id,
                                         .source_script = options.source_script,
                                         .parent_execution_id = options.parent_execution_id}),
         .max_retries = outbox_retries(max_retries, options.attempt_now),
         .expires_in = as_long_as_it_takes});
    const auto held = in.execute(
        "INSERT INTO forward_messages (seq, id, category, target, tracked, immediate, bytes,"
        " max_retries, retry_interval_ms, created_at, origin_instance, execution_id,"
        " source_script, parent_execution_id)"
        " SELECT seq, message_id, endpoint, ?, ?, ?, ?, ?, ?, created_at, nullif(?, ''),"
        " nullif(?, ''), nullif(?, ''), nullif(?, '') FROM outbox_messages WHERE message_id = ?"
        " ON CONFLICT DO NOTHING",
        target, tracked, options.attempt_now ? 1 : 0, static_cast<std::int64_t>(payload.size()),
        std::int64_t{max_retries}, interval.count(), options.origin_instance, options.execution_id,
        options.source_script, options.parent_execution_id, id.to_string());
    if (held == 0 && !in.query_value<std::int64_t>("SELECT 1 FROM forward_messages WHERE id = ?",
                                                   id.to_string()))
        throw swallowed("forward_messages").error();
    if (options.sample)
        in.execute(
            "INSERT INTO forward_samples (seq, category, target, sample_key, value)"
            " SELECT seq, ?, ?, ?, ? FROM outbox_messages WHERE message_id = ?"
            " ON CONFLICT DO NOTHING",
            category, target, options.sample->key, fmt::format("{}", options.sample->value),
            id.to_string());
    return id;
}

}  // namespace posthorn::detail
