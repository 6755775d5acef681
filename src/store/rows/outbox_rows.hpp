#pragma once

#include <optional>
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
template <class Payload>
consteval auto outbox_columns_with(const Payload& payload) {
    return joined("seq, message_id, message_type, destination, endpoint, ", payload, R"sql(,
    content_type, headers, correlation_id, tenant, order_key, dedupe_key, parent_id, causation_id,
    priority, max_retries, created_at, expires_at, deliver_at, retry_count, checksum)sql");
}
/// The same of messages that are at an end: nothing that a row of plain SQL may have made long is read
/// in whole. What is not cut here has its bound in the triggers.
template <class Payload, class Headers, class Checksum>
consteval auto outbox_cut_columns_with(const Payload& payload, const Headers& headers,
                                       const Checksum& checksum) {
    return joined(R"sql(
    seq, message_id, substr(message_type, 1, 64), destination, substr(endpoint, 1, 4096), )sql",
                  payload, ", substr(content_type, 1, 4096), ", headers, R"sql(,
    substr(correlation_id, 1, 65536), tenant, order_key, dedupe_key, substr(parent_id, 1, 64),
    substr(causation_id, 1, 64), priority, max_retries, created_at, expires_at, deliver_at,
    retry_count, )sql",
                  checksum);
}
/// Without content: for messages that are past their time, which may be large and many.
inline constexpr auto outbox_late_columns = outbox_cut_columns_with("''", "NULL", "NULL");
inline constexpr std::size_t outbox_columns_count = 21;

/// What the column `checksum` holds of a message: over all that its receiver gets to see, and how
/// long it lives. Rows of plain SQL have none.
[[nodiscard]] std::int64_t checksum_of(const message& body);

/// The message in a row, or why it is none: one that is not what was stored is
/// `error_code::store_corrupt`. `source` is the service's own id.
result<outbox_row> read_row(const sql_row& row, const std::string& source);
/// The one whose number and id a row says has the dedupe key that was asked for.
result<enqueued> read_known(const sql_row& row);
/// The first one with a message's dedupe key, if it has a key; `find` asks for its number and id.
template <class Find>
result<std::optional<enqueued>> find_known(const message& body, Find find) {
    if (body.dedupe_key.empty()) return std::nullopt;
    POSTHORN_LET(found, find());
    if (found.empty()) return std::nullopt;
    return read_known(found.front());
}
/// Why a message is not stored though it is none that was sent before.
[[nodiscard]] error duplicate_of(const message& body);
/// Enough to tell people of a row that is not a message.
outbox_row read_what_can_be(const sql_row& row, const std::string& source);

}  // namespace posthorn
