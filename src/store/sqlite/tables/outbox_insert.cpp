#include "store/sqlite/tables/outbox_insert.hpp"

#include "store/rows/or_null.hpp"
#include "store/rows/outbox_rows.hpp"
#include "store/rows/stored_time.hpp"
#include "store/swallowed.hpp"

namespace posthorn::sqlite {

result<std::int64_t> insert_message(statement& insert, const message& body) {
    const auto deliver_at = body.deliver_at.transform(to_ms);
    const auto stored = insert.run(
        body.id, or_null(body.correlation_id), to_string(body.type), body.destination,
        body.endpoint, body.payload, or_null(body.headers), body.max_retries,
        deliver_at.value_or(0), to_ms(body.created_at), to_ms(body.expires_at), deliver_at,
        body.parent_id, body.causation_id, or_null(body.tenant), or_null(body.order_key),
        or_null(body.dedupe_key), body.priority, body.content_type, checksum_of(body));
    if (stored && stored->changed() == 0) return swallowed("outbox_messages");
    if (stored) return insert.inserted();
    if (insert.hit_a_unique_key()) return std::unexpected(duplicate_of(body));
    return std::unexpected(stored.error());
}

}  // namespace posthorn::sqlite
