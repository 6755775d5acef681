#include <algorithm>

#include <fmt/format.h>

#include "store/rows/stored_time.hpp"
#include "store/sqlite/tables/outbox_columns.hpp"
#include "store/sqlite/tables/outbox_sql.hpp"

namespace posthorn::sqlite {
namespace {

constexpr auto outbox_row_by_id =
    joined("SELECT ", outbox_columns, " FROM outbox_messages WHERE message_id = ?");
constexpr auto rows_to_tell_of = joined("SELECT ", outbox_columns, R"sql(, status, last_error
    FROM outbox_ended CROSS JOIN outbox_messages USING (seq)
    WHERE outbox_ended.seq > ? ORDER BY outbox_ended.seq LIMIT ?)sql");

}  // namespace

outbox_reading::outbox_reading(connection& database, outbox_rules rules)
    : rules_(std::move(rules)),
      order_(database),
      keys_(database),
      flows_(database),
      outlook_(flows_),
      due_(database),
      expired_(database),
      one_(database, outbox_row_by_seq),
      policy_(database, "SELECT value FROM posthorn_meta WHERE name = 'order_policy'"),
      find_(database, outbox_row_by_id),
      status_(database, "SELECT status FROM outbox_messages WHERE message_id = ?"),
      counts_(database, "SELECT status, count(*) FROM outbox_messages GROUP BY status"),
      paused_(database, R"sql(
          SELECT destination, paused_at, reason FROM outbox_paused
          ORDER BY destination LIMIT 10000)sql"),
      ended_(database, rows_to_tell_of) {}

result<outbox_page> outbox_reading::due(const due_question& asked) {
    POSTHORN_LET(chosen, due_.choose(asked));
    outbox_page page;
    page.rows.reserve(chosen.seqs.size());
    page.more = chosen.more;
    for (const auto seq : chosen.seqs) POSTHORN_TRY(read_into(page, seq));
    return page;
}

result<> outbox_reading::read_into(outbox_page& page, std::int64_t seq) {
    POSTHORN_LET(found, one_.run(seq));
    if (found.empty()) return {};
    auto row = read_row(found.front(), rules_.source);
    if (row)
        if (auto fit = validate(row->body, rules_.limits); !fit) row = std::unexpected(fit.error());
    if (!row) {
        page.bad.push_back({seq, fmt::format("{}: {}", row.error().name(), row.error().what())});
        return {};
    }
    if (!row->body.order_key.empty()) {
        POSTHORN_LET(blocked, order_.is_blocked(seq));
        row->parked = blocked;
    }
    (row->parked ? page.parked : page.rows).push_back(*std::move(row));
    return {};
}

result<order_policy> outbox_reading::present_order_policy() {
    POSTHORN_LET(found, policy_.run());
    if (found.empty()) return order_policy::park;
    return parse_order_policy(found.front().text(0)).value_or(order_policy::park);
}

result<std::optional<outbox_row>> outbox_reading::find(const uuid& id) {
    POSTHORN_LET(found, find_.run(id));
    if (found.empty()) return std::nullopt;
    return read_row(found.front(), rules_.source);
}

result<std::optional<outbox_status>> outbox_reading::status(const uuid& id) {
    POSTHORN_LET(found, status_.run(id));
    if (found.empty()) return std::nullopt;
    return parse_outbox_status(found.front().text(0));
}

result<outbox_counts> outbox_reading::counts() {
    outbox_counts counts;
    POSTHORN_LET(found, counts_.run());
    POSTHORN_TRY(found.each([&](const sql_row& row) {
        const std::int64_t number = row.integer(1);
        switch (parse_outbox_status(row.text(0)).value_or(outbox_status::pending)) {
            case outbox_status::pending: counts.pending = number; break;
            case outbox_status::sent: counts.sent = number; break;
            case outbox_status::dead: counts.dead = number; break;
            case outbox_status::expired: counts.expired = number; break;
            case outbox_status::resolved: counts.resolved = number; break;
        }
    }));
    return counts;
}

result<std::vector<final_row>> outbox_reading::ended(std::int64_t after_seq, std::size_t limit) {
    std::vector<final_row> all;
    POSTHORN_LET(found, ended_.run(after_seq, limit));
    POSTHORN_TRY(found.each([&](const sql_row& from) {
        auto row = read_row(from, rules_.source);
        all.push_back(
            {.row = row ? *std::move(row) : read_what_can_be(from, rules_.source),
             .status =
                 parse_outbox_status(from.text(outbox_columns_count)).value_or(outbox_status::dead),
             .error = std::string(from.text(outbox_columns_count + 1))});
    }));
    return all;
}

result<std::vector<paused_destination>> outbox_reading::paused() {
    std::vector<paused_destination> all;
    POSTHORN_LET(found, paused_.run());
    POSTHORN_TRY(found.each([&](const sql_row& row) {
        all.push_back({.destination = std::string(row.text(0)),
                       .since = from_ms(row.integer(1)),
                       .reason = std::string(row.text(2))});
    }));
    return all;
}

}  // namespace posthorn::sqlite
