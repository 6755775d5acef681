#pragma once

#include <array>
#include <string_view>

namespace posthorn {

/// The third step of the tables of webhooks, in a file: the views of the outbox under the names of
/// the webhook document have the deliveries of events. A change to those views by the store has to
/// come here too.
///
/// No index leads from an event to its deliveries, for which every delivery would pay: a question
/// takes one pass over all of them.
inline constexpr std::string_view webhook_step_3_in_file = R"sql(
-- An event is 2 Published when all of its deliveries are made, as long as some of them wait; then
-- 3 Delivered if all were, 5 DeadLettered if none was, 4 Failed if only some or a person closed it.
-- Of other messages: 0 Pending, 3 Delivered, 4 Failed, 5 DeadLettered.
CREATE VIEW IF NOT EXISTS OutboxMessages AS
    SELECT message_id AS Id, endpoint AS EventType, payload AS Payload,
        correlation_id AS CorrelationId,
        CASE WHEN length(trace) = 55 AND substr(trace, 3, 1) || substr(trace, 36, 1) = '--'
            AND substr(trace, 4, 32) NOT GLOB '*[^0-9a-f]*' THEN substr(trace, 4, 32) END
            AS TraceId,
        CASE WHEN told.event IS NULL THEN
                CASE status WHEN 'Pending' THEN 0 WHEN 'Sent' THEN 3 WHEN 'Dead' THEN 5 ELSE 4 END
            WHEN told.waiting > 0 THEN 2
            WHEN told.exhausted = 0 AND told.delivered > 0 THEN 3
            WHEN told.exhausted > 0 AND told.delivered = 0 THEN 5 ELSE 4 END AS Status,
        coalesce(told.retries, retry_count) AS RetryCount,
        strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS CreatedAt,
        strftime('%Y-%m-%dT%H:%M:%fZ', CASE WHEN told.event IS NULL THEN sent_at
            WHEN told.waiting + told.exhausted = 0 THEN told.delivered_at END / 1000.0,
            'unixepoch') AS ProcessedAt,
        NULL AS LockedUntil, NULL AS LockedBy,
        strftime('%Y-%m-%dT%H:%M:%fZ', CASE WHEN told.event IS NOT NULL THEN told.retry_at
            WHEN status = 'Pending' AND next_retry_at > 0 THEN next_retry_at END / 1000.0,
            'unixepoch') AS NextRetryAt,
        coalesce(told.why, last_error) AS LastError, headers AS Headers, tenant AS TenantId,
        CASE WHEN json_valid(headers) THEN json_extract(headers, '$."user-id"') END AS UserId,
        CASE WHEN destination = 'webhooks' AND colon BETWEEN 2 AND 8
            AND substr(order_key, 1, colon - 1) NOT GLOB '*[^0-9]*'
            AND substr(CAST(order_key AS BLOB), colon + substr(order_key, 1, colon - 1) + 1, 1)
                = x'2c'
            THEN nullif(CAST(substr(CAST(order_key AS BLOB),
                colon + substr(order_key, 1, colon - 1) + 2) AS TEXT), '')
            ELSE order_key END AS EntityId
    FROM (SELECT *, CASE WHEN json_valid(headers)
                THEN json_extract(headers, '$."traceparent"') END AS trace,
            instr(order_key, ':') AS colon
          FROM outbox_messages WHERE destination NOT GLOB 'webhook:*') AS of_all
    LEFT JOIN (SELECT parent_id AS event, sum(status = 'Pending') AS waiting,
            sum(status = 'Sent') AS delivered,
            sum(status = 'Dead' OR status = 'Expired') AS exhausted,
            max(retry_count) AS retries, max(sent_at) AS delivered_at,
            min(CASE WHEN status = 'Pending' AND next_retry_at > 0 THEN next_retry_at END)
                AS retry_at,
            max(CASE WHEN status <> 'Sent' THEN last_error END) AS why
          FROM outbox_messages WHERE destination GLOB 'webhook:*' AND parent_id IS NOT NULL
          GROUP BY parent_id) AS told
        ON told.event = message_id AND destination = 'webhooks' AND status = 'Sent';

-- 1 Success, 2 Failed, 3 DeadLettered: requests to subscribers, then what failed without a request,
-- then other messages. Of those that succeeded the message's being Sent tells.
CREATE VIEW IF NOT EXISTS DeliveryAttempts AS
    SELECT made.id AS Id, made.message_id AS OutboxMessageId,
        made.subscription_id AS WebhookSubscriptionId, made.attempt AS AttemptNumber,
        made.status AS Status, made.http_status AS HttpStatusCode, made.answer AS ResponseBody,
        made.error AS ErrorMessage, made.duration_ms AS DurationMs,
        strftime('%Y-%m-%dT%H:%M:%fZ', made.at / 1000.0, 'unixepoch') AS AttemptedAt,
        CASE WHEN NOT EXISTS (SELECT 1 FROM webhook_attempts AS later
                WHERE later.message_id = made.message_id
                    AND later.subscription_id = made.subscription_id AND later.seq > made.seq)
            THEN strftime('%Y-%m-%dT%H:%M:%fZ', waiting.retry_at / 1000.0, 'unixepoch') END
            AS NextRetryAt
    FROM webhook_attempts AS made
    LEFT JOIN (SELECT parent_id AS event, destination AS lane, min(next_retry_at) AS retry_at
          FROM outbox_messages WHERE status = 'Pending' AND next_retry_at > 0
              AND destination GLOB 'webhook:*' AND parent_id IS NOT NULL
          GROUP BY parent_id, destination) AS waiting
        ON waiting.event = made.message_id AND waiting.lane = 'webhook:' || made.subscription_id
    UNION ALL
    SELECT message_id || ':' || attempt,
        CASE WHEN subscription IS NULL THEN message_id ELSE parent_id END, subscription, attempt,
        CASE WHEN status = 'Dead' AND is_last THEN 3 ELSE 2 END, NULL, NULL, error, NULL,
        strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch'),
        CASE WHEN status = 'Pending' AND is_last AND next_retry_at > 0
            THEN strftime('%Y-%m-%dT%H:%M:%fZ', next_retry_at / 1000.0, 'unixepoch') END
    FROM (SELECT seq, attempt, at, error, NOT EXISTS (SELECT 1 FROM outbox_attempts AS later
            WHERE later.seq = tried.seq AND later.attempt > tried.attempt) AS is_last
          FROM outbox_attempts AS tried) AS tried
    JOIN (SELECT seq, message_id, parent_id, status, next_retry_at,
            CASE WHEN destination GLOB 'webhook:*' AND parent_id IS NOT NULL
                THEN substr(destination, 9) END AS subscription
          FROM outbox_messages) USING (seq)
    WHERE subscription IS NULL OR NOT EXISTS (SELECT 1 FROM webhook_attempts AS told
        WHERE told.message_id = parent_id AND told.subscription_id = subscription
            AND told.attempt = tried.attempt)
    UNION ALL
    SELECT message_id || ':' || attempt,
        CASE WHEN subscription IS NULL THEN message_id ELSE parent_id END, subscription, attempt, 1,
        NULL, NULL, NULL, NULL,
        strftime('%Y-%m-%dT%H:%M:%fZ', sent_at / 1000.0, 'unixepoch'), NULL
    FROM (SELECT message_id, parent_id, sent_at,
            CASE WHEN destination GLOB 'webhook:*' AND parent_id IS NOT NULL
                THEN substr(destination, 9) END AS subscription,
            coalesce((SELECT max(attempt) FROM outbox_attempts AS tried
                WHERE tried.seq = sent.seq), 0) + 1 AS attempt
          FROM outbox_messages AS sent WHERE status = 'Sent' AND destination <> 'webhooks')
    WHERE subscription IS NULL OR NOT EXISTS (SELECT 1 FROM webhook_attempts AS told
        WHERE told.message_id = parent_id AND told.subscription_id = subscription
            AND told.status = 1);
)sql";

inline constexpr std::array<std::string_view, 2> webhook_step_3_remade{"OutboxMessages",
                                                                       "DeliveryAttempts"};

/// The same on a server.
inline constexpr std::string_view webhook_step_3_on_server = R"sql(
CREATE OR REPLACE VIEW {s}."OutboxMessages" AS SELECT m.message_id AS "Id",
 m.endpoint AS "EventType", coalesce(m.payload, encode(m.payload_bytes, 'escape')) AS "Payload",
 m.correlation_id AS "CorrelationId",
 substring({s}.header_of(m.headers, 'traceparent')
  FROM '^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$') AS "TraceId",
 CASE WHEN told.event IS NULL THEN CASE m.status WHEN 'Sent' THEN 3 WHEN 'Dead' THEN 5
   WHEN 'Pending' THEN CASE WHEN sender.owner IS NULL THEN 0 ELSE 1 END ELSE 4 END
  WHEN told.waiting > 0 THEN 2
  WHEN told.exhausted = 0 AND told.delivered > 0 THEN 3
  WHEN told.exhausted > 0 AND told.delivered = 0 THEN 5 ELSE 4 END AS "Status",
 coalesce(told.retries, m.retry_count) AS "RetryCount", {s}.time_of(m.created_at) AS "CreatedAt",
 {s}.time_of(CASE WHEN told.event IS NULL THEN m.sent_at
  WHEN told.waiting + told.exhausted = 0 THEN told.delivered_at END) AS "ProcessedAt",
 NULL::timestamptz AS "LockedUntil", sender.owner AS "LockedBy",
 {s}.time_of(CASE WHEN told.event IS NOT NULL THEN told.retry_at
  WHEN m.status = 'Pending' AND m.next_retry_at > 0 THEN m.next_retry_at END) AS "NextRetryAt",
 coalesce(told.why, m.last_error) AS "LastError", m.headers AS "Headers", m.tenant AS "TenantId",
 {s}.header_of(m.headers, 'user-id') AS "UserId",
 CASE WHEN m.destination = 'webhooks' AND m.order_key ~ '^[0-9]{1,7}:'
  THEN (SELECT CASE WHEN substring(whole FROM size + digits + 2 FOR 1) = '\x2c'::bytea
    THEN nullif(convert_from(substring(whole FROM size + digits + 3), 'UTF8'), '')
     COLLATE "default"
    ELSE m.order_key END
   FROM (SELECT convert_to(m.order_key, 'UTF8') AS whole,
     length(split_part(m.order_key, ':', 1)) AS digits,
     split_part(m.order_key, ':', 1)::integer AS size) AS parts)
  ELSE m.order_key END AS "EntityId"
 FROM {s}.outbox_messages AS m LEFT JOIN {s}.outbox_due AS due USING (seq)
 LEFT JOIN {s}.posthorn_leases AS sender
  ON sender.epoch = due.claim_epoch AND sender.name LIKE 'dispatcher/%'
 LEFT JOIN (SELECT parent_id AS event, count(*) FILTER (WHERE status = 'Pending') AS waiting,
   count(*) FILTER (WHERE status = 'Sent') AS delivered,
   count(*) FILTER (WHERE status IN ('Dead', 'Expired')) AS exhausted,
   max(retry_count) AS retries, max(sent_at) AS delivered_at,
   min(next_retry_at) FILTER (WHERE status = 'Pending' AND next_retry_at > 0) AS retry_at,
   max(last_error) FILTER (WHERE status <> 'Sent') AS why
  FROM {s}.outbox_messages WHERE starts_with(destination, 'webhook:') AND parent_id IS NOT NULL
  GROUP BY parent_id) AS told
  ON told.event = m.message_id AND m.destination = 'webhooks' AND m.status = 'Sent'
 WHERE NOT starts_with(m.destination, 'webhook:');
CREATE OR REPLACE VIEW {s}."DeliveryAttempts" AS
 SELECT made.id AS "Id", made.message_id AS "OutboxMessageId",
  made.subscription_id AS "WebhookSubscriptionId", made.attempt AS "AttemptNumber",
  CASE WHEN made.status BETWEEN 0 AND 3 THEN made.status::integer END AS "Status",
  CASE WHEN made.http_status BETWEEN 0 AND 999 THEN made.http_status::integer END
   AS "HttpStatusCode",
  made.answer AS "ResponseBody", made.error AS "ErrorMessage", made.duration_ms AS "DurationMs",
  {s}.time_of(made.at) AS "AttemptedAt",
  CASE WHEN NOT EXISTS (SELECT 1 FROM {s}.webhook_attempts AS later
    WHERE later.message_id = made.message_id AND later.subscription_id = made.subscription_id
     AND later.seq > made.seq) THEN {s}.time_of(waiting.retry_at) END AS "NextRetryAt"
 FROM {s}.webhook_attempts AS made
 LEFT JOIN (SELECT parent_id AS event, destination AS lane, min(next_retry_at) AS retry_at
  FROM {s}.outbox_messages WHERE status = 'Pending' AND next_retry_at > 0
   AND starts_with(destination, 'webhook:') AND parent_id IS NOT NULL
  GROUP BY parent_id, destination) AS waiting
  ON waiting.event = made.message_id AND waiting.lane = 'webhook:' || made.subscription_id
 UNION ALL
 SELECT m.message_id || ':' || tried.attempt,
  CASE WHEN m.subscription IS NULL THEN m.message_id ELSE m.parent_id END, m.subscription,
  tried.attempt, CASE WHEN m.status = 'Dead' AND tried.is_last THEN 3 ELSE 2 END, NULL, NULL,
  tried.error, NULL, {s}.time_of(tried.at),
  CASE WHEN m.status = 'Pending' AND tried.is_last AND m.next_retry_at > 0
   THEN {s}.time_of(m.next_retry_at) END
 FROM (SELECT seq, attempt, at, error, NOT EXISTS (SELECT 1 FROM {s}.outbox_attempts AS later
   WHERE later.seq = each.seq AND later.attempt > each.attempt) AS is_last
  FROM {s}.outbox_attempts AS each) AS tried
 JOIN (SELECT seq, message_id, parent_id, status, next_retry_at,
   CASE WHEN starts_with(destination, 'webhook:') AND parent_id IS NOT NULL
    THEN substr(destination, 9) END AS subscription
  FROM {s}.outbox_messages) AS m USING (seq)
 WHERE m.subscription IS NULL OR NOT EXISTS (SELECT 1 FROM {s}.webhook_attempts AS told
  WHERE told.message_id = m.parent_id AND told.subscription_id = m.subscription
   AND told.attempt = tried.attempt)
 UNION ALL
 SELECT m.message_id || ':' || m.attempt,
  CASE WHEN m.subscription IS NULL THEN m.message_id ELSE m.parent_id END, m.subscription,
  m.attempt, 1, NULL, NULL, NULL, NULL, {s}.time_of(m.sent_at), NULL
 FROM (SELECT message_id, parent_id, sent_at,
   CASE WHEN starts_with(destination, 'webhook:') AND parent_id IS NOT NULL
    THEN substr(destination, 9) END AS subscription,
   coalesce((SELECT max(attempt) FROM {s}.outbox_attempts AS tried WHERE tried.seq = sent.seq), 0)
    + 1 AS attempt
  FROM {s}.outbox_messages AS sent WHERE status = 'Sent' AND destination <> 'webhooks') AS m
 WHERE m.subscription IS NULL OR NOT EXISTS (SELECT 1 FROM {s}.webhook_attempts AS told
  WHERE told.message_id = m.parent_id AND told.subscription_id = m.subscription
   AND told.status = 1);
)sql";

}  // namespace posthorn
