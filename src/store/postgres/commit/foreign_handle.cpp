#include "store/postgres/commit/foreign_handle.hpp"

#include <libpq-fe.h>

#include "store/postgres/driver/connection.hpp"
#include "store/postgres/driver/failures.hpp"
#include "store/postgres/driver/sql_text.hpp"
#include "store/postgres/tables/outbox_rows.hpp"
#include "store/rows/outbox_rows.hpp"
#include "store/statements/outbox_changes_sql.hpp"
#include "store/swallowed.hpp"

namespace posthorn::postgres {
namespace {

result<rows> ask(pg_conn* handle, std::string_view sql, const std::string& schema,
                 const values& with) {
    std::string text(sql);
    for (auto at = text.find("{s}"); at != std::string::npos; at = text.find("{s}", at))
        text.replace(at, 3, schema);
    constexpr int as_text = 0;
    PGresult* const raw = PQexecParams(handle, text.c_str(), with.size(), with.types(), with.data(),
                                       with.lengths(), with.formats(), as_text);
    rows answer(raw);
    const auto status = PQresultStatus(raw);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return answer;
    if (PQstatus(handle) != CONNECTION_OK) return std::unexpected(lost_failure(handle));
    return std::unexpected(statement_failure(raw, handle, false, {}));
}

result<> require_transaction(pg_conn* handle) {
    if (handle == nullptr || PQstatus(handle) != CONNECTION_OK)
        return fail(error_code::invalid_argument,
                    "the connection is not open; open one to the node's own database");
    if (PQpipelineStatus(handle) != PQ_PIPELINE_OFF)
        return fail(error_code::invalid_argument,
                    "the connection is in pipeline mode; leave it before you send through it");
    if (PQtransactionStatus(handle) == PQTRANS_INTRANS) return {};
    return fail(error_code::no_transaction,
                "there is no open transaction on this connection, or it has failed; BEGIN one, so "
                "that the message commits together with your change, or use node.send");
}

// By what stands in it: the same schema of another database would be another service's.
result<> require_own(pg_conn* handle, const std::string& schema, const foreign_target& where) {
    POSTHORN_LET(there, ask(handle, "SELECT to_regclass($1 || '.posthorn_meta') IS NOT NULL",
                            schema, values::of(schema)));
    if (there.front().integer(0) != 0) {
        POSTHORN_LET(
            owner,
            ask(handle, "SELECT value FROM {s}.posthorn_meta WHERE name = 'service'", schema, {}));
        if (!owner.empty() && owner.front().text(0) == where.service) return {};
    }
    return fail(
        error_code::invalid_argument,
        "the connection is not on the node's own database: its schema {} is not there, or "
        "belongs to another service; open one on that, so that the message commits together "
        "with your change",
        schema);
}

}  // namespace

result<uuid> insert_on(pg_conn* handle, const foreign_target& where, const message& body) {
    POSTHORN_TRY(require_transaction(handle));
    const auto schema = quoted_identifier(where.schema);
    POSTHORN_TRY(require_own(handle, schema, where));
    POSTHORN_LET(known, find_known(body, [&]() -> result<rows> {
                     const auto key = values::of(body.destination, body.dedupe_key);
                     POSTHORN_TRY(ask(handle, outbox_lock_dedupe_sql, schema, key));
                     return ask(handle, outbox_changes_texts.known.postgres, schema, key);
                 }));
    if (known) return known->id;
    const auto with = insert_values(body);
    if (with.has_zero_byte())
        return fail(error_code::invalid_argument,
                    "a text holds a zero byte, which PostgreSQL cannot store; send it as bytes");
    POSTHORN_LET(stored, ask(handle, outbox_insert_sql, schema, with));
    if (stored.empty()) {
        POSTHORN_LET(same, ask(handle, outbox_stored_sql, schema, values::of(body.id)));
        if (same.empty()) return swallowed("outbox_messages");
        return std::unexpected(duplicate_of(body));
    }
    return body.id;
}

}  // namespace posthorn::postgres
