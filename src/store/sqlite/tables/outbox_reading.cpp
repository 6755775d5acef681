#include <algorithm>

#include <fmt/format.h>

#include "store/rows/row_sizes.hpp"
#include "store/rows/stored_time.hpp"
#include "store/sqlite/driver/length_limit.hpp"
#include "store/sqlite/tables/outbox_sql.hpp"
#include "store/statements/sqlite_parts.hpp"

namespace posthorn::sqlite {
namespace {
constexpr auto late_row_by_seq =
    joined("SELECT ", outbox_late_columns, " FROM outbox_messages WHERE seq = ?");

column_sizes sizes_of(connection& database, std::int64_t seq) {
    column_sizes sizes{};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::string column(sized_columns[i]);
        sizes[i] =
            bytes_at(database, {.table = "outbox_messages", .column = column.c_str(), .row = seq});
    }
    return sizes;
}

}  // namespace

outbox_reading::outbox_reading(connection& database, outbox_rules rules)
    : outbox_looks(database, std::move(rules)),
      database_(database),
      keys_(database),
      expired_(database),
      one_(database, outbox_row_by_seq),
      late_(database, late_row_by_seq),
      is_blocked_(database, ask_blocked) {}

result<outbox_page> outbox_reading::read_page(const chosen_rows& chosen, std::size_t bytes_max) {
    outbox_page page;
    page.rows.reserve(chosen.seqs.size());
    page.more = chosen.more;
    // Twice: in a file of UTF-16 a text has more bytes than the message.
    const length_limit nothing_larger(database_, 2 * row_bytes_max(message_rules().limits));
    std::size_t bytes = 0;
    for (const auto seq : chosen.seqs) {
        if (bytes > 0 && bytes >= bytes_max) {
            page.more = true;
            break;
        }
        POSTHORN_LET(more, read_into(page, seq));
        bytes += more;
    }
    return page;
}

result<std::size_t> outbox_reading::read_into(outbox_page& page, std::int64_t seq) {
    const auto is_bad = [&](const error& why, std::size_t bytes) -> std::size_t {
        page.bad.push_back({seq, fmt::format("{}: {}", why.name(), why.what()), bytes});
        return 0;
    };
    auto found = one_.run(seq);
    if (!found) {
        const auto sizes = sizes_of(database_, seq);
        if (const auto fit = check_sizes(sizes, message_rules().limits); !fit)
            return is_bad(fit.error(), sum_of(sizes));
        return std::unexpected(std::move(found).error());
    }
    if (found->empty()) return 0;
    auto row = read_row(found->front(), message_rules().source);
    if (!row) return is_bad(row.error(), found->front().text(5).size());
    if (const auto fit = validate(row->body, message_rules().limits); !fit)
        return is_bad(fit.error(), bytes_of(*row));
    if (!row->body.order_key.empty()) {
        POSTHORN_LET(blocked, run_ask_blocked(is_blocked_, seq));
        row->parked = blocked;
    }
    const auto bytes = bytes_of(*row);
    (row->parked ? page.parked : page.rows).push_back(*std::move(row));
    return bytes;
}

}  // namespace posthorn::sqlite
