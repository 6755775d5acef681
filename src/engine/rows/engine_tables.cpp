#include "engine/rows/engine_tables.hpp"

#include <array>

#include "engine/rows/second_step.hpp"
#include "engine/rows/third_step.hpp"

namespace posthorn {
namespace {

// A program in any language starts a workflow with one row of workflow_instances, and tells a signal
// with one of workflow_signals; the other columns have defaults. `indexed_to` of a shape is how far
// unclaimed signals can be found by it; NULL is all of them.
constexpr std::string_view file_tables = R"sql(
CREATE TABLE IF NOT EXISTS workflow_instances (
    instance INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(4)) || '-' || hex(randomblob(2))
        || '-4' || substr(hex(randomblob(2)), 2) || '-'
        || substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2)
        || '-' || hex(randomblob(6)))),
    workflow TEXT NOT NULL CHECK (workflow <> ''),
    version INTEGER NOT NULL DEFAULT 0,
    id TEXT NOT NULL CHECK (id <> ''),
    run INTEGER NOT NULL DEFAULT 1,
    status TEXT NOT NULL DEFAULT 'starting' CHECK (status IN ('starting', 'running', 'paused',
        'quarantined', 'completed', 'failed', 'cancelled')),
    tenant TEXT,
    parent INTEGER,
    arguments TEXT NOT NULL DEFAULT '[]',
    started_at INTEGER NOT NULL
        DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
    ended_at INTEGER,
    result TEXT,
    reason TEXT);
CREATE UNIQUE INDEX IF NOT EXISTS idx_workflow_ids ON workflow_instances (workflow, id);
CREATE INDEX IF NOT EXISTS idx_workflow_open ON workflow_instances (workflow, version, status)
    WHERE status IN ('starting', 'running', 'paused', 'quarantined');
CREATE INDEX IF NOT EXISTS idx_workflow_starting ON workflow_instances (instance)
    WHERE status = 'starting';
CREATE INDEX IF NOT EXISTS idx_workflow_status ON workflow_instances (status, ended_at);
CREATE TABLE IF NOT EXISTS workflow_history (
    instance INTEGER NOT NULL,
    run INTEGER NOT NULL,
    step INTEGER NOT NULL,
    at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    cause TEXT NOT NULL,
    command INTEGER NOT NULL,
    payload TEXT NOT NULL,
    did TEXT NOT NULL,
    state TEXT,
    PRIMARY KEY (instance, run, step)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS idx_workflow_states ON workflow_history (instance, run, step)
    WHERE state IS NOT NULL;
CREATE TABLE IF NOT EXISTS workflow_mailbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    instance INTEGER NOT NULL,
    command INTEGER NOT NULL DEFAULT 0,
    kind TEXT NOT NULL,
    payload TEXT,
    signal INTEGER,
    alone INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS idx_workflow_mailbox ON workflow_mailbox (instance, seq);
CREATE TABLE IF NOT EXISTS workflow_calls (
    instance INTEGER NOT NULL,
    command INTEGER NOT NULL,
    destination TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    undoes INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (instance, command)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS workflow_waits (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    instance INTEGER NOT NULL,
    command INTEGER NOT NULL,
    signal TEXT NOT NULL,
    shape TEXT NOT NULL,
    key TEXT NOT NULL,
    terms TEXT NOT NULL,
    exclusive INTEGER NOT NULL DEFAULT 0,
    taken INTEGER NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX IF NOT EXISTS idx_workflow_waits_command ON workflow_waits (instance, command);
CREATE INDEX IF NOT EXISTS idx_workflow_waits ON workflow_waits (signal, shape, key)
    WHERE taken = 0;
CREATE TABLE IF NOT EXISTS workflow_timers (
    due_at INTEGER NOT NULL,
    instance INTEGER NOT NULL,
    command INTEGER NOT NULL,
    PRIMARY KEY (due_at, instance, command)) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS idx_workflow_timers ON workflow_timers (instance, command);
CREATE TABLE IF NOT EXISTS workflow_runs (
    instance INTEGER NOT NULL,
    command INTEGER NOT NULL,
    PRIMARY KEY (instance, command)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS workflow_signals (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT,
    message_id TEXT,
    signal TEXT NOT NULL CHECK (signal <> ''),
    payload TEXT NOT NULL,
    workflow TEXT,
    id TEXT,
    received_at INTEGER NOT NULL
        DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
    matched_at INTEGER);
CREATE INDEX IF NOT EXISTS idx_workflow_unmatched ON workflow_signals (seq)
    WHERE matched_at IS NULL;
CREATE INDEX IF NOT EXISTS idx_workflow_signals ON workflow_signals (received_at);
CREATE TABLE IF NOT EXISTS workflow_unclaimed (
    signal TEXT NOT NULL,
    shape TEXT NOT NULL,
    key TEXT NOT NULL,
    seq INTEGER NOT NULL,
    instance INTEGER NOT NULL DEFAULT 0,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (signal, shape, key, seq)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS idx_workflow_unclaimed ON workflow_unclaimed (seq);
CREATE INDEX IF NOT EXISTS idx_workflow_expiry ON workflow_unclaimed (expires_at);
CREATE TABLE IF NOT EXISTS workflow_shapes (
    signal TEXT NOT NULL,
    shape TEXT NOT NULL,
    indexed_to INTEGER,
    PRIMARY KEY (signal, shape)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS idx_workflow_shapes ON workflow_shapes (signal, shape)
    WHERE indexed_to IS NOT NULL;
)sql";

constexpr std::array file_steps{migration{1, file_tables}, migration{2, workflow_step_2_in_file},
                                migration{3, workflow_step_3_in_file}};

constexpr std::string_view server_tables = R"sql(
CREATE TABLE {s}.workflow_instances (
    instance bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uuid text COLLATE "C" NOT NULL UNIQUE DEFAULT gen_random_uuid()::text,
    workflow text COLLATE "C" NOT NULL CHECK (workflow <> ''),
    version bigint NOT NULL DEFAULT 0,
    id text COLLATE "C" NOT NULL CHECK (id <> ''),
    run bigint NOT NULL DEFAULT 1,
    status text NOT NULL DEFAULT 'starting' CHECK (status IN ('starting', 'running', 'paused',
        'quarantined', 'completed', 'failed', 'cancelled')),
    tenant text,
    parent bigint,
    arguments text NOT NULL DEFAULT '[]',
    started_at bigint NOT NULL DEFAULT {s}.to_ms(statement_timestamp()),
    ended_at bigint,
    result text,
    reason text);
CREATE UNIQUE INDEX workflow_ids ON {s}.workflow_instances (workflow, id);
CREATE INDEX workflow_open ON {s}.workflow_instances (workflow, version, status)
    WHERE status IN ('starting', 'running', 'paused', 'quarantined');
CREATE INDEX workflow_starting ON {s}.workflow_instances (instance) WHERE status = 'starting';
CREATE INDEX workflow_status ON {s}.workflow_instances (status, ended_at);
CREATE TABLE {s}.workflow_history (
    instance bigint NOT NULL,
    run bigint NOT NULL,
    step bigint NOT NULL,
    at bigint NOT NULL,
    version bigint NOT NULL,
    cause text NOT NULL,
    command bigint NOT NULL,
    payload text NOT NULL,
    did text NOT NULL,
    state text,
    PRIMARY KEY (instance, run, step));
CREATE INDEX workflow_states ON {s}.workflow_history (instance, run, step)
    WHERE state IS NOT NULL;
CREATE TABLE {s}.workflow_mailbox (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    instance bigint NOT NULL,
    command bigint NOT NULL DEFAULT 0,
    kind text NOT NULL,
    payload text,
    signal bigint,
    alone bigint NOT NULL DEFAULT 0) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX workflow_mailbox_instance ON {s}.workflow_mailbox (instance, seq);
CREATE TABLE {s}.workflow_calls (
    instance bigint NOT NULL,
    command bigint NOT NULL,
    destination text NOT NULL,
    endpoint text NOT NULL,
    undoes bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (instance, command));
CREATE TABLE {s}.workflow_waits (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    instance bigint NOT NULL,
    command bigint NOT NULL,
    signal text COLLATE "C" NOT NULL,
    shape text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    terms text NOT NULL,
    exclusive bigint NOT NULL DEFAULT 0,
    taken bigint NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX workflow_waits_command ON {s}.workflow_waits (instance, command);
CREATE INDEX workflow_waits_key ON {s}.workflow_waits (signal, shape, key) WHERE taken = 0;
CREATE TABLE {s}.workflow_timers (
    due_at bigint NOT NULL,
    instance bigint NOT NULL,
    command bigint NOT NULL,
    PRIMARY KEY (due_at, instance, command));
CREATE UNIQUE INDEX workflow_timers_command ON {s}.workflow_timers (instance, command);
CREATE TABLE {s}.workflow_runs (
    instance bigint NOT NULL,
    command bigint NOT NULL,
    PRIMARY KEY (instance, command));
CREATE TABLE {s}.workflow_signals (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source text,
    message_id text,
    signal text COLLATE "C" NOT NULL CHECK (signal <> ''),
    payload text NOT NULL,
    workflow text,
    id text,
    received_at bigint NOT NULL DEFAULT {s}.to_ms(statement_timestamp()),
    matched_at bigint);
CREATE INDEX workflow_unmatched ON {s}.workflow_signals (seq) WHERE matched_at IS NULL;
CREATE INDEX workflow_signals_received ON {s}.workflow_signals (received_at);
CREATE TABLE {s}.workflow_unclaimed (
    signal text COLLATE "C" NOT NULL,
    shape text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    instance bigint NOT NULL DEFAULT 0,
    expires_at bigint NOT NULL,
    PRIMARY KEY (signal, shape, key, seq));
CREATE INDEX workflow_unclaimed_seq ON {s}.workflow_unclaimed (seq);
CREATE INDEX workflow_unclaimed_expiry ON {s}.workflow_unclaimed (expires_at);
CREATE TABLE {s}.workflow_shapes (
    signal text COLLATE "C" NOT NULL,
    shape text COLLATE "C" NOT NULL,
    indexed_to bigint,
    PRIMARY KEY (signal, shape));
CREATE INDEX workflow_shapes_part ON {s}.workflow_shapes (signal, shape)
    WHERE indexed_to IS NOT NULL;
)sql";

constexpr std::array server_steps{migration{1, server_tables},
                                  migration{2, workflow_step_2_on_server},
                                  migration{3, workflow_step_3_on_server}};

using column = copied_table::column;
constexpr auto a_number = column::kind::number;
constexpr auto a_note = column::kind::note;

constexpr std::array instance_columns{column{"instance", a_number},
                                      column{"uuid"},
                                      column{"workflow"},
                                      column{"version", a_number},
                                      column{"id"},
                                      column{"run", a_number},
                                      column{"status"},
                                      column{"tenant"},
                                      column{"parent", a_number},
                                      column{"arguments"},
                                      column{"started_at", a_number},
                                      column{"ended_at", a_number},
                                      column{"result"},
                                      column{"reason", a_note},
                                      column{"parent_run", a_number},
                                      column{"fate"},
                                      column{"depth", a_number},
                                      column{"watched", a_number},
                                      column{"carried"},
                                      column{"trace", a_note}};
constexpr std::array history_columns{column{"instance", a_number},
                                     column{"run", a_number},
                                     column{"step", a_number},
                                     column{"at", a_number},
                                     column{"version", a_number},
                                     column{"cause"},
                                     column{"command", a_number},
                                     column{"payload"},
                                     column{"did"},
                                     column{"state"}};
constexpr std::array mailbox_columns{column{"seq", a_number},     column{"instance", a_number},
                                     column{"command", a_number}, column{"kind"},
                                     column{"payload"},           column{"signal", a_number},
                                     column{"alone", a_number}};
constexpr std::array call_columns{column{"instance", a_number}, column{"command", a_number},
                                  column{"destination"}, column{"endpoint"},
                                  column{"undoes", a_number}};
constexpr std::array wait_columns{column{"seq", a_number},
                                  column{"instance", a_number},
                                  column{"command", a_number},
                                  column{"signal"},
                                  column{"shape"},
                                  column{"key"},
                                  column{"terms"},
                                  column{"exclusive", a_number},
                                  column{"taken", a_number}};
constexpr std::array timer_columns{column{"due_at", a_number}, column{"instance", a_number},
                                   column{"command", a_number}};
constexpr std::array run_columns{column{"instance", a_number}, column{"command", a_number}};
constexpr std::array signal_columns{column{"seq", a_number},
                                    column{"source"},
                                    column{"message_id"},
                                    column{"signal"},
                                    column{"payload"},
                                    column{"workflow"},
                                    column{"id"},
                                    column{"received_at", a_number},
                                    column{"matched_at", a_number},
                                    column{"correlation_id"},
                                    column{"tenant"},
                                    column{"expires_at", a_number},
                                    column{"trace", a_note}};
constexpr std::array unclaimed_columns{column{"seq", a_number},
                                       column{"signal"},
                                       column{"shape"},
                                       column{"key"},
                                       column{"instance", a_number},
                                       column{"expires_at", a_number}};
constexpr std::array shape_columns{column{"signal"}, column{"shape"},
                                   column{"indexed_to", a_number}};
constexpr std::array watch_columns{column{"instance", a_number}, column{"command", a_number},
                                   column{"target", a_number}};
constexpr std::array request_columns{column{"instance", a_number}, column{"command", a_number},
                                     column{"signal", a_number}};
constexpr std::array version_columns{column{"version", a_number}, column{"workflow"},
                                     column{"linked", a_number}, column{"at", a_number}};

// What is ordered by a text needs the same order on both, so numbers come first where there are any.
constexpr std::array copied{
    copied_table{
        .name = "workflow_instances", .columns = instance_columns, .numbered_by = "instance"},
    copied_table{.name = "workflow_history", .columns = history_columns, .and_by = "run, step"},
    copied_table{.name = "workflow_mailbox", .columns = mailbox_columns, .numbered_by = "seq"},
    copied_table{.name = "workflow_calls", .columns = call_columns, .and_by = "command"},
    copied_table{.name = "workflow_waits", .columns = wait_columns, .numbered_by = "seq"},
    copied_table{
        .name = "workflow_timers", .columns = timer_columns, .and_by = "instance, command"},
    copied_table{.name = "workflow_runs", .columns = run_columns, .and_by = "command"},
    copied_table{.name = "workflow_signals", .columns = signal_columns, .numbered_by = "seq"},
    copied_table{
        .name = "workflow_unclaimed", .columns = unclaimed_columns, .and_by = "shape, key"},
    copied_table{.name = "workflow_shapes", .columns = shape_columns, .and_by = "shape"},
    copied_table{.name = "workflow_watches", .columns = watch_columns, .and_by = "command"},
    copied_table{.name = "workflow_requests", .columns = request_columns, .and_by = "command"},
    copied_table{.name = "workflow_versions", .columns = version_columns, .and_by = "workflow"},
};

}  // namespace

table_set engine_tables() noexcept {
    return {{"workflow", file_steps}, {"workflow", server_steps}, copied};
}

}  // namespace posthorn
