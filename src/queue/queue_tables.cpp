#include <array>

#include "queue/queue.hpp"

namespace posthorn {
namespace {

constexpr std::string_view first =
    "CREATE TABLE IF NOT EXISTS posthorn_queue ("
    // The next number is one more than the highest ever, so the last one there is would be the end.
    " seq INTEGER PRIMARY KEY AUTOINCREMENT"
    " CONSTRAINT seq_in_range CHECK (seq BETWEEN 1 AND 4611686018427387903),"
    " message_id TEXT NOT NULL,"
    " source TEXT NOT NULL,"
    " endpoint TEXT NOT NULL,"
    " message_type TEXT NOT NULL,"
    " correlation_id TEXT,"
    " tenant TEXT,"
    " order_key TEXT,"
    " payload TEXT NOT NULL,"
    " content_type TEXT NOT NULL,"
    " headers TEXT,"
    " received_at INTEGER NOT NULL CHECK (typeof(received_at) = 'integer'),"
    " taken_by TEXT,"
    " taken_until INTEGER NOT NULL DEFAULT 0 CHECK (typeof(taken_until) = 'integer'),"
    " attempts INTEGER NOT NULL DEFAULT 0 CHECK (typeof(attempts) = 'integer'));"
    "CREATE INDEX IF NOT EXISTS idx_queue_endpoint ON posthorn_queue (endpoint, seq);"
    "CREATE INDEX IF NOT EXISTS idx_queue_order ON posthorn_queue (endpoint, order_key, seq)"
    " WHERE order_key IS NOT NULL;";

// What was given up keeps `taken_until` at the end of time, so that statements of before that know
// nothing of `given_up_at` do not take it either. The trigger answers for workers that finish a
// Command with a DELETE of their own; the node, which answers by itself, sets `answered` first.
constexpr std::string_view second = R"sql(
ALTER TABLE posthorn_queue ADD COLUMN given_up_at INTEGER;
ALTER TABLE posthorn_queue ADD COLUMN error TEXT;
ALTER TABLE posthorn_queue ADD COLUMN response TEXT;
ALTER TABLE posthorn_queue ADD COLUMN answered INTEGER NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS idx_queue_tried ON posthorn_queue (taken_until)
    WHERE attempts > 0 AND given_up_at IS NULL;
CREATE INDEX IF NOT EXISTS idx_queue_given_up ON posthorn_queue (endpoint, seq)
    WHERE given_up_at IS NOT NULL;
CREATE TRIGGER IF NOT EXISTS queue_answer AFTER DELETE ON posthorn_queue
WHEN OLD.message_type = 'Command' AND OLD.answered = 0 BEGIN
    INSERT INTO outbox_messages (message_type, destination, endpoint, payload, content_type,
        correlation_id, causation_id, tenant)
    VALUES ('Response', OLD.source, OLD.endpoint, coalesce(OLD.response, 'null'),
        CASE WHEN OLD.response IS NULL OR json_valid(OLD.response)
            THEN 'application/json' ELSE 'text/plain' END,
        coalesce(nullif(OLD.correlation_id, ''), OLD.message_id), OLD.message_id, OLD.tenant);
END;)sql";

constexpr std::array steps{migration{1, first}, migration{2, second}};

constexpr std::string_view first_on_server =
    "CREATE TABLE {s}.posthorn_queue ("
    " seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " message_id text NOT NULL,"
    " source text NOT NULL,"
    " endpoint text NOT NULL,"
    " message_type text NOT NULL,"
    " correlation_id text,"
    " tenant text,"
    " order_key text,"
    " payload text NOT NULL,"
    " content_type text NOT NULL,"
    " headers text,"
    " received_at bigint NOT NULL,"
    " taken_by text,"
    " taken_until bigint NOT NULL DEFAULT 0,"
    " attempts bigint NOT NULL DEFAULT 0)"
    " WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);"
    "CREATE INDEX queue_endpoint ON {s}.posthorn_queue (endpoint, seq);"
    "CREATE INDEX queue_order ON {s}.posthorn_queue (endpoint, order_key, seq)"
    " WHERE order_key IS NOT NULL;";

// A worker needs no right to the outbox for its answer: the function has its owner's.
constexpr std::string_view second_on_server = R"sql(
ALTER TABLE {s}.posthorn_queue ADD COLUMN given_up_at bigint, ADD COLUMN error text,
 ADD COLUMN response text, ADD COLUMN answered bigint NOT NULL DEFAULT 0;
CREATE INDEX queue_tried ON {s}.posthorn_queue (taken_until)
 WHERE attempts > 0 AND given_up_at IS NULL;
CREATE INDEX queue_given_up ON {s}.posthorn_queue (endpoint, seq) WHERE given_up_at IS NOT NULL;
CREATE FUNCTION {s}.queue_answer() RETURNS trigger
 LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$body$
DECLARE
 kind text := 'application/json';
BEGIN
 BEGIN
  PERFORM OLD.response::json;
 EXCEPTION WHEN data_exception THEN
  kind := 'text/plain';
 END;
 INSERT INTO {s}.outbox_messages (message_type, destination, endpoint, payload, content_type,
  correlation_id, causation_id, tenant)
 VALUES ('Response', OLD.source, OLD.endpoint, coalesce(OLD.response, 'null'), kind,
  coalesce(nullif(OLD.correlation_id, ''), OLD.message_id), OLD.message_id, OLD.tenant);
 RETURN NULL;
END
$body$;
CREATE TRIGGER queue_answer AFTER DELETE ON {s}.posthorn_queue FOR EACH ROW
 WHEN (OLD.message_type = 'Command' AND OLD.answered = 0)
 EXECUTE FUNCTION {s}.queue_answer();)sql";

constexpr std::array steps_on_server{migration{1, first_on_server}, migration{2, second_on_server}};

using column = copied_table::column;
using enum copied_table::column::kind;
constexpr std::array columns{column{"seq", number},      column{"message_id"},
                             column{"source"},           column{"endpoint"},
                             column{"message_type"},     column{"correlation_id"},
                             column{"tenant"},           column{"order_key"},
                             column{"payload"},          column{"content_type"},
                             column{"headers"},          column{"received_at", number},
                             column{"taken_by"},         column{"taken_until", number},
                             column{"attempts", number}, column{"given_up_at", number},
                             column{"error", note},      column{"response"},
                             column{"answered", number}};
constexpr std::array copied{
    copied_table{.name = "posthorn_queue", .columns = columns, .numbered_by = "seq"}};

}  // namespace

table_set queue_tables() noexcept {
    return {{"inbox/queue", steps}, {"inbox/queue", steps_on_server}, copied};
}

}  // namespace posthorn
