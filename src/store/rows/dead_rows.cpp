#include "store/rows/dead_rows.hpp"

#include "store/rows/message_state.hpp"
#include "store/rows/stored_time.hpp"
#include "store/rows/text_search.hpp"

namespace posthorn {
dead_letter_row read_dead_row(const sql_row& row) {
    dead_letter_row read{.summary = read_summary(row), .state = {}};
    read.state = message_state(read.summary, {.payload = row.text(payload_column),
                                              .headers = row.text(payload_column + 1),
                                              .content_type = row.text(payload_column + 2)});
    read.closed_at = optional_time(row, payload_column + 3);
    read.cause = row.is_null(payload_column + 4) ? 0 : row.integer(payload_column + 4);
    read.cause_text = row.text(payload_column + 5);
    return read;
}

bool fits(const sql_row& keys, const dead_filter& wanted) {
    const auto same = [&](std::size_t column, std::string_view asked) {
        return asked.empty() || keys.text(column) == asked;
    };
    if (keys.text(status_column) != to_string(wanted.status)) return false;
    if (!same(1, wanted.destination) || !same(2, wanted.endpoint) || !same(3, wanted.tenant) ||
        !same(order_key_column, wanted.order_key) || !same(10, wanted.correlation_id) ||
        !same(11, wanted.causation_id))
        return false;
    if (wanted.cause > 0 && (keys.is_null(9) || keys.integer(9) != wanted.cause)) return false;
    if (wanted.past && from_ms(keys.integer(expires_at_column)) > *wanted.past) return false;
    const auto closed_at = from_ms(keys.integer(7));
    if (wanted.since && closed_at < *wanted.since) return false;
    if (wanted.until && closed_at >= *wanted.until) return false;
    return contains_whatever_the_case(keys.text(last_error_column), wanted.error);
}

}  // namespace posthorn
