// The outbox under the names of the webhook document. An application may have tables of those names
// in its file, since it had such an outbox before: then they stay, and the views are not made.
#include "store/sqlite/schema/tables_views.hpp"

namespace posthorn::sqlite {

// What a producer with plain SQL has written as headers may be anything.
const std::string_view webhook_views = R"sql(
-- 0 Pending, 3 Delivered, 4 Failed, 5 DeadLettered; what is on its way is known to the node alone.
CREATE VIEW IF NOT EXISTS OutboxMessages AS
    SELECT message_id AS Id, endpoint AS EventType, payload AS Payload,
        correlation_id AS CorrelationId,
        CASE WHEN length(trace) = 55 AND substr(trace, 3, 1) || substr(trace, 36, 1) = '--'
            AND substr(trace, 4, 32) NOT GLOB '*[^0-9a-f]*' THEN substr(trace, 4, 32) END
            AS TraceId,
        CASE status WHEN 'Pending' THEN 0 WHEN 'Sent' THEN 3 WHEN 'Dead' THEN 5 ELSE 4 END
            AS Status,
        retry_count AS RetryCount,
        strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS CreatedAt,
        strftime('%Y-%m-%dT%H:%M:%fZ', sent_at / 1000.0, 'unixepoch') AS ProcessedAt,
        NULL AS LockedUntil, NULL AS LockedBy,
        CASE WHEN status = 'Pending' AND next_retry_at > 0
            THEN strftime('%Y-%m-%dT%H:%M:%fZ', next_retry_at / 1000.0, 'unixepoch') END
            AS NextRetryAt,
        last_error AS LastError, headers AS Headers, tenant AS TenantId,
        CASE WHEN json_valid(headers) THEN json_extract(headers, '$."user-id"') END AS UserId,
        order_key AS EntityId
    FROM (SELECT *, CASE WHEN json_valid(headers)
              THEN json_extract(headers, '$."traceparent"') END AS trace
          FROM outbox_messages);

-- 1 Success, 2 Failed, 3 DeadLettered. Failed attempts have rows of their own; the one that
-- succeeded is what made the message Sent.
CREATE VIEW IF NOT EXISTS DeliveryAttempts AS
    SELECT message_id || ':' || attempt AS Id, message_id AS OutboxMessageId,
     NULL AS WebhookSubscriptionId, attempt AS AttemptNumber,
     CASE WHEN status = 'Dead' AND is_last THEN 3 ELSE 2 END AS Status,
     NULL AS HttpStatusCode, NULL AS ResponseBody, error AS ErrorMessage, NULL AS DurationMs,
     strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS AttemptedAt,
     CASE WHEN status = 'Pending' AND is_last AND next_retry_at > 0
      THEN strftime('%Y-%m-%dT%H:%M:%fZ', next_retry_at / 1000.0, 'unixepoch') END AS NextRetryAt
    FROM (SELECT *, NOT EXISTS (SELECT 1 FROM outbox_attempts AS later
      WHERE later.seq = tried.seq AND later.attempt > tried.attempt) AS is_last
     FROM outbox_attempts AS tried) JOIN outbox_messages USING (seq)
    UNION ALL
    SELECT message_id || ':' || attempt, message_id, NULL, attempt, 1, NULL, NULL, NULL, NULL,
     strftime('%Y-%m-%dT%H:%M:%fZ', sent_at / 1000.0, 'unixepoch'), NULL
    FROM (SELECT message_id, sent_at, coalesce((SELECT max(attempt) FROM outbox_attempts AS tried
      WHERE tried.seq = sent.seq), 0) + 1 AS attempt
     FROM outbox_messages AS sent WHERE status = 'Sent');)sql";

}  // namespace posthorn::sqlite
