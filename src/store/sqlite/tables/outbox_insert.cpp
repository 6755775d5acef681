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
    if (insert.hit_a_unique_key())
        return fail(error_code::duplicate_id,
                    "message {} is in the outbox already; it was stored before, do not send it "
                    "again under this id",
                    body.id.to_string());
    return std::unexpected(stored.error());
}

result<std::optional<enqueued>> find_known(statement& known, const message& body) {
    POSTHORN_LET(found, known.run(body.destination, body.dedupe_key));
    if (found.empty()) return std::nullopt;
    const auto& row = found.front();
    const auto id = uuid::parse(row.text(1));
    if (!id)
        return fail(
            error_code::invalid_argument,
            "the dedupe key belongs to row {} of the outbox, whose id is not a UUID; mend or "
            "delete that row",
            row.integer(0));
    return enqueued{.seq = row.integer(0), .id = *id, .repeated = true};
}

}  // namespace posthorn::sqlite
