#include "store/statements/inbox_sql.hpp"

namespace posthorn {
namespace {

constexpr auto find_inbox = both<R"sql(
          SELECT body_hash, processed_at IS NOT NULL, response_payload, claim_until, claim_owner,
              response_checksum
          FROM {s}.inbox_messages
          WHERE source_service_id = ?1 AND message_id = ?2)sql">;

}  // namespace

constinit const inbox_changes_sql inbox_changes_texts{
    .find = find_inbox,
    // Plain on SQLite: UPSERT has a bug with indexes in SQLite 3.40.
    .insert = {.sqlite = R"sql(
          INSERT INTO inbox_messages (source_service_id, message_id, endpoint, body_hash,
              processed_at, expires_at, response_payload, response_checksum)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?))sql",
               .postgres = R"sql(
          INSERT INTO {s}.inbox_messages (source_service_id, message_id, endpoint, body_hash,
              processed_at, expires_at, response_payload, response_checksum)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
          ON CONFLICT (source_service_id, message_id) DO NOTHING RETURNING seq)sql"},
    .claim = {.sqlite = R"sql(
          INSERT INTO inbox_messages (source_service_id, message_id, endpoint, body_hash,
              claim_owner, claim_until, expires_at)
          VALUES (?, ?, ?, ?, ?, ?, ?))sql",
              // Changes nothing of a row that is there, and locks it: another transaction may
              // release that claim, and what is asked next would find nothing.
              .postgres = R"sql(
          INSERT INTO {s}.inbox_messages AS known (source_service_id, message_id, endpoint,
              body_hash, claim_owner, claim_until, expires_at)
          VALUES ($1, $2, $3, $4, $5, $6, $7)
          ON CONFLICT (source_service_id, message_id) DO UPDATE
          SET claim_owner = known.claim_owner WHERE false RETURNING seq)sql"},
    .take_over = both<R"sql(
          UPDATE {s}.inbox_messages SET claim_owner = ?3, claim_until = ?4
          WHERE source_service_id = ?1 AND message_id = ?2 AND processed_at IS NULL
              AND claim_until <= ?5)sql">,
    .respond = both<R"sql(
          UPDATE {s}.inbox_messages SET response_payload = ?3, response_checksum = ?4
          WHERE source_service_id = ?1 AND message_id = ?2)sql">,
    .complete = both<R"sql(
          UPDATE {s}.inbox_messages
          SET processed_at = ?4, response_payload = ?5, expires_at = ?6,
              response_checksum = ?7, claim_owner = NULL, claim_until = NULL
          WHERE source_service_id = ?1 AND message_id = ?2 AND claim_owner = ?3
          RETURNING seq)sql">,
    .release = both<R"sql(
          DELETE FROM {s}.inbox_messages
          WHERE source_service_id = ?1 AND message_id = ?2 AND claim_owner = ?3
              AND processed_at IS NULL)sql">};

constinit const inbox_looks_sql inbox_looks_texts{
    .find = find_inbox, .count = both<"SELECT count(*) FROM {s}.inbox_messages">};

}  // namespace posthorn
