// The messages as people and tools like to read them, and under the names of other documents.
#include "store/postgres/schema/tables.hpp"

namespace posthorn::postgres {

const std::string_view view_definitions = R"sql(
-- None beyond the years 1 to 9999, which a producer may have written: one such row would otherwise
-- make a whole view unreadable.
CREATE FUNCTION {s}.time_of(ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN ms BETWEEN -62135596800000 AND 253402300799999
 THEN to_timestamp(ms / 1000.0) END $$;

CREATE FUNCTION {s}.iso(ms bigint) RETURNS text LANGUAGE sql STABLE AS
$$ SELECT to_char({s}.time_of(ms) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

-- None of headers that are not JSON, for the same reason.
CREATE FUNCTION {s}.header_of(headers text, name text) RETURNS text LANGUAGE plpgsql STABLE AS
$$
BEGIN
 IF headers IS NULL THEN RETURN NULL; END IF;
 RETURN headers::json ->> name;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN RETURN NULL;
END $$;

CREATE VIEW {s}.posthorn_outbox AS SELECT seq, message_id, message_type, destination, endpoint,
 status, retry_count, max_retries, last_error, correlation_id, tenant, order_key, payload,
 payload_bytes, headers, resolution, {s}.iso(created_at) AS created_at,
 {s}.iso(expires_at) AS expires_at, {s}.iso(next_retry_at) AS next_retry_at,
 {s}.iso(last_attempt_at) AS last_attempt_at, {s}.iso(sent_at) AS sent_at
 FROM {s}.outbox_messages;
CREATE VIEW {s}.posthorn_inbox AS SELECT source_service_id, message_id, endpoint,
 encode(response_payload, 'escape') AS response_payload, {s}.iso(processed_at) AS processed_at,
 {s}.iso(expires_at) AS expires_at FROM {s}.inbox_messages;

-- The same messages under the other documents' names.
CREATE VIEW {s}.posthorn_events AS SELECT message_id AS "Id", endpoint AS "EventType",
 payload AS "Payload", correlation_id AS "CorrelationId", last_error AS "Error",
 retry_count AS "RetryCount",
 CASE status WHEN 'Sent' THEN 'Published' WHEN 'Dead' THEN 'DeadLetter' ELSE status END AS "Status",
 {s}.iso(created_at) AS "CreatedAt", {s}.iso(sent_at) AS "PublishedAt" FROM {s}.outbox_messages;
CREATE VIEW {s}.posthorn_calls AS SELECT message_id AS "CallId", endpoint AS "MethodName",
 payload AS "Payload", retry_count AS "Retries",
 CASE status WHEN 'Sent' THEN 'Completed' WHEN 'Dead' THEN 'DeadLetter' ELSE status END AS "Status",
 {s}.iso(expires_at) AS "ExpiresAt" FROM {s}.outbox_messages;

-- 0 Pending, 1 Processing, 3 Delivered, 4 Failed, 5 DeadLettered. A claim counts as long as the
-- dispatcher that made it has its seat.
CREATE VIEW {s}."OutboxMessages" AS SELECT m.message_id AS "Id", m.endpoint AS "EventType",
 coalesce(m.payload, encode(m.payload_bytes, 'escape')) AS "Payload",
 m.correlation_id AS "CorrelationId",
 substring({s}.header_of(m.headers, 'traceparent')
  FROM '^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$') AS "TraceId",
 CASE m.status WHEN 'Sent' THEN 3 WHEN 'Dead' THEN 5
  WHEN 'Pending' THEN CASE WHEN sender.owner IS NULL THEN 0 ELSE 1 END ELSE 4 END AS "Status",
 m.retry_count AS "RetryCount", {s}.time_of(m.created_at) AS "CreatedAt",
 {s}.time_of(m.sent_at) AS "ProcessedAt", NULL::timestamptz AS "LockedUntil",
 sender.owner AS "LockedBy",
 CASE WHEN m.status = 'Pending' AND m.next_retry_at > 0 THEN {s}.time_of(m.next_retry_at) END
  AS "NextRetryAt",
 m.last_error AS "LastError", m.headers AS "Headers", m.tenant AS "TenantId",
 {s}.header_of(m.headers, 'user-id') AS "UserId", m.order_key AS "EntityId"
 FROM {s}.outbox_messages AS m LEFT JOIN {s}.outbox_due AS due USING (seq)
 LEFT JOIN {s}.posthorn_leases AS sender
  ON sender.epoch = due.claim_epoch AND sender.name LIKE 'dispatcher/%';

-- 1 Success, 2 Failed, 3 DeadLettered. Failed attempts have rows of their own; the one that succeeded
-- is what made the message Sent.
CREATE VIEW {s}."DeliveryAttempts" AS
 SELECT m.message_id || ':' || a.attempt AS "Id", m.message_id AS "OutboxMessageId",
  NULL::text AS "WebhookSubscriptionId", a.attempt AS "AttemptNumber",
  CASE WHEN m.status = 'Dead' AND a.is_last THEN 3 ELSE 2 END AS "Status",
  NULL::integer AS "HttpStatusCode", NULL::text AS "ResponseBody", a.error AS "ErrorMessage",
  NULL::bigint AS "DurationMs", {s}.time_of(a.at) AS "AttemptedAt",
  CASE WHEN m.status = 'Pending' AND a.is_last AND m.next_retry_at > 0
   THEN {s}.time_of(m.next_retry_at) END AS "NextRetryAt"
 FROM (SELECT seq, attempt, at, error, NOT EXISTS (SELECT 1 FROM {s}.outbox_attempts AS later
   WHERE later.seq = tried.seq AND later.attempt > tried.attempt) AS is_last
  FROM {s}.outbox_attempts AS tried) AS a JOIN {s}.outbox_messages AS m USING (seq)
 UNION ALL
 SELECT m.message_id || ':' || m.attempt, m.message_id, NULL, m.attempt, 1, NULL, NULL, NULL, NULL,
  {s}.time_of(m.sent_at), NULL
 FROM (SELECT message_id, sent_at, coalesce((SELECT max(attempt) FROM {s}.outbox_attempts AS tried
   WHERE tried.seq = sent.seq), 0) + 1 AS attempt
  FROM {s}.outbox_messages AS sent WHERE status = 'Sent') AS m;
)sql";

}  // namespace posthorn::postgres
