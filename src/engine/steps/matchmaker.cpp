#include "engine/steps/matchmaker.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include <fmt/ranges.h>

#include <posthorn/json/decode.hpp>

#include "base/bounded_sum.hpp"
#include "base/planted.hpp"
#include "engine/rows/workflow_rows.hpp"
#include "workflow/matching.hpp"

namespace posthorn {
namespace {

constexpr std::size_t shapes_max = 8;
// Signals that a new shape is told of in its own unit: a few round trips for each on PostgreSQL, and all
// others wait for that unit.
constexpr std::int64_t early_at_once = 250;
constexpr std::int64_t claim_page = 256;

struct told_signal {
    std::int64_t seq = 0;
    std::string name{};
    std::string payload{};
    std::int64_t to = 0;                  // One instance alone, if not zero.
    std::int64_t expires_at = INT64_MAX;  // Of a Command.
    std::optional<std::string> trace{};
};

struct fitting_wait {
    std::int64_t seq = 0;
    std::int64_t instance = 0;
    std::uint32_t command = 0;
    bool exclusive = false;
};

result<std::vector<std::string>> shapes_of(store_transaction& tx, std::string_view signal) {
    std::vector<std::string> shapes;
    POSTHORN_TRY(ask(
        tx, "SELECT shape FROM workflow_shapes WHERE signal = ?",
        [&](const sql_row& row) { shapes.emplace_back(row.text(0)); }, signal));
    return shapes;
}

/// Those that wait for it, the oldest first.
result<std::vector<fitting_wait>> find_waits(store_transaction& tx, const told_signal& told,
                                             std::string_view shape, std::string_view key) {
    std::vector<fitting_wait> found;
    POSTHORN_TRY(ask(
        tx,
        "SELECT seq, instance, command, exclusive, terms FROM workflow_waits"
        " WHERE signal = ? AND shape = ? AND key = ? AND taken = 0 AND (? = 0 OR instance = ?)"
        " ORDER BY seq",
        [&](const sql_row& row) {
            const auto terms = parse_terms(row.text(4));
            if (!terms || !passes(key_of(*terms).filter, told.payload)) return;
            found.push_back(
                {row.integer(0), row.integer(1), row.get<std::uint32_t>(2), row.integer(3) != 0});
        },
        told.name, shape, key, told.to, told.to));
    return found;
}

/// Each workflow once, and of the exclusive waits the oldest.
std::vector<fitting_wait> choose(std::vector<fitting_wait> fitting) {
    std::ranges::sort(fitting, {}, &fitting_wait::seq);
    std::set<std::int64_t> have;
    bool is_claimed = false;
    std::erase_if(fitting, [&](const fitting_wait& wait) {
        if (have.contains(wait.instance)) return true;
        if (wait.exclusive && std::exchange(is_claimed, true))
            return !POSTHORN_PLANTED(exclusive_for_all);
        have.insert(wait.instance);
        return false;
    });
    return fitting;
}

result<> give(store_transaction& tx, const fitting_wait& to, std::int64_t signal, bool alone) {
    POSTHORN_TRY(must_change(tx, "workflow_waits",
                             "UPDATE workflow_waits SET taken = 1 WHERE seq = ?", to.seq));
    return must_change(tx, "workflow_mailbox",
                       "INSERT INTO workflow_mailbox (instance, command, kind, signal, alone)"
                       " VALUES (?, ?, 'signalled', ?, ?)",
                       to.instance, to.command, signal, alone);
}

result<> add_unclaimed(store_transaction& tx, const told_signal& told, std::string_view shape,
                       std::int64_t expires_at) {
    const auto key = key_in(shape, told.payload);
    if (!key) return {};
    return must_change(tx, "workflow_unclaimed",
                       "INSERT INTO workflow_unclaimed (signal, shape, key, seq, instance,"
                       " expires_at) VALUES (?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT (signal, shape, key, seq) DO UPDATE SET"
                       " instance = excluded.instance, expires_at = excluded.expires_at",
                       told.name, shape, *key, told.seq, told.to, expires_at);
}

/// Whether it starts any workflow. One that was started before is not started again.
result<bool> start_by(store_transaction& tx, const told_signal& told, const match_rules& rules) {
    bool any = false;
    for (const auto& rule : rules.starts) {
        if (rule.on.signal != told.name || told.to != 0) continue;
        const auto id = started_id(rule.on, told.payload);
        if (!id) continue;
        POSTHORN_LET(
            started,
            change(tx,
                   "INSERT INTO workflow_instances (workflow, version, id, arguments,"
                   " trace) VALUES (?, ?, ?, ?, ?) ON CONFLICT (workflow, id) DO NOTHING",
                   rule.workflow, rule.version, *id, "[" + told.payload + "]", told.trace));
        if (started == 0) {
            POSTHORN_LET(
                is_known,
                is_there(tx, "SELECT 1 FROM workflow_instances WHERE workflow = ? AND id = ?",
                         rule.workflow, *id));
            if (!is_known) return swallowed("workflow_instances");
        }
        any = true;
    }
    return any;
}

/// Every signal is looked up once for each shape of its name, so there are few: those that no wait
/// has any more make room for a new one. What was found by them goes with its signal.
result<> limit_shapes(store_transaction& tx, std::string_view signal) {
    POSTHORN_LET(shapes, shapes_of(tx, signal));
    if (shapes.size() <= shapes_max) return {};
    POSTHORN_TRY(change(tx,
                        "DELETE FROM workflow_shapes WHERE signal = ? AND NOT EXISTS (SELECT 1"
                        " FROM workflow_waits w WHERE w.signal = workflow_shapes.signal"
                        " AND w.shape = workflow_shapes.shape)",
                        signal));
    POSTHORN_LET(left, shapes_of(tx, signal));
    if (left.size() < shapes_max) return {};
    return fail(error_code::invalid_argument,
                "workflows wait for {} by {} different sets of fields already, which is the limit;"
                " compare the same fields for equality where you can",
                signal, shapes_max);
}

struct early_signal {
    told_signal told;
    std::int64_t expires_at = 0;
};

result<> index_one(store_transaction& tx, const early_signal& each, std::string_view shape) {
    const auto key = key_in(shape, each.told.payload);
    if (!key) return {};
    POSTHORN_LET(waits, find_waits(tx, each.told, shape, *key));
    if (waits.empty()) return add_unclaimed(tx, each.told, shape, each.expires_at);
    POSTHORN_TRY(must_change(tx, "workflow_unclaimed",
                             "DELETE FROM workflow_unclaimed WHERE seq = ?", each.told.seq));
    return give(tx, waits.front(), each.told.seq, true);
}

/// Lets signals after `done` that came before any wait of this shape be found by it.
result<> index_some(store_transaction& tx, std::string_view signal, std::string_view shape,
                    std::int64_t done, std::int64_t at_most) {
    std::vector<early_signal> some;
    POSTHORN_TRY(ask(
        tx,
        "SELECT u.seq, s.payload, u.instance, u.expires_at FROM workflow_unclaimed u"
        " JOIN workflow_signals s ON s.seq = u.seq"
        " WHERE u.signal = ? AND u.shape = '' AND u.key = '' AND u.seq > ? ORDER BY u.seq LIMIT ?",
        [&](const sql_row& row) {
            some.push_back(
                {{row.integer(0), std::string(signal), std::string(row.text(1)), row.integer(2)},
                 row.integer(3)});
        },
        signal, done, at_most));
    for (const auto& each : some) POSTHORN_TRY(index_one(tx, each, shape));
    std::optional<std::int64_t> up_to;
    if (std::ssize(some) == at_most) up_to = some.back().told.seq;
    return must_change(tx, "workflow_shapes",
                       "UPDATE workflow_shapes SET indexed_to = ? WHERE signal = ? AND shape = ?",
                       up_to, signal, shape);
}

result<> add_shape(store_transaction& tx, std::string_view signal, std::string_view shape) {
    constexpr std::string_view sql =
        "INSERT INTO workflow_shapes (signal, shape) VALUES (?, ?)"
        " ON CONFLICT (signal, shape) DO NOTHING";
    POSTHORN_LET(is_new, change(tx, sql, signal, shape));
    if (is_new == 0) {
        POSTHORN_LET(is_known,
                     is_there(tx, "SELECT 1 FROM workflow_shapes WHERE signal = ? AND shape = ?",
                              signal, shape));
        if (!is_known) return swallowed("workflow_shapes");
        return {};
    }
    POSTHORN_TRY(limit_shapes(tx, signal));
    POSTHORN_TRY(change(tx, sql, signal, shape));  // It has no wait yet, so it may have gone.
    if (shape.empty()) return {};
    return index_some(tx, signal, shape, INT64_MIN, early_at_once);
}

/// Gives a wait the oldest unclaimed signal that it fits, if there is one.
result<> claim_for(store_transaction& tx, const fitting_wait& wait, std::string_view signal,
                   const match_key& wanted) {
    const std::int64_t page = wanted.filter.empty() ? 1 : claim_page;
    std::optional<std::int64_t> found;
    // Numbers below 1 are those of rows that a program gave one.
    for (std::int64_t begin = INT64_MIN, rows = page; !found && rows == page;) {
        rows = 0;
        POSTHORN_TRY(ask(
            tx,
            "SELECT u.seq, s.payload FROM workflow_unclaimed u"
            " JOIN workflow_signals s ON s.seq = u.seq"
            " WHERE u.signal = ? AND u.shape = ? AND u.key = ? AND u.seq >= ?"
            " AND u.instance IN (0, ?) ORDER BY u.seq LIMIT ?",
            [&](const sql_row& row) {
                begin = bounded_sum(row.integer(0), 1);
                ++rows;
                if (!found && passes(wanted.filter, row.text(1))) found = row.integer(0);
            },
            signal, wanted.shape, wanted.key, begin, wait.instance, page));
    }
    if (!found) return {};
    POSTHORN_TRY(must_change(tx, "workflow_unclaimed",
                             "DELETE FROM workflow_unclaimed WHERE seq = ?", *found));
    return give(tx, wait, *found, true);
}

result<std::optional<told_signal>> read_signal(store_transaction& tx, std::int64_t seq) {
    std::optional<told_signal> told;
    bool has_address = false;
    POSTHORN_TRY(ask(
        tx,
        // What no message may be is no signal that any workflow waits for.
        "SELECT CASE WHEN octet_length(s.signal) <= 4096 THEN s.signal ELSE '' END,"
        " CASE WHEN octet_length(s.payload) <= 67108864 THEN s.payload ELSE '' END,"
        " s.id IS NOT NULL, coalesce(i.instance, 0), s.expires_at,"
        " CASE WHEN octet_length(s.trace) <= 64 THEN s.trace END"
        " FROM workflow_signals s LEFT JOIN workflow_instances i"
        " ON i.workflow = s.workflow AND i.id = s.id AND i.status IN"
        " ('starting', 'running', 'paused', 'quarantined')"
        " WHERE s.seq = ? AND s.matched_at IS NULL",
        [&](const sql_row& row) {
            told = told_signal{seq, std::string(row.text(0)), std::string(row.text(1)),
                               row.integer(3)};
            if (!row.is_null(4)) told->expires_at = row.integer(4);
            told->trace = row.get<std::optional<std::string>>(5);
            has_address = row.get<bool>(2);
        },
        seq));
    if (told && has_address && told->to == 0) told->to = -1;  // Whom it is for is not there.
    return told;
}

}  // namespace

result<std::string> started_id(const detail::start_rule& rule, std::string_view payload) {
    const detail::match_term any{
        std::string(rule.field), rule.type, detail::match_operator::equal, {}};
    // The canonical form of the field is what a key of that one field holds after its length.
    const auto shape = key_of({any}).shape;
    const auto key = key_in(shape, payload);
    if (!key || key->starts_with("sha256:"))
        return fail(error_code::invalid_payload,
                    "{} starts a workflow, and its field {}, which is to be the workflow's id, is "
                    "missing, of another type, or too long",
                    rule.signal, rule.field);
    auto value = key->substr(key->find(':') + 1);
    if (value.starts_with('"')) value = decode<std::string>(value);
    if (value.empty())
        return fail(error_code::invalid_payload,
                    "{} starts a workflow, and its field {}, which is to be the workflow's id, is "
                    "empty",
                    rule.signal, rule.field);
    return value;
}

result<std::string> match_signal(store_transaction& tx, std::int64_t seq, const match_rules& rules,
                                 wall_time now) {
    POSTHORN_LET(told, read_signal(tx, seq));
    if (!told) return std::string();  // Another node was faster.
    const auto now_ms = now.time_since_epoch().count();
    POSTHORN_TRY(must_change(tx, "workflow_signals",
                             "UPDATE workflow_signals SET matched_at = ? WHERE seq = ?", now_ms,
                             seq));
    if (told->to < 0) return std::string();
    POSTHORN_LET(shapes, shapes_of(tx, told->name));
    std::vector<fitting_wait> fitting;
    bool has_key = shapes.empty();
    for (const auto& shape : shapes) {
        const auto key = key_in(shape, told->payload);
        if (!key) continue;
        has_key = true;
        if (POSTHORN_PLANTED(signal_without_waits)) continue;
        if (POSTHORN_PLANTED(shape_left_out) && &shape != &shapes.front()) continue;
        POSTHORN_LET(found, find_waits(tx, *told, shape, *key));
        fitting.insert(fitting.end(), found.begin(), found.end());
    }
    const auto chosen = choose(std::move(fitting));
    for (const auto& each : chosen) POSTHORN_TRY(give(tx, each, seq, chosen.size() == 1));
    POSTHORN_LET(has_started, start_by(tx, *told, rules));
    if (!chosen.empty() || has_started) return std::string();
    const auto expires_at = std::min(now_ms + rules.unclaimed_kept.count(), told->expires_at);
    POSTHORN_TRY(add_unclaimed(tx, *told, "", expires_at));
    for (const auto& shape : shapes)
        if (!shape.empty()) POSTHORN_TRY(add_unclaimed(tx, *told, shape, expires_at));
    return has_key ? std::string() : fmt::format("{}", fmt::join(shapes, " or "));
}

result<bool> index_early_signals(store_transaction& tx, std::int64_t at_most) {
    std::string signal;
    std::string shape;
    std::optional<std::int64_t> done;
    POSTHORN_TRY(
        ask(tx,
            "SELECT signal, shape, indexed_to FROM workflow_shapes WHERE indexed_to IS NOT NULL"
            " ORDER BY signal, shape LIMIT 1",
            [&](const sql_row& row) {
                signal = row.text(0);
                shape = row.text(1);
                done = row.integer(2);
            }));
    if (!done) return false;
    POSTHORN_TRY(index_some(tx, signal, shape, *done, at_most));
    return true;
}

result<> add_wait(store_transaction& tx, const new_wait& wait) {
    POSTHORN_LET(terms, parse_terms(wait.terms));
    const auto wanted = key_of(terms);
    POSTHORN_TRY(add_shape(tx, wait.signal, wanted.shape));
    fitting_wait stored{.instance = wait.instance, .command = wait.command};
    POSTHORN_TRY(ask(
        tx,
        "INSERT INTO workflow_waits (instance, command, signal, shape, key, terms, exclusive)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING seq",
        [&](const sql_row& row) { stored.seq = row.integer(0); }, wait.instance, wait.command,
        wait.signal, wanted.shape, wanted.key, wait.terms, wait.exclusive));
    if (stored.seq == 0) return swallowed("workflow_waits");
    if (POSTHORN_PLANTED(wait_without_unclaimed)) return {};
    return claim_for(tx, stored, wait.signal, wanted);
}

result<> drop_wait(store_transaction& tx, std::int64_t instance, std::uint32_t command) {
    POSTHORN_LET(untaken, change(tx,
                                 "DELETE FROM workflow_waits"
                                 " WHERE instance = ? AND command = ? AND taken = 0",
                                 instance, command));
    if (untaken > 0) return {};
    POSTHORN_TRY(change(tx, "DELETE FROM workflow_waits WHERE instance = ? AND command = ?",
                        instance, command));
    POSTHORN_TRY(change(tx,
                        "UPDATE workflow_signals SET matched_at = NULL WHERE seq IN"
                        " (SELECT signal FROM workflow_mailbox WHERE instance = ? AND command = ?"
                        " AND kind = 'signalled' AND alone = 1)",
                        instance, command));
    POSTHORN_TRY(change(tx,
                        "DELETE FROM workflow_mailbox WHERE instance = ? AND command = ?"
                        " AND kind = 'signalled'",
                        instance, command));
    return {};
}

result<> rearm_wait(store_transaction& tx, std::int64_t instance, std::uint32_t command) {
    fitting_wait wait{.instance = instance, .command = command};
    std::string signal;
    std::string text;
    POSTHORN_TRY(ask(
        tx,
        "UPDATE workflow_waits SET taken = 0 WHERE instance = ? AND command = ?"
        " RETURNING seq, signal, terms",
        [&](const sql_row& row) {
            wait.seq = row.integer(0);
            signal = row.text(1);
            text = row.text(2);
        },
        instance, command));
    if (wait.seq == 0) return {};
    POSTHORN_LET(terms, parse_terms(text));
    return claim_for(tx, wait, signal, key_of(terms));
}

result<> hand_on_signals(store_transaction& tx, std::int64_t instance) {
    POSTHORN_TRY(change(tx,
                        "UPDATE workflow_signals SET matched_at = NULL WHERE seq IN"
                        " (SELECT signal FROM workflow_mailbox WHERE instance = ?"
                        " AND kind = 'signalled' AND alone = 1)",
                        instance));
    // Others have got these, too: a copy is for this workflow alone.
    POSTHORN_TRY(change(tx,
                        "INSERT INTO workflow_signals (source, message_id, signal, payload,"
                        " workflow, id, received_at, trace)"
                        " SELECT s.source, s.message_id, s.signal, s.payload, i.workflow, i.id,"
                        " s.received_at, s.trace FROM workflow_mailbox m"
                        " JOIN workflow_signals s ON s.seq = m.signal"
                        " JOIN workflow_instances i ON i.instance = m.instance"
                        " WHERE m.instance = ? AND m.kind = 'signalled' AND m.alone = 0"
                        " ORDER BY m.seq",
                        instance));
    POSTHORN_TRY(
        change(tx, "DELETE FROM workflow_mailbox WHERE instance = ? AND command <> 0", instance));
    return {};
}

result<> give_back_signals(store_transaction& tx, std::int64_t instance) {
    POSTHORN_TRY(change(tx,
                        "UPDATE workflow_signals SET matched_at = NULL WHERE seq IN"
                        " (SELECT signal FROM workflow_mailbox WHERE instance = ?"
                        " AND kind = 'signalled' AND alone = 1)",
                        instance));
    POSTHORN_TRY(change(tx, "DELETE FROM workflow_mailbox WHERE instance = ?", instance));
    return {};
}

}  // namespace posthorn
