-- The tables of webhooks at step 2, as the program made them then, and a few rows: for a file of the
-- store's step 9.
BEGIN TRANSACTION;
CREATE TABLE webhook_subscriptions ( id TEXT NOT NULL PRIMARY KEY, tenant TEXT, event_type TEXT NOT NULL DEFAULT '*', url TEXT NOT NULL, secret TEXT NOT NULL, previous_secret TEXT, previous_until INTEGER, state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'disabled')), reason TEXT, style TEXT NOT NULL DEFAULT 'standard' CHECK (style IN ('standard', 'outbox', 'both')), form TEXT NOT NULL DEFAULT 'envelope' CHECK (form IN ('envelope', 'raw', 'thin')), max_retries INTEGER NOT NULL DEFAULT 5, timeout_seconds INTEGER NOT NULL DEFAULT 30, headers TEXT, filter TEXT, description TEXT, created_at INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)), updated_at INTEGER) WITHOUT ROWID;
INSERT INTO webhook_subscriptions VALUES('01900000-0000-7000-8000-0000000000a1','acme','order.*','https://shop.example/hook','whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',NULL,NULL,'active',NULL,'standard','envelope',3,30,NULL,NULL,NULL,1719792000000,NULL);
CREATE TABLE webhook_attempts ( seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, message_id TEXT NOT NULL, subscription_id TEXT NOT NULL, attempt INTEGER NOT NULL, status INTEGER NOT NULL, http_status INTEGER, answer TEXT, error TEXT, duration_ms INTEGER NOT NULL DEFAULT 0, at INTEGER NOT NULL);
INSERT INTO webhook_attempts VALUES(1,'01900000-0000-5000-8000-0000000000b1','01900000-0000-7000-8000-000000000002','01900000-0000-7000-8000-0000000000a1',1,1,204,NULL,NULL,0,1719792000000);
CREATE TABLE webhook_failing ( subscription_id TEXT NOT NULL PRIMARY KEY, since INTEGER NOT NULL, last INTEGER NOT NULL, failures INTEGER NOT NULL, told INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE INDEX idx_webhook_type ON webhook_subscriptions (event_type, state);
CREATE INDEX idx_webhook_tenant ON webhook_subscriptions (tenant, state) WHERE tenant IS NOT NULL;
CREATE INDEX idx_webhook_attempts_message ON webhook_attempts (message_id, subscription_id);
CREATE INDEX idx_webhook_attempts_subscription ON webhook_attempts (subscription_id, at);
CREATE INDEX idx_webhook_attempts_at ON webhook_attempts (at);
CREATE TRIGGER webhook_inserted AFTER INSERT ON webhook_subscriptions BEGIN UPDATE posthorn_meta SET value = value + 1 WHERE name = 'webhook_version'; END;
CREATE TRIGGER webhook_updated AFTER UPDATE ON webhook_subscriptions BEGIN UPDATE posthorn_meta SET value = value + 1 WHERE name = 'webhook_version'; END;
CREATE TRIGGER webhook_deleted AFTER DELETE ON webhook_subscriptions BEGIN UPDATE posthorn_meta SET value = value + 1 WHERE name = 'webhook_version'; END;
CREATE INDEX idx_webhook_events ON outbox_messages (created_at, seq) WHERE destination = 'webhooks';
CREATE TABLE webhook_event_types ( name TEXT NOT NULL PRIMARY KEY, description TEXT, schema TEXT, example TEXT, created_at INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)), updated_at INTEGER) WITHOUT ROWID;
CREATE VIEW WebhookSubscriptions AS SELECT id AS Id, tenant AS TenantId, event_type AS EventType, url AS WebhookUrl, secret AS Secret, state = 'active' AS IsActive, max_retries AS MaxRetries, timeout_seconds AS TimeoutSeconds, strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS CreatedAt, strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS UpdatedAt, headers AS CustomHeaders FROM webhook_subscriptions;
INSERT INTO webhook_event_types VALUES('order.paid','An order was paid',NULL,NULL,1719792000000,NULL);
INSERT INTO posthorn_migrations VALUES('webhook',1,1763000000000);
INSERT INTO posthorn_migrations VALUES('webhook',2,1763000000000);
INSERT INTO posthorn_meta VALUES('webhook_version',2);
COMMIT;
