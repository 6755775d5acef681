#pragma once

#include <string_view>

/// The second step of the tables of workflows: children and those who wait for an end, runs that
/// follow one another, Commands that workflows answer, and the versions that a program has.
namespace posthorn {

// `fate` is what becomes of a child when its parent ends; `watched` says that the end is waited for.
// A signal with a correlation id is a Command, which a workflow answers.
inline constexpr std::string_view workflow_step_2_in_file = R"sql(
ALTER TABLE workflow_instances ADD COLUMN parent_run INTEGER;
ALTER TABLE workflow_instances ADD COLUMN fate TEXT;
ALTER TABLE workflow_instances ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_instances ADD COLUMN watched INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_instances ADD COLUMN carried TEXT;
CREATE INDEX IF NOT EXISTS idx_workflow_children ON workflow_instances (parent, instance)
    WHERE parent IS NOT NULL;
CREATE INDEX IF NOT EXISTS idx_workflow_terminations ON workflow_mailbox (instance)
    WHERE kind = 'terminate';
CREATE TABLE IF NOT EXISTS workflow_watches (
    instance INTEGER NOT NULL,
    command INTEGER NOT NULL,
    target INTEGER NOT NULL,
    PRIMARY KEY (instance, command)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS idx_workflow_watches ON workflow_watches (target);
ALTER TABLE workflow_signals ADD COLUMN correlation_id TEXT;
ALTER TABLE workflow_signals ADD COLUMN tenant TEXT;
ALTER TABLE workflow_signals ADD COLUMN expires_at INTEGER;
CREATE TABLE IF NOT EXISTS workflow_requests (
    instance INTEGER NOT NULL,
    command INTEGER NOT NULL,
    signal INTEGER NOT NULL,
    PRIMARY KEY (instance, command)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS idx_workflow_requests ON workflow_requests (signal);
CREATE TABLE IF NOT EXISTS workflow_versions (
    workflow TEXT NOT NULL,
    version INTEGER NOT NULL,
    linked INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (workflow, version)) WITHOUT ROWID;
)sql";

inline constexpr std::string_view workflow_step_2_on_server = R"sql(
ALTER TABLE {s}.workflow_instances ADD COLUMN parent_run bigint, ADD COLUMN fate text,
    ADD COLUMN depth bigint NOT NULL DEFAULT 0, ADD COLUMN watched bigint NOT NULL DEFAULT 0,
    ADD COLUMN carried text;
CREATE INDEX workflow_children ON {s}.workflow_instances (parent, instance)
    WHERE parent IS NOT NULL;
CREATE INDEX workflow_terminations ON {s}.workflow_mailbox (instance) WHERE kind = 'terminate';
CREATE TABLE {s}.workflow_watches (
    instance bigint NOT NULL,
    command bigint NOT NULL,
    target bigint NOT NULL,
    PRIMARY KEY (instance, command));
CREATE INDEX workflow_watches_target ON {s}.workflow_watches (target);
ALTER TABLE {s}.workflow_signals ADD COLUMN correlation_id text, ADD COLUMN tenant text,
    ADD COLUMN expires_at bigint;
CREATE TABLE {s}.workflow_requests (
    instance bigint NOT NULL,
    command bigint NOT NULL,
    signal bigint NOT NULL,
    PRIMARY KEY (instance, command));
CREATE INDEX workflow_requests_signal ON {s}.workflow_requests (signal);
CREATE TABLE {s}.workflow_versions (
    workflow text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    linked bigint NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (workflow, version));
)sql";

}  // namespace posthorn
