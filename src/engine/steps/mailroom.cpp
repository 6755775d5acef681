#include "engine/steps/mailroom.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bounded_sum.hpp"
#include "engine/rows/workflow_rows.hpp"
#include "engine/steps/requests.hpp"

namespace posthorn {
namespace {

constexpr std::int64_t look_rows = 1000;
constexpr std::chrono::seconds look_behind_every{30};
constexpr std::int64_t signals_a_unit_max = 100;
constexpr std::int64_t indexed_a_unit = 250;
constexpr std::size_t put_off_max = 5000;
constexpr std::chrono::milliseconds look_again_after{100};
constexpr std::chrono::seconds put_off_for{1};
constexpr std::chrono::milliseconds signal_unit_limit = std::chrono::seconds{60};

// What health says, before the reason.
constexpr std::string_view blind = "what comes for workflows cannot be looked for, and waits";
constexpr std::string_view unmatched = "signals cannot be given to workflows, and wait";
constexpr std::string_view unindexed = "signals that came early cannot be looked through, and wait";
constexpr std::string_view unended = "sleeps of workflows cannot be ended, so these wait";

/// What several units that were submitted together have come to.
struct outcomes {
    std::size_t left = 0;
    std::string why{};  // Of the first that failed.

    /// True of the last.
    bool note(const result<>& one) {
        if (!one && why.empty()) why = one.error().what();
        return --left == 0;
    }
};

result<> end_due(store_transaction& tx, std::int64_t now_ms) {
    // Whatever types a program gave them, both statements mean the same ones.
    POSTHORN_LET(told, change(tx,
                              "INSERT INTO workflow_mailbox (instance, command, kind)"
                              " SELECT instance, command, 'elapsed' FROM workflow_timers"
                              " WHERE due_at <= ? ORDER BY due_at, instance, command LIMIT 1000",
                              now_ms));
    POSTHORN_LET(gone, change(tx,
                              "DELETE FROM workflow_timers WHERE (due_at, instance, command) IN"
                              " (SELECT due_at, instance, command FROM workflow_timers"
                              " WHERE due_at <= ? ORDER BY due_at, instance, command LIMIT 1000)",
                              now_ms));
    if (told != gone) return swallowed("workflow_timers or workflow_mailbox");
    return {};
}

/// Commands among the signals that no workflow has taken in time.
result<> refuse_expired(store_transaction& tx, std::int64_t now_ms, const message_maker& maker) {
    std::vector<std::int64_t> late;
    POSTHORN_TRY(ask(
        tx,
        "SELECT DISTINCT u.seq FROM workflow_unclaimed u JOIN workflow_signals s ON s.seq = u.seq"
        " WHERE u.expires_at <= ? AND s.correlation_id IS NOT NULL LIMIT 1000",
        [&](const sql_row& row) { late.push_back(row.integer(0)); }, now_ms));
    for (const auto seq : late)
        POSTHORN_TRY(refuse_request(tx, seq, "no workflow has taken it in time", maker));
    return {};
}

result<> end_one(store_transaction& tx, std::int64_t instance, std::int64_t command,
                 std::int64_t now_ms) {
    POSTHORN_LET(told, change(tx,
                              "INSERT INTO workflow_mailbox (instance, command, kind)"
                              " SELECT instance, command, 'elapsed' FROM workflow_timers"
                              " WHERE instance = ? AND command = ? AND due_at <= ?",
                              instance, command, now_ms));
    POSTHORN_LET(gone, change(tx,
                              "DELETE FROM workflow_timers"
                              " WHERE instance = ? AND command = ? AND due_at <= ?",
                              instance, command, now_ms));
    if (told != gone) return swallowed("workflow_timers or workflow_mailbox");
    return {};
}

}  // namespace

struct mailroom::news {
    std::int64_t now_ms = 0;
    std::int64_t rows = 0;
    std::vector<std::int64_t> signals{};
    std::vector<sleep> due{};
    bool has_early_signals = false;
    std::int64_t next_sleep_ms = INT64_MAX;
};

mailroom::mailroom(deps with, std::chrono::milliseconds unclaimed_kept)
    : with_(with), unclaimed_kept_(unclaimed_kept), signals_a_unit_(signals_a_unit_max) {}

void mailroom::look(const finder& found) {
    news seen{.now_ms = with_.env.clock.wall().time_since_epoch().count()};
    const auto looked =
        with_.where.read([&](store_reader& from) { return read_news(from, found, seen); });
    if (!looked) {
        with_.env.log.warn("Workflow: could not look for work: {Error}",
                           {{"Error", looked.error().what()}});
        with_.report.note_obstacle(blind, looked.error().what());
        return with_.loop.do_later(look_again_after, [this] { with_.loop.wake(); });
    }
    with_.report.forget_obstacle(blind);
    with_.loop.turn_at(seen.next_sleep_ms);
    if (seen.rows >= look_rows) with_.loop.wake();
    if (!seen.signals.empty()) match_some(std::move(seen.signals));
    if (!seen.has_early_signals && !is_indexing_) with_.report.forget_obstacle(unindexed);
    if (seen.has_early_signals) index_some();
    if (seen.due.empty() && !is_ending_sleeps_) with_.report.forget_obstacle(unended);
    if (!seen.due.empty()) end_sleeps(std::move(seen.due), seen.now_ms);
}

result<> mailroom::read_news(store_reader& from, const finder& found, news& into) {
    POSTHORN_TRY(ask(
        from, "SELECT seq, instance FROM workflow_mailbox WHERE seq > ? ORDER BY seq LIMIT 1000",
        [&](const sql_row& row) {
            mail_seen_ = row.integer(0);
            found(row.integer(1), mail_seen_);
            ++into.rows;
        },
        mail_seen_));
    POSTHORN_TRY(ask(
        from,
        "SELECT instance FROM workflow_instances WHERE status = 'starting' AND instance > ?"
        " ORDER BY instance LIMIT 1000",
        [&](const sql_row& row) {
            starts_seen_ = row.integer(0);
            found(starts_seen_, 0);
            ++into.rows;
        },
        starts_seen_));
    if (!std::exchange(has_begun_, true))
        POSTHORN_TRY(ask(from, "SELECT DISTINCT instance FROM workflow_runs",
                         [&](const sql_row& row) { found(row.integer(0), 0); }));
    POSTHORN_TRY(read_behind(from, found));
    if (!is_matching_) POSTHORN_TRY(read_signals(from, into.signals));
    if (!is_indexing_)
        POSTHORN_TRY(ask(from, "SELECT 1 FROM workflow_shapes WHERE indexed_to IS NOT NULL LIMIT 1",
                         [&](const sql_row&) { into.has_early_signals = true; }));
    return read_sleeps(from, into);
}

// A program may have given a row a number of its own, or set one going again that was seen.
result<> mailroom::read_behind(store_reader& from, const finder& found) {
    const auto now = with_.env.clock.steady();
    if (behind_at_ && now - *behind_at_ < look_behind_every) return {};
    behind_at_ = now;
    std::int64_t rows = 0;
    const auto go_round = [&](std::int64_t& place) {
        if (rows < look_rows) place = INT64_MIN;
        rows = 0;
    };
    POSTHORN_TRY(ask(
        from,
        "SELECT seq, instance FROM workflow_mailbox WHERE seq BETWEEN ? AND ?"
        " ORDER BY seq LIMIT 1000",
        [&](const sql_row& row) {
            mail_behind_ = bounded_sum(row.integer(0), 1);
            found(row.integer(1), row.integer(0));
            ++rows;
        },
        mail_behind_, mail_seen_));
    go_round(mail_behind_);
    POSTHORN_TRY(ask(
        from,
        "SELECT instance FROM workflow_instances WHERE status = 'starting'"
        " AND instance BETWEEN ? AND ? ORDER BY instance LIMIT 1000",
        [&](const sql_row& row) {
            starts_behind_ = bounded_sum(row.integer(0), 1);
            found(row.integer(0), 0);
            ++rows;
        },
        starts_behind_, starts_seen_));
    go_round(starts_behind_);
    return {};
}

// Those that were put off are among the first; one that is not there any more is forgotten.
result<> mailroom::read_signals(store_reader& from, std::vector<std::int64_t>& into) {
    const auto limit = std::ssize(put_off_) + signals_a_unit_;
    const auto now = with_.env.clock.steady();
    std::vector<std::int64_t> seen;
    POSTHORN_TRY(ask(
        from, "SELECT seq FROM workflow_signals WHERE matched_at IS NULL ORDER BY seq LIMIT ?",
        [&](const sql_row& row) { seen.push_back(row.integer(0)); }, limit));
    std::erase_if(put_off_, [&](const auto& one) {
        const bool was_read = std::ssize(seen) < limit || one.first <= seen.back();
        return was_read && !std::ranges::binary_search(seen, one.first);
    });
    if (put_off_.empty()) with_.report.forget_obstacle(unmatched);
    for (const auto seq : seen) {
        const auto known = put_off_.find(seq);
        if (known == put_off_.end() || known->second <= now) into.push_back(seq);
        if (std::ssize(into) == signals_a_unit_) break;
    }
    return {};
}

result<> mailroom::read_sleeps(store_reader& from, news& into) const {
    if (!is_ending_sleeps_)
        POSTHORN_TRY(ask(
            from,
            "SELECT instance, command FROM workflow_timers WHERE due_at <= ?"
            " ORDER BY due_at, instance, command LIMIT 1000",
            [&](const sql_row& row) { into.due.emplace_back(row.integer(0), row.integer(1)); },
            into.now_ms));
    // A text, which a program may have written, is later than every number.
    return ask(
        from, "SELECT due_at FROM workflow_timers WHERE due_at > ? ORDER BY due_at LIMIT 1",
        [&](const sql_row& row) {
            const auto kind = row.kind(0);
            if (kind == sql_kind::integer || kind == sql_kind::real)
                into.next_sleep_ms = std::max(row.integer(0), into.now_ms + 1);
        },
        into.now_ms);
}

result<> mailroom::match_one(store_transaction& tx, std::int64_t seq, const match_rules& rules,
                             wall_time now, misfits& odd) {
    POSTHORN_LET(lacks, match_signal(tx, seq, rules, now));
    if (lacks.empty() || odd.count++ > 0) return {};
    odd.first = seq;
    odd.fields = std::move(lacks);
    return {};
}

void mailroom::tell_misfits(const misfits& seen) {
    if (seen.count == 0) return;
    with_.unfit += seen.count;
    with_.env.log.warn(
        "Workflow: no workflow can get signal {Seq}, as it is: it is waited for by {Fields}, and "
        "lacks that or has it of another type (such signals that came with it: {Count})",
        {{"Seq", seen.first}, {"Fields", seen.fields}, {"Count", seen.count}});
}

void mailroom::match_some(std::vector<std::int64_t> signals) {
    is_matching_ = true;
    const match_rules rules{with_.starts, unclaimed_kept_};
    const auto odd = std::make_shared<misfits>();
    with_.where.submit(
        {.work = [signals, rules, odd, &time = with_.env.clock](store_transaction& tx) -> result<> {
             *odd = {};  // Of a unit that was undone.
             for (const auto seq : signals)
                 POSTHORN_TRY(match_one(tx, seq, rules, time.wall(), *odd));
             return {};
         },
         .done =
             [this, signals, odd, gate = with_.loop.gate()](const result<>& outcome) {
                 gate->post([this, signals, odd, outcome] {
                     signals_a_unit_ = outcome ? std::min(signals_a_unit_ * 2, signals_a_unit_max)
                                               : std::max<std::int64_t>(signals_a_unit_ / 4, 1);
                     if (!outcome) return match_each(signals);
                     is_matching_ = false;
                     tell_misfits(*odd);
                     for (const auto seq : signals) note_match(seq, outcome);
                     with_.loop.wake();
                 });
             },
         .limit = signal_unit_limit});
}

// What one of them cannot have must not be kept from the others.
void mailroom::match_each(const std::vector<std::int64_t>& signals) {
    const auto all = std::make_shared<outcomes>(outcomes{.left = signals.size()});
    const match_rules rules{with_.starts, unclaimed_kept_};
    for (const auto seq : signals) {
        const auto odd = std::make_shared<misfits>();
        with_.where.submit(
            {.work =
                 [seq, rules, odd, &time = with_.env.clock](store_transaction& tx) {
                     *odd = {};
                     return match_one(tx, seq, rules, time.wall(), *odd);
                 },
             .done =
                 [this, seq, all, odd, gate = with_.loop.gate()](const result<>& one) {
                     gate->post([this, seq, all, odd, one] {
                         if (one) tell_misfits(*odd);
                         note_match(seq, one);
                         if (!all->note(one)) return;
                         is_matching_ = false;
                         with_.loop.wake();
                     });
                 },
             .limit = signal_unit_limit});
    }
}

void mailroom::index_some() {
    is_indexing_ = true;
    with_.where.submit({.work = [](store_transaction& tx) -> result<> {
                            POSTHORN_TRY(index_early_signals(tx, indexed_a_unit));
                            return {};
                        },
                        .done =
                            [this, gate = with_.loop.gate()](const result<>& outcome) {
                                gate->post([this, outcome] {
                                    is_indexing_ = false;
                                    if (outcome) {
                                        with_.report.forget_obstacle(unindexed);
                                        return with_.loop.wake();
                                    }
                                    with_.report.note_obstacle(unindexed, outcome.error().what());
                                    try_again_later();
                                });
                            }});
}

void mailroom::note_match(std::int64_t signal, const result<>& outcome) {
    if (outcome) {
        put_off_.erase(signal);
        return;
    }
    if (outcome.error().code() == error_code::closed) return;
    if (!put_off_.contains(signal)) {
        with_.env.log.warn("Workflow: signal {Seq} cannot be matched, and waits: {Error}",
                           {{"Seq", signal}, {"Error", outcome.error().what()}});
        if (put_off_.size() >= put_off_max) return try_again_later();
    }
    put_off_[signal] = with_.env.clock.steady() + put_off_for;
    with_.report.note_obstacle(unmatched, outcome.error().what());
    with_.loop.do_later(put_off_for, [this] { with_.loop.wake(); });
}

void mailroom::try_again_later() {
    with_.loop.do_later(std::chrono::seconds{1}, [this] { with_.loop.wake(); });
}

// Mail keeps what a held workflow would keep from others.
void mailroom::end_sleeps(std::vector<sleep> due, std::int64_t now_ms) {
    is_ending_sleeps_ = true;
    with_.where.submit({.work = [now_ms](store_transaction& tx) { return end_due(tx, now_ms); },
                        .done =
                            [this, due = std::move(due), now_ms,
                             gate = with_.loop.gate()](const result<>& outcome) {
                                gate->post([this, due, now_ms, is_done = outcome.has_value()] {
                                    if (!is_done) return end_each(due, now_ms);
                                    is_ending_sleeps_ = false;
                                    with_.report.forget_obstacle(unended);
                                    with_.loop.wake();
                                });
                            }});
}

void mailroom::end_each(const std::vector<sleep>& due, std::int64_t now_ms) {
    const auto all = std::make_shared<outcomes>(outcomes{.left = due.size()});
    for (const auto& [instance, command] : due)
        with_.where.submit(
            {.work = [instance, command, now_ms](
                         store_transaction& tx) { return end_one(tx, instance, command, now_ms); },
             .done =
                 [this, all, gate = with_.loop.gate()](const result<>& one) {
                     gate->post([this, all, one] {
                         if (!all->note(one)) return;
                         is_ending_sleeps_ = false;
                         if (!all->why.empty()) with_.report.note_obstacle(unended, all->why);
                         try_again_later();
                     });
                 }});
}

void mailroom::forget_expired() {
    const auto now = with_.env.clock.wall().time_since_epoch().count();
    bool is_any = false;
    const auto read = with_.where.read([&](store_reader& from) {
        return ask(
            from, "SELECT seq FROM workflow_unclaimed WHERE expires_at <= ? LIMIT 1",
            [&](const sql_row&) { is_any = true; }, now);
    });
    if (!read || !is_any) return;
    const auto gone = std::make_shared<std::int64_t>(0);
    with_.where.submit(
        {.work = [now, gone, &maker = with_.maker](store_transaction& tx) -> result<> {
             POSTHORN_TRY(refuse_expired(tx, now, maker));
             // Of the Commands those alone that were refused.
             POSTHORN_LET(some,
                          change(tx,
                                 "DELETE FROM workflow_unclaimed WHERE seq IN (SELECT u.seq FROM"
                                 " workflow_unclaimed u LEFT JOIN workflow_signals s ON s.seq ="
                                 " u.seq WHERE u.expires_at <= ? AND s.correlation_id IS NULL"
                                 " LIMIT 1000)",
                                 now));
             *gone = some;
             return {};
         },
         .done =
             [this, gone, gate = with_.loop.gate()](const result<>& outcome) {
                 if (outcome && *gone > 0) gate->post([this] { forget_expired(); });
             }});
}

}  // namespace posthorn
