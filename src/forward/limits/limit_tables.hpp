#pragma once

#include "base/text/joined.hpp"

namespace posthorn {

/// Beside the tables of what is held: caps by which new work is refused, that of
/// plain SQL too, and what samples say. Without a row in them they cost a look each.
inline constexpr auto forward_limits_in_file = joined(R"sql(
CREATE TABLE IF NOT EXISTS forward_caps (
    category TEXT PRIMARY KEY,  -- Empty: all of them together.
    max_messages INTEGER NOT NULL DEFAULT 0,
    max_bytes INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS forward_capped BEFORE INSERT ON forward_messages
WHEN EXISTS (SELECT 1 FROM forward_caps) BEGIN
    SELECT RAISE(ABORT, 'buffer_full: as much work is held as forward_caps allows')
    FROM forward_caps AS cap WHERE cap.category IN ('', NEW.category) AND (
        (max_messages > 0 AND max_messages < 1 + (SELECT coalesce(sum(waiting + parked), 0)
            FROM forward_totals AS held WHERE cap.category IN ('', held.category)))
        OR (max_bytes > 0 AND max_bytes < NEW.bytes + (SELECT coalesce(sum(bytes), 0)
            FROM forward_totals AS held WHERE cap.category IN ('', held.category))));
END;

CREATE TABLE IF NOT EXISTS forward_samples (
    seq INTEGER PRIMARY KEY,  -- Of its message.
    category TEXT NOT NULL,
    target TEXT NOT NULL,
    sample_key TEXT NOT NULL,
    value TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS idx_forward_samples ON forward_samples (category, target, seq);
CREATE TRIGGER IF NOT EXISTS forward_sample_gone AFTER DELETE ON forward_messages
WHEN EXISTS (SELECT 1 FROM forward_samples WHERE seq = OLD.seq) BEGIN
    DELETE FROM forward_samples WHERE seq = OLD.seq;
END;)sql");

inline constexpr auto forward_limits_on_server = joined(R"sql(
CREATE TABLE {s}.forward_caps (
    category text COLLATE "C" PRIMARY KEY,
    max_messages bigint NOT NULL DEFAULT 0,
    max_bytes bigint NOT NULL DEFAULT 0);
CREATE FUNCTION {s}.forward_capped() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM 1 FROM {s}.forward_caps AS cap WHERE cap.category IN ('', NEW.category) AND (
        (max_messages > 0 AND max_messages < 1 + (SELECT coalesce(sum(waiting + parked), 0)
            FROM {s}.forward_totals AS held WHERE cap.category IN ('', held.category)))
        OR (max_bytes > 0 AND max_bytes < NEW.bytes + (SELECT coalesce(sum(bytes), 0)
            FROM {s}.forward_totals AS held WHERE cap.category IN ('', held.category))));
    IF FOUND THEN
        RAISE 'buffer_full: as much work is held as forward_caps allows';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER forward_capped BEFORE INSERT ON {s}.forward_messages
    FOR EACH ROW EXECUTE FUNCTION {s}.forward_capped();

CREATE TABLE {s}.forward_samples (
    seq bigint PRIMARY KEY,
    category text COLLATE "C" NOT NULL,
    target text NOT NULL,
    sample_key text COLLATE "C" NOT NULL,
    value text NOT NULL);
CREATE INDEX idx_forward_samples ON {s}.forward_samples (category, target, seq);
CREATE FUNCTION {s}.forward_sample_gone() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM {s}.forward_samples WHERE seq = OLD.seq;
    RETURN NULL;
END $$;
CREATE TRIGGER forward_sample_gone AFTER DELETE ON {s}.forward_messages
    FOR EACH ROW EXECUTE FUNCTION {s}.forward_sample_gone();
REVOKE EXECUTE ON FUNCTION {s}.forward_capped(), {s}.forward_sample_gone() FROM PUBLIC;
)sql");

/// Their second step: what any program has written into bytes and totals cannot make the sums of
/// other rows overflow.
inline constexpr std::string_view forward_step_2_in_file = R"sql(
DROP TRIGGER IF EXISTS forward_capped;
CREATE TRIGGER forward_capped BEFORE INSERT ON forward_messages
WHEN EXISTS (SELECT 1 FROM forward_caps) BEGIN
    SELECT RAISE(ABORT, 'buffer_full: as much work is held as forward_caps allows')
    FROM forward_caps AS cap WHERE cap.category IN ('', NEW.category) AND (
        (max_messages > 0 AND max_messages < 1 + (SELECT total(waiting) + total(parked)
            FROM forward_totals AS held WHERE cap.category IN ('', held.category)))
        OR (max_bytes > 0 AND max_bytes < NEW.bytes + (SELECT total(bytes)
            FROM forward_totals AS held WHERE cap.category IN ('', held.category))));
END;)sql";

inline constexpr std::string_view forward_step_2_on_server = R"sql(
CREATE OR REPLACE FUNCTION {s}.forward_capped() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM 1 FROM {s}.forward_caps AS cap WHERE cap.category IN ('', NEW.category) AND (
        (max_messages > 0 AND max_messages < 1
            + (SELECT coalesce(sum(waiting), 0) + coalesce(sum(parked), 0)
            FROM {s}.forward_totals AS held WHERE cap.category IN ('', held.category)))
        OR (max_bytes > 0 AND max_bytes < NEW.bytes + (SELECT coalesce(sum(bytes), 0)
            FROM {s}.forward_totals AS held WHERE cap.category IN ('', held.category))));
    IF FOUND THEN
        RAISE 'buffer_full: as much work is held as forward_caps allows';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE FUNCTION {s}.forward_count(of_category text, more_waiting bigint,
    more_parked bigint, more_bytes bigint) RETURNS void LANGUAGE sql AS $$
INSERT INTO {s}.forward_totals AS t (category, stripe, waiting, parked, bytes)
    VALUES (of_category, pg_backend_pid() % 16, more_waiting, more_parked, more_bytes)
    ON CONFLICT (category, stripe) DO UPDATE SET
        waiting = least(greatest(t.waiting, -1000000000000000), 1000000000000000)
            + excluded.waiting,
        parked = least(greatest(t.parked, -1000000000000000), 1000000000000000) + excluded.parked,
        bytes = least(greatest(t.bytes, -1000000000000000), 1000000000000000) + excluded.bytes $$;
CREATE OR REPLACE FUNCTION {s}.forward_sized() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.bytes NOT BETWEEN 0 AND 1000000000000 THEN
        RAISE 'forward_messages: bytes is how many bytes its payload has';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER forward_sized BEFORE INSERT OR UPDATE OF bytes ON {s}.forward_messages
    FOR EACH ROW EXECUTE FUNCTION {s}.forward_sized();
REVOKE EXECUTE ON FUNCTION {s}.forward_sized() FROM PUBLIC;
)sql";

}  // namespace posthorn
