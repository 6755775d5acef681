#include "operations/inbox_detail.hpp"

#include <array>

#include <fmt/format.h>

#include "store/rows/stored_time.hpp"

namespace posthorn {
namespace {

/// Rows are found by sender and id, so that an id alone is looked up for one sender after the other:
/// each step of the recursion is a jump in the index.
constexpr std::string_view of_every_source =
    "WITH RECURSIVE sources(name, number) AS ("
    " SELECT (SELECT min(source_service_id) FROM inbox_messages), 1"
    " UNION ALL"
    " SELECT (SELECT min(source_service_id) FROM inbox_messages WHERE source_service_id > name),"
    "  number + 1 FROM sources WHERE name IS NOT NULL AND number < 10000)"
    " SELECT seq, source_service_id, message_id, endpoint, processed_at, claim_until, expires_at"
    " FROM sources JOIN inbox_messages ON source_service_id = name AND message_id = ?"
    " ORDER BY seq LIMIT 100";

constexpr std::string_view of_one_source =
    "SELECT seq, source_service_id, message_id, endpoint, processed_at, claim_until, expires_at"
    " FROM inbox_messages WHERE message_id = ? AND source_service_id = ?";

std::optional<wall_time> time_in(const sql_row& row, std::size_t column) {
    if (row.is_null(column)) return std::nullopt;
    return bounded_from_ms(row.integer(column));
}

inbox_detail read_detail(const sql_row& row) {
    return {.summary = {.seq = row.integer(0),
                        .source = std::string(row.text(1)),
                        .id = std::string(row.text(2)),
                        .endpoint = std::string(row.text(3)),
                        .processed_at = time_in(row, 4),
                        .claimed_until = time_in(row, 5),
                        .expires_at = time_in(row, 6).value_or(wall_time{})}};
}

std::string to_hexadecimal(const body_hash& hash) {
    std::string text;
    for (const auto each : hash) text += fmt::format("{:02x}", std::to_integer<unsigned>(each));
    return text;
}

template <class Take>
result<> rows_of(store_reader& from, const inbox_question& asked, const Take& take) {
    const auto id = asked.id.to_string();
    const std::array<sql_param, 2> with{std::string_view(id), asked.source};
    const bool is_any = asked.source.empty();
    return from.query(is_any ? of_every_source : of_one_source,
                      std::span(with).first(is_any ? 1 : 2),
                      [&](const sql_row& row) { take(read_detail(row)); });
}

}  // namespace

result<inbox_list> find_inbox(store& where, const uuid& id, const inbox_filter& wanted) {
    inbox_list page;
    POSTHORN_TRY(where.read([&](store_reader& from) {
        page.rows.clear();
        return rows_of(from, {.id = id, .source = wanted.source}, [&](inbox_detail one) {
            if (fits(one.summary, wanted)) page.rows.push_back(std::move(one.summary));
        });
    }));
    return page;
}

result<std::vector<inbox_detail>> show_inbox(store& where, const inbox_question& asked) {
    std::vector<inbox_detail> found;
    POSTHORN_TRY(where.read([&](store_reader& from) -> result<> {
        POSTHORN_TRY(
            rows_of(from, asked, [&](inbox_detail one) { found.push_back(std::move(one)); }));
        for (auto& one : found) {
            POSTHORN_LET(entry, from.inbox().find({one.summary.source, asked.id}));
            if (!entry) continue;
            one.body_hash = to_hexadecimal(entry->hash);
            one.claim_owner = std::move(entry->claim_owner);
            one.response = std::move(entry->response);
        }
        return {};
    }));
    return found;
}

}  // namespace posthorn
