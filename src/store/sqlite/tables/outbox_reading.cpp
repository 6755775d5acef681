#include <algorithm>

#include <fmt/format.h>

#include "store/rows/stored_time.hpp"
#include "store/sqlite/tables/outbox_columns.hpp"
#include "store/sqlite/tables/outbox_sql.hpp"

namespace posthorn::sqlite {
namespace {

constexpr auto outbox_row_by_id =
    joined("SELECT ", outbox_columns, " FROM outbox_messages WHERE message_id = ?");
constexpr auto rows_to_tell_of = joined("SELECT ", outbox_columns, R"sql(, status, last_error,
        EXISTS (SELECT 1 FROM outbox_attempts WHERE outbox_attempts.seq = outbox_messages.seq)
    FROM outbox_ended CROSS JOIN outbox_messages USING (seq)
    WHERE outbox_ended.seq > ? ORDER BY outbox_ended.seq LIMIT ?)sql");

}  // namespace

outbox_reading::outbox_reading(connection& database, outbox_rules rules)
    : outbox_looks(database, std::move(rules),
                   {.policy = "SELECT value FROM posthorn_meta WHERE name = 'order_policy'",
                    .by_id = outbox_row_by_id,
                    .status_by_id = "SELECT status FROM outbox_messages WHERE message_id = ?",
                    .counts = "SELECT status, count(*) FROM outbox_messages GROUP BY status",
                    .paused = R"sql(
          SELECT destination, paused_at, reason FROM outbox_paused
          ORDER BY destination LIMIT 10000)sql",
                    .ended = rows_to_tell_of}),
      keys_(database),
      due_(database),
      expired_(database),
      one_(database, outbox_row_by_seq),
      is_blocked_(database, ask_blocked) {}

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
    auto row = read_row(found.front(), message_rules().source);
    if (row)
        if (auto fit = validate(row->body, message_rules().limits); !fit)
            row = std::unexpected(fit.error());
    if (!row) {
        page.bad.push_back({seq, fmt::format("{}: {}", row.error().name(), row.error().what())});
        return {};
    }
    if (!row->body.order_key.empty()) {
        POSTHORN_LET(blocked, run_ask_blocked(is_blocked_, seq));
        row->parked = blocked;
    }
    (row->parked ? page.parked : page.rows).push_back(*std::move(row));
    return {};
}

}  // namespace posthorn::sqlite
