#include "store/sqlite/tables/outbox_insert.hpp"

#include <sqlite3.h>

#include "store/rows/outbox_rows.hpp"

namespace posthorn::sqlite {
namespace {

void bind_id(statement& insert, int index, const std::optional<uuid>& id) {
    if (id) return insert.bind(index, *id);
    insert.bind(index, nullptr);
}

}  // namespace

result<std::int64_t> insert_message(statement& insert, const message& body) {
    const reset_at_end reset(insert);
    insert.bind(1, body.id);
    insert.bind_or_null(2, body.correlation_id);
    insert.bind(3, to_string(body.type));
    insert.bind(4, std::string_view(body.destination));
    insert.bind(5, std::string_view(body.endpoint));
    insert.bind(6, std::string_view(body.payload));
    insert.bind_or_null(7, body.headers);
    insert.bind(8, std::int64_t{body.max_retries});
    insert.bind(9, body.deliver_at ? to_ms(*body.deliver_at) : std::int64_t{0});
    insert.bind(10, to_ms(body.created_at));
    insert.bind(11, to_ms(body.expires_at));
    if (body.deliver_at) insert.bind(12, to_ms(*body.deliver_at));
    bind_id(insert, 13, body.parent_id);
    bind_id(insert, 14, body.causation_id);
    insert.bind_or_null(15, body.tenant);
    insert.bind_or_null(16, body.order_key);
    insert.bind_or_null(17, body.dedupe_key);
    insert.bind(18, std::int64_t{body.priority});
    insert.bind(19, std::string_view(body.content_type));
    insert.bind(20, checksum_of(body));
    auto stepped = insert.step();
    sqlite3* const database = sqlite3_db_handle(insert.handle());
    if (stepped) return sqlite3_last_insert_rowid(database);
    if (sqlite3_extended_errcode(database) == SQLITE_CONSTRAINT_UNIQUE)
        return fail(error_code::duplicate_id,
                    "message {} is in the outbox already; it was stored before, do not send it "
                    "again under this id",
                    body.id.to_string());
    return std::unexpected(std::move(stepped).error());
}

result<std::optional<enqueued>> find_known(statement& known, const message& body) {
    const reset_at_end reset(known);
    known.bind(1, std::string_view(body.destination));
    known.bind(2, std::string_view(body.dedupe_key));
    POSTHORN_LET(row, known.step());
    if (!row) return std::nullopt;
    const auto id = uuid::parse(known.text(1));
    if (!id)
        return fail(error_code::invalid_argument,
                    "the dedupe key belongs to row {} of the outbox, whose id is no UUID; mend or "
                    "delete that row",
                    known.integer(0));
    return enqueued{.seq = known.integer(0), .id = *id, .repeated = true};
}

}  // namespace posthorn::sqlite
