-- The tables of webhooks at step 2, as the program made them then, beside those of the store; {s} stands
-- for the schema.
CREATE TABLE {s}.webhook_subscriptions (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    tenant text,
    event_type text NOT NULL DEFAULT '*',
    url text NOT NULL,
    secret text NOT NULL,
    previous_secret text,
    previous_until bigint,
    state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'disabled')),
    reason text,
    style text NOT NULL DEFAULT 'standard' CHECK (style IN ('standard', 'outbox', 'both')),
    form text NOT NULL DEFAULT 'envelope' CHECK (form IN ('envelope', 'raw', 'thin')),
    max_retries bigint NOT NULL DEFAULT 5,
    timeout_seconds bigint NOT NULL DEFAULT 30,
    headers text,
    filter text,
    description text,
    created_at bigint NOT NULL DEFAULT {s}.to_ms(statement_timestamp()),
    updated_at bigint);
CREATE INDEX webhook_type ON {s}.webhook_subscriptions (event_type, state);
CREATE INDEX webhook_tenant ON {s}.webhook_subscriptions (tenant, state) WHERE tenant IS NOT NULL;
INSERT INTO {s}.posthorn_meta (name, value) VALUES ('webhook_version', '1');
CREATE FUNCTION {s}.webhook_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE {s}.posthorn_meta SET value =
        coalesce(substring(value FROM '^[0-9]{1,15}$'), '0')::bigint + 1
        WHERE name = 'webhook_version';
    RETURN NULL;
END $$;
CREATE TRIGGER webhook_changed AFTER INSERT OR UPDATE OR DELETE ON {s}.webhook_subscriptions
    FOR EACH STATEMENT EXECUTE FUNCTION {s}.webhook_changed();
CREATE TABLE {s}.webhook_attempts (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL,
    message_id text NOT NULL,
    subscription_id text NOT NULL,
    attempt bigint NOT NULL,
    status bigint NOT NULL,
    http_status bigint,
    answer text,
    error text,
    duration_ms bigint NOT NULL DEFAULT 0,
    at bigint NOT NULL) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX webhook_attempts_message ON {s}.webhook_attempts (message_id, subscription_id);
CREATE INDEX webhook_attempts_subscription ON {s}.webhook_attempts (subscription_id, at);
CREATE INDEX webhook_attempts_at ON {s}.webhook_attempts (at);
CREATE TABLE {s}.webhook_failing (
    subscription_id text COLLATE "C" NOT NULL PRIMARY KEY,
    since bigint NOT NULL,
    last bigint NOT NULL,
    failures bigint NOT NULL,
    told bigint NOT NULL DEFAULT 0);
CREATE INDEX webhook_events ON {s}.outbox_messages (created_at, seq)
    WHERE destination = 'webhooks';
CREATE TABLE {s}.webhook_event_types (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    description text,
    schema text,
    example text,
    created_at bigint NOT NULL DEFAULT {s}.to_ms(statement_timestamp()),
    updated_at bigint);
CREATE VIEW {s}."WebhookSubscriptions" AS SELECT id AS "Id", tenant AS "TenantId",
    event_type AS "EventType", url AS "WebhookUrl", secret AS "Secret",
    state = 'active' AS "IsActive", max_retries AS "MaxRetries",
    timeout_seconds AS "TimeoutSeconds", {s}.time_of(created_at) AS "CreatedAt",
    {s}.time_of(updated_at) AS "UpdatedAt", headers AS "CustomHeaders"
    FROM {s}.webhook_subscriptions;
INSERT INTO {s}.posthorn_migrations VALUES ('webhook', 1, 1763000000000),
 ('webhook', 2, 1763000000000);
INSERT INTO {s}.webhook_subscriptions (id, url, secret)
 VALUES ('01900000-0000-7000-8000-0000000000a1', 'https://shop.example/hook',
 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=');
