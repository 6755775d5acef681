#pragma once

#include <string>

#include <posthorn/detail/sql.hpp>

#include "base/text/joined.hpp"
#include "message/validate.hpp"
#include "store/outbox_table.hpp"

namespace posthorn {

/// How rows of the outbox become messages.
struct outbox_rules {
    std::string source;       // The service's own id, which its messages carry.
    message_limits limits{};  // A row past them, which only plain SQL can write, is a bad one.
};

/// What `read_row` wants to find in a row, in this order; `payload` is how to get at its bytes.
template <class Text>
consteval auto outbox_columns_with(const Text& payload) {
    return joined("seq, message_id, message_type, destination, endpoint, ", payload, R"sql(,
    content_type, headers, correlation_id, tenant, order_key, dedupe_key, parent_id, causation_id,
    priority, max_retries, created_at, expires_at, deliver_at, retry_count, checksum)sql");
}
inline constexpr std::size_t outbox_columns_count = 21;

/// What the column `checksum` holds of a message: over all that its receiver gets to see, and how
/// long it lives. Rows of plain SQL have none.
[[nodiscard]] std::int64_t checksum_of(const message& body);

/// The message in a row, or why it is none: one that is not what was stored is
/// `error_code::store_corrupt`. `source` is the service's own id.
result<outbox_row> read_row(const sql_row& row, const std::string& source);
/// Enough to tell people of a row that is not a message.
outbox_row read_what_can_be(const sql_row& row, const std::string& source);

}  // namespace posthorn
