#include "queue/queue_view.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/text/counted.hpp"
#include "base/text/utf8.hpp"
#include "queue/queue.hpp"
#include "store/rows/stored_time.hpp"

namespace posthorn {
namespace {

constexpr std::size_t queues_max = 100;
constexpr std::size_t label_characters_max = 128;
constexpr std::chrono::minutes clock_step_max{5};  // Smaller steps of a clock are no news.
constexpr std::int64_t payload_shown_max = std::int64_t{64} << 20U;

// One jump of the index for each name, however long the queues are.
constexpr std::string_view names_sql =
    "WITH RECURSIVE names(name) AS (SELECT min(endpoint) FROM posthorn_queue"
    " UNION ALL SELECT (SELECT min(endpoint) FROM posthorn_queue WHERE endpoint > names.name)"
    " FROM names WHERE names.name IS NOT NULL)"
    " SELECT name FROM names WHERE name IS NOT NULL LIMIT 100";

constexpr std::string_view depth_sql =
    "SELECT count(*) FROM (SELECT 1 FROM posthorn_queue WHERE endpoint = ? LIMIT ?) AS counted";

constexpr std::string_view given_up_sql =
    "SELECT count(*) FROM (SELECT 1 FROM posthorn_queue WHERE endpoint = ? AND given_up_at IS NOT"
    " NULL LIMIT ?) AS counted";

constexpr std::string_view first_given_up_sql =
    "SELECT seq, given_up_at FROM posthorn_queue WHERE endpoint = ? AND given_up_at IS NOT NULL"
    " ORDER BY seq LIMIT 1";

// ?2 is when the longest time of a worker ends that takes one now.
constexpr std::string_view held_too_long_sql =
    "SELECT seq, taken_until FROM posthorn_queue WHERE attempts > 0 AND given_up_at IS NULL"
    " AND taken_until > ?2 AND endpoint = ?1 AND taken_by IS NOT NULL"
    " ORDER BY taken_until, seq LIMIT 1";

// Among those that were tried, which are few: by the index of these.
constexpr std::string_view tried_sql =
    "SELECT coalesce(sum(CASE WHEN taken_by IS NOT NULL AND taken_until > ?2 THEN 1 ELSE 0 END), "
    "0),"
    " coalesce(max(attempts), 0),"
    " count(DISTINCT CASE WHEN taken_until > ?2 THEN taken_by END) FROM posthorn_queue"
    " WHERE attempts > 0 AND given_up_at IS NULL AND endpoint = ?1";

// From those that were given up, which are few, to those behind them: ?1 the queue, ?2 how many.
constexpr std::string_view parked_sql =
    "SELECT count(*) FROM (SELECT 1 FROM"
    " (SELECT order_key, min(seq) AS from_seq FROM"
    "  (SELECT order_key, seq FROM posthorn_queue WHERE endpoint = ?1 AND given_up_at IS NOT NULL"
    "   ORDER BY seq LIMIT 1000) AS given_up"
    "  WHERE order_key IS NOT NULL GROUP BY order_key) AS blocked"
    " JOIN posthorn_queue AS behind ON behind.endpoint = ?1"
    "  AND behind.order_key = blocked.order_key AND behind.seq > blocked.from_seq"
    "  AND behind.given_up_at IS NULL LIMIT ?2) AS counted";

constexpr std::string_view oldest_sql =
    "SELECT received_at FROM posthorn_queue WHERE endpoint = ?1 AND given_up_at IS NULL"
    " AND (taken_by IS NULL OR taken_until <= ?2) ORDER BY seq LIMIT 1";

// Jobs of a key are done in their order, so what holds them up is among the first.
constexpr std::string_view blocker_sql =
    "SELECT seq, message_id, given_up_at FROM (SELECT seq, message_id, given_up_at FROM"
    " posthorn_queue WHERE endpoint = ?1 AND order_key = ?2 AND seq < ?3 ORDER BY seq LIMIT 100)"
    " AS ahead WHERE given_up_at IS NOT NULL ORDER BY seq LIMIT 1";

constexpr std::string_view job_columns =
    "SELECT seq, substr(endpoint, 1, 4096), substr(message_id, 1, 4096), substr(source, 1, 4096),"
    " substr(message_type, 1, 4096), substr(correlation_id, 1, 4096), substr(tenant, 1, 4096),"
    " substr(order_key, 1, 4096), substr(content_type, 1, 4096), octet_length(payload),"
    " received_at, attempts, substr(taken_by, 1, 4096), taken_until, given_up_at,"
    " substr(error, 1, 8192)";

std::int64_t count_of(wall_time time) { return time.time_since_epoch().count(); }

std::int64_t seconds_since(wall_time then, wall_time now) {
    return std::max<std::int64_t>(0, std::chrono::floor<std::chrono::seconds>(now - then).count());
}

noted_job noted(const sql_row& row) {
    return {.seq = row.integer(0), .at = bounded_from_ms(row.integer(1))};
}

result<> count(store_reader& from, queue_numbers& into, wall_time now) {
    const std::string_view name = into.endpoint;
    const std::array<sql_param, 2> up_to{name, queue_count_max};
    const std::array<sql_param, 2> at{name, count_of(now)};
    std::int64_t depth = 0;
    POSTHORN_TRY(from.query(depth_sql, up_to, [&](const sql_row& row) { depth = row.integer(0); }));
    if (depth == 0) return {};
    POSTHORN_TRY(from.query(given_up_sql, up_to,
                            [&](const sql_row& row) { into.given_up = row.integer(0); }));
    POSTHORN_TRY(from.query(tried_sql, at, [&](const sql_row& row) {
        into.taken = row.integer(0);
        into.attempts_max = row.integer(1);
        into.workers = row.integer(2);
    }));
    if (into.given_up > 0) {
        POSTHORN_TRY(from.query(parked_sql, up_to,
                                [&](const sql_row& row) { into.parked = row.integer(0); }));
        POSTHORN_TRY(from.query(first_given_up_sql, std::span(up_to).first(1),
                                [&](const sql_row& row) { into.first_given_up = noted(row); }));
    }
    const std::array<sql_param, 2> at_most{name, count_of(now + longest_hold)};
    POSTHORN_TRY(from.query(held_too_long_sql, at_most,
                            [&](const sql_row& row) { into.held_too_long = noted(row); }));
    POSTHORN_TRY(from.query(oldest_sql, at, [&](const sql_row& row) {
        // A program may have written any number; one before 1970 would make an age that wraps.
        into.oldest_waiting = bounded_from_ms(std::max(row.integer(0), std::int64_t{0}));
    }));
    into.waiting = std::max<std::int64_t>(0, depth - into.taken - into.given_up);
    return {};
}

std::string jobs_wait(const queue_numbers& of) {
    return of.waiting == 1 ? "a job waits" : fmt::format("{} jobs wait", of.waiting);
}

std::string behind_given_up(const queue_numbers& of) {
    return fmt::format("{} behind one of {} order key that was given up",
                       counted(of.parked, "job waits", "jobs wait"),
                       of.parked == 1 ? "its" : "their");
}

std::string why_given_up(const queue_numbers& of, std::string_view name) {
    return fmt::format(
        "{} of the queue '{}' {} given up and wait{} for a person{}{}; see 'posthorn "
        "queue list --state given-up'",
        of.given_up == 1 ? "a job" : fmt::format("{} jobs", of.given_up), name,
        of.given_up == 1 ? "was" : "were", of.given_up == 1 ? "s" : "",
        of.first_given_up ? fmt::format(", {}job {} since {}", of.given_up == 1 ? "" : "the first ",
                                        of.first_given_up->seq, to_iso8601(of.first_given_up->at))
                          : "",
        of.parked > 0 ? ", and " + behind_given_up(of) : "");
}

std::string what_to_see(const queue_numbers& of) {
    return of.parked > 0 ? behind_given_up(of) + "; see whether the workers of the others run"
                         : std::string("see whether its workers run");
}

job_state state_of(const queue_job& one, wall_time taken_until, wall_time now) {
    if (one.given_up_at) return job_state::given_up;
    return !one.taken_by.empty() && taken_until > now ? job_state::taken : job_state::waiting;
}

queue_job read_job(const sql_row& row, wall_time now) {
    const auto text = [&](std::size_t at) { return clean_utf8(row.text(at), 2000); };
    queue_job one{.seq = row.integer(0),
                  .endpoint = text(1),
                  .message_id = text(2),
                  .source = text(3),
                  .message_type = text(4),
                  .correlation_id = text(5),
                  .tenant = text(6),
                  .order_key = text(7),
                  .content_type = text(8),
                  .payload_size = row.integer(9),
                  .received_at = bounded_from_ms(row.integer(10)),
                  .attempts = row.integer(11),
                  .taken_by = text(12),
                  .error = text(15)};
    if (!row.is_null(14)) one.given_up_at = bounded_from_ms(row.integer(14));
    const auto until = bounded_from_ms(row.integer(13));
    one.state = state_of(one, until, now);
    if (one.state != job_state::given_up && until > now) one.free_at = until;
    return one;
}

/// Asks for each key once.
class blockers {
public:
    explicit blockers(store_reader& from) : from_(from) {}

    result<> find(queue_job& one) {
        if (one.state != job_state::waiting || one.order_key.empty()) return {};
        // What is in the way of one is in the way of those after it; the first may have none yet.
        auto& known = seen_[{one.endpoint, one.order_key}];
        if (!known) {
            const std::array<sql_param, 3> with{std::string_view(one.endpoint),
                                                std::string_view(one.order_key), one.seq};
            POSTHORN_TRY(from_.query(blocker_sql, with, [&](const sql_row& row) {
                known = {.seq = row.integer(0),
                         .message_id = clean_utf8(row.text(1), 2000),
                         .given_up_at = bounded_from_ms(row.integer(2))};
            }));
        }
        one.waits_behind = known;
        return {};
    }

private:
    store_reader& from_;
    std::map<std::pair<std::string, std::string>, std::optional<job_blocker>> seen_;
};

/// `now` is the name of the parameter that holds the time.
std::string condition_of(job_state state, std::string_view now) {
    switch (state) {
        case job_state::waiting:
            return fmt::format(
                " AND given_up_at IS NULL AND (taken_by IS NULL OR taken_until <= {})", now);
        case job_state::taken:
            return fmt::format(
                " AND attempts > 0 AND given_up_at IS NULL AND taken_by IS NOT NULL"
                " AND taken_until > {}",
                now);
        case job_state::given_up: break;
    }
    return fmt::format(" AND given_up_at IS NOT NULL AND given_up_at <= {}", now);
}

}  // namespace

std::string_view to_string(job_state state) noexcept {
    switch (state) {
        case job_state::waiting: return "waiting";
        case job_state::taken: return "taken";
        case job_state::given_up: return "given-up";
    }
    POSTHORN_ASSERT(false);
    return {};
}

std::optional<job_state> parse_job_state(std::string_view text) noexcept {
    for (const auto each : {job_state::waiting, job_state::taken, job_state::given_up})
        if (to_string(each) == text) return each;
    return std::nullopt;
}

result<std::vector<queue_numbers>> look_at_queues(store_reader& from,
                                                  const std::vector<std::string>& configured,
                                                  wall_time now) {
    auto names = configured;
    std::ranges::sort(names);
    // An endpoint may have one queue for requests and one for responses: the table has one for both.
    names.erase(std::ranges::unique(names).begin(), names.end());
    POSTHORN_TRY(from.query(names_sql, {}, [&](const sql_row& row) {
        if (std::ranges::find(names, row.text(0)) == names.end()) names.emplace_back(row.text(0));
    }));
    names.resize(std::min(names.size(), queues_max));
    std::vector<queue_numbers> all;
    for (auto& name : names) {
        all.push_back({.endpoint = std::move(name)});
        POSTHORN_TRY(count(from, all.back(), now));
    }
    return all;
}

std::vector<health_worry> worries_of(const std::vector<queue_numbers>& seen,
                                     std::chrono::milliseconds alarm_after, wall_time now) {
    std::vector<health_worry> all;
    for (const auto& one : seen) {
        const auto name = clean_utf8(one.endpoint, label_characters_max);
        if (one.given_up > 0) all.push_back({health_level::red, why_given_up(one, name)});
        if (one.held_too_long)
            all.push_back(
                {health_level::yellow,
                 fmt::format(
                     "job {} of the queue '{}' is held by its worker until {}, which is "
                     "longer than a worker may have one: was a clock wrong? 'posthorn queue "
                     "retry {}' lets another worker take it",
                     one.held_too_long->seq, name, to_iso8601(one.held_too_long->at),
                     one.held_too_long->seq)});
        if (!one.oldest_waiting) continue;
        if (*one.oldest_waiting > now + clock_step_max)
            all.push_back(
                {health_level::yellow,
                 fmt::format("{} in the queue '{}', the oldest of which came at {} by its "
                             "row, which is still to come: was a clock wrong? How long it "
                             "has waited cannot be told; see whether its workers run",
                             jobs_wait(one), name, to_iso8601(*one.oldest_waiting))});
        else if (now - *one.oldest_waiting > alarm_after)
            all.push_back(
                {health_level::yellow,
                 fmt::format("{} in the queue '{}', the oldest for {} s; {}", jobs_wait(one), name,
                             seconds_since(*one.oldest_waiting, now), what_to_see(one))});
    }
    return all;
}

void write_metrics(prometheus_text& text, const std::vector<queue_numbers>& seen, wall_time now) {
    if (seen.empty()) return;
    const auto gauge = [&](std::string_view name, std::string_view help, auto value_of) {
        text.begin(name, "gauge", help);
        for (const auto& one : seen)
            text.sample(static_cast<double>(value_of(one)),
                        {{"queue", clean_utf8(one.endpoint, label_characters_max)}});
    };
    gauge("posthorn_queue_waiting", "Jobs that no worker is at.",
          [](const auto& one) { return one.waiting; });
    gauge("posthorn_queue_taken", "Jobs that a worker is at.",
          [](const auto& one) { return one.taken; });
    gauge("posthorn_queue_given_up", "Jobs that were given up and wait for a person.",
          [](const auto& one) { return one.given_up; });
    gauge("posthorn_queue_parked",
          "Jobs that wait behind one of their order key that was given up.",
          [](const auto& one) { return one.parked; });
    gauge("posthorn_queue_workers", "Workers that are at a job.",
          [](const auto& one) { return one.workers; });
    gauge("posthorn_queue_oldest_waiting_seconds", "Age of the oldest job that no worker is at.",
          [&](const auto& one) {
              return one.oldest_waiting ? seconds_since(*one.oldest_waiting, now) : 0;
          });
    gauge("posthorn_queue_attempts_max", "Most attempts of a job that is not given up.",
          [](const auto& one) { return one.attempts_max; });
}

result<std::vector<queue_job>> list_jobs(store_reader& from, const job_filter& wanted,
                                         wall_time now) {
    std::vector<sql_param> with{wanted.after, wanted.limit};
    auto sql = fmt::format("{} FROM posthorn_queue WHERE seq > ?1", job_columns);
    if (wanted.state) {
        with.emplace_back(count_of(now));
        sql += condition_of(*wanted.state, "?3");
    }
    if (wanted.endpoint) {
        with.emplace_back(std::string_view(*wanted.endpoint));
        sql += fmt::format(" AND endpoint = ?{}", with.size());
    }
    sql += " ORDER BY seq LIMIT ?2";
    std::vector<queue_job> all;
    POSTHORN_TRY(
        from.query(sql, with, [&](const sql_row& row) { all.push_back(read_job(row, now)); }));
    blockers in_the_way(from);
    for (auto& each : all) POSTHORN_TRY(in_the_way.find(each));
    return all;
}

result<queue_job> find_job(store_reader& from, std::int64_t seq, bool with_payload, wall_time now) {
    const auto sql = fmt::format(
        "{}, CASE WHEN octet_length(payload) <= ?2 THEN payload END FROM posthorn_queue"
        " WHERE seq = ?1",
        job_columns);
    const std::array<sql_param, 2> with{seq, with_payload ? payload_shown_max : -1};
    std::optional<queue_job> found;
    POSTHORN_TRY(from.query(sql, with, [&](const sql_row& row) {
        found = read_job(row, now);
        if (!row.is_null(16)) found->payload = std::string(row.text(16));
    }));
    if (!found)
        return fail(error_code::not_found, "there is no job {}; it may be finished already", seq);
    POSTHORN_TRY(blockers(from).find(*found));
    return *std::move(found);
}

}  // namespace posthorn
