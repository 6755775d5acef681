#include "store/rows/summary_rows.hpp"

#include "store/rows/stored_time.hpp"

namespace posthorn {

std::optional<wall_time> optional_time(const sql_row& row, std::size_t column) {
    if (row.is_null(column)) return std::nullopt;
    return from_ms(row.integer(column));
}

message_summary read_summary(const sql_row& row) {
    message_summary read;
    read.seq = row.integer(0);
    read.id = row.text(1);
    read.type = row.text(2);
    read.destination = row.text(3);
    read.endpoint = row.text(4);
    read.status = parse_outbox_status(row.text(5)).value_or(outbox_status::pending);
    read.attempts = row.get<std::int32_t>(6);
    read.max_retries = row.get<std::int32_t>(7);
    read.created_at = from_ms(row.integer(8));
    read.expires_at = from_ms(row.integer(9));
    read.next_attempt_at = from_ms(row.integer(10));
    read.deliver_at = optional_time(row, 11);
    read.last_attempt_at = optional_time(row, 12);
    read.sent_at = optional_time(row, 13);
    read.last_error = row.text(14);
    read.resolution = row.text(15);
    read.correlation_id = row.text(16);
    read.tenant = row.text(17);
    read.order_key = row.text(18);
    read.causation_id = row.text(19);
    return read;
}

}  // namespace posthorn
