#include "forward/forward_rows.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/planted.hpp"

namespace posthorn {
namespace {

/// What no count comes to; more, or less than nothing, was written by hand.
constexpr std::int64_t counted_max = 1'000'000'000'000'000;

std::int64_t count_of(const sql_row& row, std::size_t column) {
    return std::clamp<std::int64_t>(row.integer(column), 0, counted_max);
}

std::string text_of(const sql_row& row, std::size_t column) {
    return row.is_null(column) ? std::string() : std::string(row.text(column));
}

std::optional<std::int64_t> number_of(const sql_row& row, std::size_t column) {
    if (row.is_null(column)) return std::nullopt;
    return row.integer(column);
}

// By the index of status and time, which both are final where an operation has ended.
constexpr std::string_view ended =
    "Status IN ('Delivered', 'Failed', 'Discarded') AND UpdatedAtUtc < ? AND TerminalAtUtc < ?";

result<std::vector<held_work>> read_held_page(store_reader& from, const held_filter& which) {
    std::string sql = fmt::format("{} WHERE seq > ?", held_sql);
    std::vector<sql_param> with{which.after};
    if (which.parked) {
        sql += " AND status = ?";
        with.emplace_back(std::int64_t{*which.parked ? 2 : 0});
    }
    if (!which.category.empty()) {
        sql += " AND category = ?";
        with.emplace_back(std::string_view(which.category));
    }
    sql += " ORDER BY seq LIMIT ?";
    with.emplace_back(which.limit);
    std::vector<held_work> page;
    POSTHORN_TRY(
        from.query(sql, with, [&](const sql_row& row) { page.push_back(read_held_row(row)); }));
    return page;
}

}  // namespace

held_work read_held_row(const sql_row& row) {
    return {.seq = row.integer(0),
            .id = text_of(row, 1),
            .category = text_of(row, 2),
            .target = text_of(row, 3),
            .parked = row.integer(4) == 2,
            .retry_count = row.integer(5),
            .max_retries = row.integer(6),
            .retry_interval_ms = row.integer(7),
            .bytes = count_of(row, 8),
            .created_at = row.integer(9),
            .last_attempt_at = number_of(row, 10),
            .last_error = text_of(row, 11),
            .origin_instance = text_of(row, 12),
            .execution_id = text_of(row, 13),
            .source_script = text_of(row, 14),
            .parent_execution_id = text_of(row, 15)};
}

tracked_operation read_tracked_row(const uuid& id, const sql_row& row) {
    return {.id = id,
            .kind = text_of(row, 0),
            .target = text_of(row, 1),
            .status = text_of(row, 2),
            .retry_count = row.integer(3),
            .last_error = text_of(row, 4),
            .http_status = number_of(row, 5),
            .created_at = text_of(row, 6),
            .updated_at = text_of(row, 7),
            .ended_at = text_of(row, 8),
            .source_instance = text_of(row, 9),
            .source_script = text_of(row, 10),
            .source_node = text_of(row, 11)};
}

result<std::vector<forward_total>> read_forward_totals(store_reader& from) {
    std::vector<forward_total> all;
    POSTHORN_TRY(
        from.query("SELECT name, tracked, coalesce(sum(waiting), 0), coalesce(sum(parked), 0),"
                   " coalesce(sum(bytes), 0) FROM forward_categories"
                   " LEFT JOIN forward_totals ON category = name GROUP BY number, name, tracked"
                   " ORDER BY number",
                   {}, [&](const sql_row& row) {
                       all.push_back({.category = text_of(row, 0),
                                      .tracked = row.integer(1) != 0,
                                      .waiting = count_of(row, 2),
                                      .parked = count_of(row, 3),
                                      .bytes = count_of(row, 4)});
                   }));
    // By their order of arrival, the first of those that wait is the oldest.
    for (auto& each : all) {
        if (each.waiting == 0) continue;
        const std::array<sql_param, 1> with{std::string_view(each.category)};
        POSTHORN_TRY(
            from.query("SELECT created_at FROM forward_messages WHERE category = ?"
                       " AND status = 0 ORDER BY seq LIMIT 1",
                       with, [&](const sql_row& row) { each.oldest = row.integer(0); }));
    }
    return all;
}

// Of a category what waits and what is parked lie apart in its index, each by seq.
result<std::vector<held_work>> read_held(store_reader& from, const held_filter& which) {
    if (which.parked || which.category.empty()) return read_held_page(from, which);
    std::vector<held_work> page;
    for (const bool parked : {false, true}) {
        auto of = which;
        of.parked = parked;
        POSTHORN_LET(some, read_held_page(from, of));
        std::ranges::move(some, std::back_inserter(page));
    }
    std::ranges::sort(page, {}, &held_work::seq);
    if (std::cmp_greater(page.size(), which.limit))
        page.resize(static_cast<std::size_t>(which.limit));
    return page;
}

result<std::optional<held_work>> find_held(store_reader& from, const uuid& id) {
    std::optional<held_work> found;
    const auto text = id.to_string();
    const std::array<sql_param, 1> with{std::string_view(text)};
    POSTHORN_TRY(from.query(fmt::format("{} WHERE id = ?", held_sql), with,
                            [&](const sql_row& row) { found = read_held_row(row); }));
    return found;
}

result<std::optional<tracked_operation>> find_tracked(store_reader& from, const uuid& id) {
    std::optional<tracked_operation> found;
    const auto text = id.to_string();
    const std::array<sql_param, 1> with{std::string_view(text)};
    POSTHORN_TRY(from.query(tracked_sql, with,
                            [&](const sql_row& row) { found = read_tracked_row(id, row); }));
    return found;
}

result<bool> retry_parked(store_transaction& tx, const uuid& id) {
    const auto text = id.to_string();
    const std::array<sql_param, 1> with{std::string_view(text)};
    POSTHORN_LET(changed, tx.execute(retry_parked_sql, with));
    return changed > 0;
}

result<bool> discard_parked(store_transaction& tx, const uuid& id) {
    const auto text = id.to_string();
    const std::array<sql_param, 1> with{std::string_view(text)};
    if (POSTHORN_PLANTED(discarded_beside_a_send)) {
        POSTHORN_TRY(tx.execute(
            "UPDATE outbox_messages SET status = 'Resolved' WHERE message_id = ?", with));
        return true;
    }
    POSTHORN_LET(changed, tx.execute(discard_parked_sql, with));
    return changed > 0;
}

result<bool> may_purge_forward(store_reader& from, std::string_view before) {
    bool found = false;
    const std::array<sql_param, 2> old{before, before};
    POSTHORN_TRY(from.query(fmt::format("SELECT 1 FROM OperationTracking WHERE {} LIMIT 1", ended),
                            old, [&found](const sql_row&) { found = true; }));
    return found;
}

result<std::int64_t> purge_forward(store_transaction& tx, std::string_view before,
                                   std::int64_t limit) {
    const std::array<sql_param, 3> old{before, before, limit};
    return tx.execute(fmt::format("DELETE FROM OperationTracking WHERE TrackedOperationId IN"
                                  " (SELECT TrackedOperationId FROM OperationTracking"
                                  " WHERE {} LIMIT ?)",
                                  ended),
                      old);
}

result<std::vector<std::int64_t>> find_orphans(store_reader& from, std::int64_t limit) {
    std::vector<std::int64_t> found;
    const std::array<sql_param, 1> most{limit};
    POSTHORN_TRY(
        from.query("SELECT held.seq FROM forward_messages AS held"
                   " LEFT JOIN outbox_messages AS sent ON sent.seq = held.seq"
                   " WHERE sent.seq IS NULL LIMIT ?",
                   most, [&found](const sql_row& row) { found.push_back(row.integer(0)); }));
    return found;
}

result<std::int64_t> drop_orphans(store_transaction& tx, std::span<const std::int64_t> seqs) {
    std::int64_t dropped = 0;
    for (const auto seq : seqs) {
        const std::array<sql_param, 1> which{seq};
        POSTHORN_TRY(
            tx.execute("UPDATE forward_messages SET status = 4 WHERE seq = ? AND NOT EXISTS"
                       " (SELECT 1 FROM outbox_messages AS sent WHERE sent.seq ="
                       " forward_messages.seq)",
                       which));
        POSTHORN_LET(
            gone, tx.execute("DELETE FROM forward_messages WHERE seq = ? AND status = 4", which));
        dropped += gone;
    }
    return dropped;
}

}  // namespace posthorn
