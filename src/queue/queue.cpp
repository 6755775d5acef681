#include "queue/queue.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "base/text/joined.hpp"
#include "inbox/response.hpp"
#include "store/rows/stored_time.hpp"
#include "store/swallowed.hpp"

namespace posthorn {
namespace {

constexpr std::string_view insert_sql =
    "INSERT INTO posthorn_queue (message_id, source, endpoint, message_type, correlation_id,"
    " tenant, order_key, payload, content_type, headers, received_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

// ?1 now, ?2 attempts. What is at its last attempt is still its worker's until its time is over.
constexpr std::string_view give_up_sql =
    "UPDATE posthorn_queue SET given_up_at = ?1, taken_until = 9223372036854775807,"
    " error = coalesce(error, 'no worker finished it in its time')"
    " WHERE attempts > 0 AND given_up_at IS NULL AND taken_until <= ?1 AND attempts >= ?2"
    " RETURNING seq, endpoint, message_id, attempts, error";

// Of what no worker has: ?1 endpoint, ?2 now. What is held of a key holds back what follows it.
constexpr auto is_free = joined(
    "endpoint = ?1 AND taken_until <= ?2 AND given_up_at IS NULL AND (order_key IS NULL OR NOT"
    " EXISTS (SELECT 1 FROM posthorn_queue AS held WHERE held.endpoint = q.endpoint"
    "  AND held.order_key = q.order_key AND held.taken_until > ?2 AND ");
constexpr auto is_earlier = joined("held.seq < q.seq");
// A later one is in the way if another has it; one that was put off or given up is not.
constexpr auto is_in_the_way =
    joined("(", is_earlier,
           " OR (held.seq > q.seq AND held.taken_by <> ?4 AND held.given_up_at IS NULL))");

// ?3 limit, ?4 owner.
constexpr auto sizes_sql = joined(
    "SELECT seq, CAST(octet_length(payload) AS bigint) + octet_length(message_id)"
    " + octet_length(source) + octet_length(message_type) + octet_length(content_type)"
    " + coalesce(octet_length(correlation_id), 0) + coalesce(octet_length(tenant), 0)"
    " + coalesce(octet_length(order_key), 0) + coalesce(octet_length(headers), 0)"
    " FROM posthorn_queue AS q WHERE ",
    is_free, is_in_the_way, ")) ORDER BY seq LIMIT ?3");

// ?3 the last one, ?4 owner, ?5 until.
constexpr auto take_sql = joined(
    // A number that a program wrote is not counted past its end.
    "UPDATE posthorn_queue SET taken_by = ?4, taken_until = ?5, attempts = attempts +"
    " CASE WHEN attempts < 9223372036854775807 THEN 1 ELSE 0 END"
    " WHERE seq IN (SELECT seq FROM posthorn_queue AS q WHERE ",
    is_free, is_in_the_way,
    ")) AND seq <= ?3 ORDER BY seq LIMIT ?6)"
    " RETURNING seq, message_id, source, endpoint, message_type, correlation_id, tenant,"
    " order_key, payload, content_type, headers, received_at, taken_until, attempts");

constexpr auto free_sql =
    joined("SELECT 1 FROM posthorn_queue AS q WHERE ", is_free, is_earlier, ")) LIMIT 1");

// ?1 now, ?2 its number, ?3 why.
constexpr std::string_view too_large_sql =
    "UPDATE posthorn_queue SET given_up_at = ?1, taken_until = 9223372036854775807, error = ?3"
    " WHERE seq = ?2 AND given_up_at IS NULL"
    " RETURNING seq, endpoint, message_id, attempts, error";

// Whose job it is: ?1 seq, ?2 the owner, or the time for an operator, who may not end what a worker
// is at.
constexpr std::string_view of_owner = " WHERE seq = ?1 AND taken_by = ?2";
// What is held for longer than a worker may have it, no worker is at.
constexpr std::string_view of_operator =
    " WHERE seq = ?1 AND (taken_by IS NULL OR taken_until <= ?2 OR given_up_at IS NOT NULL"
    " OR taken_until > ?2 + 86700000)";
static_assert(longest_hold == std::chrono::milliseconds{86'700'000});

constexpr std::string_view delete_sql = "DELETE FROM posthorn_queue";
constexpr std::string_view needs_no_answer = " AND (message_type <> 'Command' OR answered <> 0)";
// From here on the node sends the Response, not the table's trigger.
constexpr std::string_view answer_sql = "UPDATE posthorn_queue SET answered = 1";
constexpr std::string_view of_commands =
    " AND message_type = 'Command' AND answered = 0"
    " RETURNING message_id, source, endpoint, correlation_id, tenant, headers";

constexpr std::string_view held_sql =
    "SELECT endpoint, message_id, attempts, error FROM posthorn_queue";

constexpr std::string_view put_back_sql =
    "UPDATE posthorn_queue SET taken_by = NULL, taken_until = ?3, given_up_at = ?4, error = ?5";

constexpr std::string_view retry_sql =
    "UPDATE posthorn_queue SET given_up_at = NULL, taken_by = NULL, taken_until = 0, attempts = 0";

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

std::int64_t count_of(wall_time time) { return time.time_since_epoch().count(); }

queued_message read(const sql_row& row) {
    const auto text = [&](std::size_t at) { return std::string(row.text(at)); };
    return {.seq = row.integer(0),
            .message_id = text(1),
            .source = text(2),
            .endpoint = text(3),
            .message_type = text(4),
            .correlation_id = text(5),
            .tenant = text(6),
            .order_key = text(7),
            .payload = text(8),
            .content_type = text(9),
            .headers = text(10),
            .received_at = bounded_from_ms(row.integer(11)),
            .taken_until = bounded_from_ms(row.integer(12)),
            .attempts = row.integer(13)};
}

given_up_job read_given_up(const sql_row& row) {
    return {.seq = row.integer(0),
            .endpoint = std::string(row.text(1)),
            .message_id = std::string(row.text(2)),
            .attempts = row.integer(3),
            .error = std::string(row.text(4))};
}

struct job_size {
    std::int64_t seq = 0;
    std::int64_t octets = 0;
};

/// Of those that may be taken, the oldest first.
result<std::vector<job_size>> read_sizes(store_transaction& tx, const queue_take& asked,
                                         wall_time now) {
    const std::array<sql_param, 4> with{std::string_view(asked.endpoint), count_of(now),
                                        asked.limit, std::string_view(asked.owner)};
    std::vector<job_size> sizes;
    POSTHORN_TRY(tx.query(sizes_sql, with, [&](const sql_row& row) {
        sizes.push_back({row.integer(0), row.integer(1)});
    }));
    return sizes;
}

/// Zero if there is none. Pure.
std::int64_t last_that_fits(const std::vector<job_size>& sizes, const queue_take& asked) {
    std::int64_t last = 0;
    std::int64_t octets = 0;
    for (const auto& one : sizes) {
        if (one.octets > asked.job_octets_max) continue;
        octets += one.octets;
        if (last != 0 && octets > asked.octets_max) break;
        last = one.seq;
    }
    return last;
}

result<> give_up_too_large(store_transaction& tx, const job_size& job, const queue_take& asked,
                           wall_time now, std::vector<given_up_job>& into) {
    const auto why = fmt::format(
        "it has {} bytes, and at most {} are given over HTTP; a worker with SQL of its own can "
        "take it, once it is retried",
        job.octets, asked.job_octets_max);
    const std::array<sql_param, 3> with{count_of(now), job.seq, std::string_view(why)};
    return tx.query(too_large_sql, with,
                    [&](const sql_row& row) { into.push_back(read_given_up(row)); });
}

std::optional<std::string_view> or_null(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

/// As much of a Command as its Response needs.
message command_of(const sql_row& row) {
    message asked;
    asked.type = message_type::command;
    asked.id = uuid::parse(row.text(0)).value_or(uuid{});
    asked.source = row.text(1);
    asked.endpoint = row.text(2);
    // A row that was written by hand may have any id.
    asked.correlation_id = row.text(3).empty() ? row.text(0) : row.text(3);
    asked.tenant = row.text(4);
    asked.headers = row.text(5);
    return asked;
}

/// Which job, and who may end it.
struct job_guard {
    std::int64_t seq = 0;
    std::string_view where;  // `of_owner` or `of_operator`.
    sql_param who;

    [[nodiscard]] std::string after(std::string_view statement) const {
        return std::string(statement).append(where);
    }
};

/// False if the job is not theirs to end.
result<bool> finish(store_transaction& tx, const message_maker& maker, const job_guard& job,
                    std::string_view response) {
    const std::array<sql_param, 2> with{job.seq, job.who};
    POSTHORN_LET(gone, tx.execute(job.after(delete_sql).append(needs_no_answer), with));
    if (gone > 0) return true;
    std::optional<message> asked;
    POSTHORN_TRY(tx.query(job.after(answer_sql).append(of_commands), with,
                          [&](const sql_row& row) { asked = command_of(row); }));
    if (!asked) {
        bool is_there = false;
        POSTHORN_TRY(tx.query(job.after("SELECT 1 FROM posthorn_queue"), with,
                              [&](const sql_row&) { is_there = true; }));
        if (is_there) return swallowed("posthorn_queue");
        return false;
    }
    // A row that was written by hand may say no source: then there is none to answer.
    if (!asked->source.empty()) POSTHORN_TRY(send_response(tx, maker, *asked, response));
    POSTHORN_LET(ended, tx.execute(job.after(delete_sql), with));
    if (ended == 0) return swallowed("posthorn_queue");
    return true;
}

/// A job as its holder has it; nothing if it is another's.
result<std::optional<given_up_job>> find_held(store_transaction& tx, std::int64_t seq,
                                              const std::string& owner) {
    const std::array<sql_param, 2> with{seq, std::string_view(owner)};
    std::optional<given_up_job> found;
    POSTHORN_TRY(tx.query(std::string(held_sql).append(of_owner), with, [&](const sql_row& row) {
        found = given_up_job{.seq = seq,
                             .endpoint = std::string(row.text(0)),
                             .message_id = std::string(row.text(1)),
                             .attempts = row.integer(2),
                             .error = std::string(row.text(3))};
    }));
    return found;
}

/// Why an operator could not change a job.
error refusal(store_transaction& tx, std::int64_t seq) {
    const std::array<sql_param, 1> with{seq};
    std::optional<std::string> holder;
    const auto looked = tx.query("SELECT taken_by FROM posthorn_queue WHERE seq = ?", with,
                                 [&](const sql_row& row) { holder = std::string(row.text(0)); });
    if (!looked) return looked.error();
    if (!holder)
        return {error_code::not_found,
                fmt::format("there is no job {}; it may be finished already", seq)};
    return {error_code::state_changed,
            fmt::format("the worker '{}' is at work on job {}; wait until it has finished, or "
                        "until its time is over",
                        *holder, seq)};
}

}  // namespace

std::chrono::milliseconds pause_after(std::int64_t attempts) noexcept {
    constexpr std::chrono::milliseconds first = std::chrono::seconds{1};
    constexpr std::chrono::milliseconds longest = std::chrono::minutes{5};
    const auto doublings = std::clamp<std::int64_t>(attempts - 1, 0, 16);
    return std::min(longest, first * (std::int64_t{1} << doublings));
}

bool is_spent(std::int64_t attempts, const queue_rules& rules) noexcept {
    return rules.attempts_max > 0 && attempts >= rules.attempts_max;
}

transactional_handler make_queue_handler(const clock& time) {
    return [&time](context& with, const message& got) {
        const auto stored = with.execute(
            insert_sql, got.id.to_string(), got.source, got.endpoint, to_string(got.type),
            or_null(got.correlation_id), or_null(got.tenant), or_null(got.order_key), got.payload,
            got.content_type, or_null(got.headers), count_of(time.wall()));
        // Of no message's doing, so none is charged.
        if (stored == 0) throw swallowed("posthorn_queue", error_code::store_busy).error();
        return std::string{};
    };
}

result<std::vector<given_up_job>> give_up_spent(store_transaction& tx, const queue_rules& rules,
                                                wall_time now) {
    std::vector<given_up_job> given_up;
    if (rules.attempts_max == 0) return given_up;
    const std::array<sql_param, 2> with{count_of(now), rules.attempts_max};
    POSTHORN_TRY(tx.query(give_up_sql, with,
                          [&](const sql_row& row) { given_up.push_back(read_given_up(row)); }));
    return given_up;
}

result<queue_taken> take_queued(store_transaction& tx, const queue_take& asked, wall_time now) {
    // Takers look one after the other for what is not held: a statement that waits for a row sees
    // the row as it is then, but not whether the others of its key are held.
    POSTHORN_TRY(tx.take_turn("posthorn_queue", asked.endpoint));
    queue_taken taken;
    POSTHORN_LET(sizes, read_sizes(tx, asked, now));
    for (const auto& [seq, octets] : sizes)
        if (octets > asked.job_octets_max)
            POSTHORN_TRY(give_up_too_large(tx, {seq, octets}, asked, now, taken.given_up));
    const auto last = last_that_fits(sizes, asked);
    if (last == 0) return taken;
    const std::array<sql_param, 6> with{
        std::string_view(asked.endpoint), count_of(now), last, std::string_view(asked.owner),
        count_of(now + asked.lease),      asked.limit};
    POSTHORN_TRY(
        tx.query(take_sql, with, [&](const sql_row& row) { taken.messages.push_back(read(row)); }));
    // RETURNING promises no order.
    std::ranges::sort(taken.messages, {}, &queued_message::seq);
    return taken;
}

result<bool> has_free(store_reader& from, const std::string& endpoint, wall_time now) {
    const std::array<sql_param, 2> with{std::string_view(endpoint), count_of(now)};
    bool found = false;
    POSTHORN_TRY(from.query(free_sql, with, [&](const sql_row&) { found = true; }));
    return found;
}

result<std::int64_t> acknowledge_queued(store_transaction& tx, const message_maker& maker,
                                        const queue_receipt& done, std::string_view response) {
    std::int64_t count = 0;
    for (const auto seq : done.seqs) {
        POSTHORN_LET(
            done_here,
            finish(tx, maker, {.seq = seq, .where = of_owner, .who = std::string_view(done.owner)},
                   response));
        if (done_here) ++count;
    }
    return count;
}

result<queue_released> release_queued(store_transaction& tx, const queue_receipt& back,
                                      const queue_release& how, const queue_rules& rules,
                                      wall_time now) {
    queue_released released;
    for (const auto seq : back.seqs) {
        POSTHORN_LET(held, find_held(tx, seq, back.owner));
        if (!held) continue;
        if (!how.error.empty()) held->error = how.error;
        const bool ends = how.gives_up || is_spent(held->attempts, rules);
        if (ends && held->error.empty()) held->error = "the worker gave it back without a reason";
        const auto free_at = now + how.delay.value_or(pause_after(held->attempts));
        const std::array<sql_param, 5> with{
            seq, std::string_view(back.owner), ends ? never : count_of(free_at),
            ends ? sql_param(count_of(now)) : sql_param(nullptr),
            held->error.empty() ? sql_param(nullptr) : sql_param(std::string_view(held->error))};
        POSTHORN_LET(changed, tx.execute(std::string(put_back_sql).append(of_owner), with));
        released.count += changed;
        if (ends && changed > 0) released.given_up.push_back(*std::move(held));
    }
    return released;
}

result<> retry_queued(store_transaction& tx, std::int64_t seq, wall_time now) {
    const std::array<sql_param, 2> with{seq, count_of(now)};
    POSTHORN_LET(changed, tx.execute(std::string(retry_sql).append(of_operator), with));
    if (changed == 0) return std::unexpected(refusal(tx, seq));
    return {};
}

result<std::int64_t> retry_given_up(store_transaction& tx, const std::string& endpoint) {
    const std::array<sql_param, 1> with{std::string_view(endpoint)};
    return tx.execute(std::string(retry_sql) + " WHERE endpoint = ? AND given_up_at IS NOT NULL",
                      with);
}

result<> finish_queued(store_transaction& tx, const message_maker& maker, std::int64_t seq,
                       std::string_view response, wall_time now) {
    POSTHORN_LET(done, finish(tx, maker, {.seq = seq, .where = of_operator, .who = count_of(now)},
                              response));
    if (!done) return std::unexpected(refusal(tx, seq));
    return {};
}

}  // namespace posthorn
