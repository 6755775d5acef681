#include "store/postgres/outbox_sql.hpp"

#include <algorithm>
#include <array>

#include "store/outbox_rows.hpp"

namespace posthorn::postgres {
namespace {

// As `is_blocked` of the schema asks for it.
#define POSTHORN_PG_BLOCKED "{s}.is_blocked(m.destination, m.tenant, m.order_key, m.seq)"

void add_new(std::vector<order_scope>& to, const std::vector<order_scope>& some) {
    for (const auto& each : some)
        if (std::ranges::find(to, each) == to.end()) to.push_back(each);
}

}  // namespace

outbox_sql::outbox_sql(connection& database, const clock& time, outbox_rules rules,
                       const neighbours& others)
    : time_(time),
      rules_(std::move(rules)),
      log_(others.log),
      closed_(others.closed),
      claims_(others.claims),
      insert_(database.prepare(outbox_insert_sql)),
      lock_dedupe_(database.prepare(outbox_lock_dedupe_sql)),
      known_(database.prepare(outbox_known_sql)),
      one_(database.prepare("SELECT " POSTHORN_PG_OUTBOX_COLUMNS
                            " FROM {s}.outbox_messages WHERE seq = $1 AND status = 'Pending'"
                            " AND next_retry_at <= $2")),
      policy_(database.prepare("INSERT INTO {s}.posthorn_meta (name, value) VALUES"
                               " ('order_policy', $1) ON CONFLICT (name) DO UPDATE SET value ="
                               " excluded.value")),
      send_(database.prepare(
          "UPDATE {s}.outbox_messages AS m SET status = 'Sent', sent_at = s.at,"
          " last_attempt_at = s.at FROM unnest($1::bigint[], $2::bigint[]) AS s(seq, at)"
          " JOIN {s}.outbox_due AS d USING (seq) WHERE m.seq = s.seq AND m.status = 'Pending'"
          " AND (d.claim_epoch IS NULL OR d.claim_epoch = $3) RETURNING m.seq")),
      close_(database.prepare(
          "UPDATE {s}.outbox_messages SET status = $2, retry_count = retry_count + $3::bigint,"
          " last_attempt_at = CASE WHEN $3::bigint <> 0 THEN $4 ELSE last_attempt_at END,"
          " last_error = coalesce($5::text || CASE WHEN $7::bigint <> 0 THEN '; last: ' ||"
          " last_error END, $5::text, last_error), resolution = $6"
          " WHERE seq = $1 AND status = 'Pending'")),
      retry_(database.prepare(
          "UPDATE {s}.outbox_messages SET retry_count = retry_count + $2::bigint,"
          " next_retry_at = $3, last_attempt_at = $4, last_error = coalesce($5, last_error)"
          " WHERE seq = $1 AND status = 'Pending'")),
      // Numbered over all rounds: a requeued message keeps its earlier attempts.
      attempt_(database.prepare(
          "INSERT INTO {s}.outbox_attempts (seq, attempt, at, error) SELECT $1::bigint, coalesce("
          "(SELECT max(attempt) FROM {s}.outbox_attempts WHERE seq = $1::bigint), 0) + 1,"
          " $2::bigint, $3::text")),
      requeue_(database.prepare("UPDATE {s}.outbox_messages SET status = 'Pending', retry_count = 0"
                                " WHERE message_id = $1 AND status = 'Dead' RETURNING seq")),
      pause_(database.prepare("INSERT INTO {s}.outbox_paused (destination, paused_at, reason)"
                              " VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")),
      resume_(database.prepare("DELETE FROM {s}.outbox_paused WHERE destination = $1")),
      end_(database.prepare(
          "INSERT INTO {s}.outbox_ended (seq) VALUES ($1) ON CONFLICT DO NOTHING")),
      told_(database.prepare(
          "WITH told AS (DELETE FROM {s}.outbox_ended WHERE seq = $1 RETURNING seq)"
          " SELECT seq FROM told JOIN {s}.outbox_messages USING (seq)"
          " WHERE status IN ('Dead', 'Expired')")),
      scope_(database.prepare("SELECT destination, order_key, coalesce(tenant, '')"
                              " FROM {s}.outbox_messages WHERE seq = $1 AND order_key <> ''")),
      lock_key_(
          database.prepare("SELECT pg_try_advisory_xact_lock({s}.key_lock('o', $1, $2, $3))")),
      head_(database.prepare(
          "SELECT seq FROM {s}.outbox_due WHERE destination = $1 AND order_key = $2"
          " AND tenant = $3 ORDER BY seq LIMIT 1")),
      // A retry that would come past the expiry stands at the expiry too; then it comes sooner.
      release_(database.prepare(
          "UPDATE {s}.outbox_messages AS m SET next_retry_at = coalesce(deliver_at, 0)"
          " WHERE seq = $1 AND status = 'Pending' AND next_retry_at = expires_at"
          " AND order_key <> '' AND NOT " POSTHORN_PG_BLOCKED)),
      park_(database.prepare("UPDATE {s}.outbox_messages AS m SET next_retry_at = expires_at"
                             " WHERE seq = ANY ($1::bigint[]) AND status = 'Pending'"
                             " AND order_key <> '' AND " POSTHORN_PG_BLOCKED " RETURNING seq")),
      place_(database.prepare(
          "UPDATE {s}.outbox_messages AS m SET next_retry_at = CASE WHEN order_key <> ''"
          " AND " POSTHORN_PG_BLOCKED " THEN expires_at ELSE coalesce(deliver_at, 0) END"
          " WHERE seq = $1 AND status = 'Pending'")) {}

result<enqueued> outbox_sql::insert(message body) {
    if (!body.dedupe_key.empty()) {
        lock_dedupe_.defer(body.destination, body.dedupe_key);
        auto known = known_.run(body.destination, body.dedupe_key);
        if (!known) return std::unexpected(std::move(known).error());
        if (!known->empty()) return known_message(known->front());
    }
    auto stored = insert_.run_with(insert_values(body));
    if (!stored) return std::unexpected(std::move(stored).error());
    if (stored->empty()) return std::unexpected(duplicate_of(body));
    const auto seq = stored->front().integer(0);
    const enqueued given{.seq = seq, .id = body.id};
    const bool parked =
        !body.order_key.empty() && stored->front().integer(1) == to_ms(body.expires_at);
    const bool due = stored->front().integer(1) == 0;  // As the trigger sees it.
    enqueued_.push_back(
        {.seq = seq, .body = std::move(body), .parked = parked, .claim = due ? claims_as_ : 0});
    return given;
}

// By far the most outcomes, so all of them in one statement.
result<std::int64_t> outbox_sql::settle_sent(std::span<const settlement> outcomes,
                                             std::int64_t epoch, by_status& settled) {
    std::vector<std::int64_t> seqs, times;
    for (const auto& one : outcomes) {
        if (one.to != outbox_status::sent) continue;
        seqs.push_back(one.seq);
        times.push_back(to_ms(one.at));
    }
    if (seqs.empty()) return 0;
    auto sent = send_.run(seqs, times, epoch);
    if (!sent) return std::unexpected(std::move(sent).error());
    auto& done = settled[static_cast<std::size_t>(outbox_status::sent)];
    for (int i = 0; i < sent->size(); ++i) done.push_back((*sent)[i].integer(0));
    std::ranges::sort(done);
    for (const auto& one : outcomes) {
        const bool counts =
            one.to == outbox_status::sent && std::ranges::binary_search(done, one.seq);
        if (!counts) continue;
        if (one.followers_wait) POSTHORN_TRY(let_go_after(one.seq));
        if (one.charged && !one.error.empty())
            attempt_.defer(one.seq, to_ms(one.at), storable(one.error));
    }
    return std::ssize(done);
}

// Of what is not sent: some of it may be another's, since it was found and not claimed.
result<std::vector<std::int64_t>> outbox_sql::held_of_rest(std::span<const settlement> outcomes,
                                                           std::int64_t epoch) {
    std::vector<std::int64_t> seqs;
    for (const auto& one : outcomes)
        if (one.to != outbox_status::sent) seqs.push_back(one.seq);
    if (seqs.empty()) return seqs;
    return claims_.hold(seqs, epoch);
}

// All of them in one statement: who inserts many of a key at once leaves many to be parked.
result<std::int64_t> outbox_sql::park(std::span<const settlement> outcomes,
                                      std::span<const std::int64_t> ours, by_status& settled) {
    std::vector<std::int64_t> seqs;
    for (const auto& one : outcomes)
        if (one.parks && std::ranges::binary_search(ours, one.seq)) seqs.push_back(one.seq);
    if (seqs.empty()) return 0;
    auto parked = park_.run(seqs);
    if (!parked) return std::unexpected(std::move(parked).error());
    auto& done = settled[static_cast<std::size_t>(outbox_status::pending)];
    for (int i = 0; i < parked->size(); ++i) done.push_back((*parked)[i].integer(0));
    return parked->size();
}

result<bool> outbox_sql::settle_one(const settlement& outcome) {
    const auto error = storable(outcome.error);
    auto changed =
        outcome.to == outbox_status::pending
            ? retry_.run(outcome.seq, std::int64_t{outcome.charged}, to_ms(outcome.next_attempt_at),
                         to_ms(outcome.at), or_null(error))
            : close_.run(outcome.seq, to_string(outcome.to), std::int64_t{outcome.charged},
                         to_ms(outcome.at), or_null(error), or_null(storable(outcome.resolution)),
                         std::int64_t{outcome.keeps_last_error});
    if (!changed) return std::unexpected(std::move(changed).error());
    return changed->changed() > 0;
}

result<> outbox_sql::after_settling(const settlement& outcome) {
    if (outcome.to != outbox_status::pending) {
        POSTHORN_TRY(closed_.record(outcome.seq, outcome.to, outcome.at));
        POSTHORN_TRY(let_go_after(outcome.seq));
    }
    if (outcome.to == outbox_status::dead || outcome.to == outbox_status::expired)
        end_.defer(outcome.seq);
    if (outcome.charged && !outcome.error.empty())
        attempt_.defer(outcome.seq, to_ms(outcome.at), storable(outcome.error));
    return {};
}

result<std::int64_t> outbox_sql::settle(std::span<const settlement> outcomes, std::int64_t epoch) {
    POSTHORN_TRY(claims_.require_epoch(epoch));
    by_status settled;
    auto changed = settle_sent(outcomes, epoch, settled);
    if (!changed) return changed;
    const auto ours = held_of_rest(outcomes, epoch);
    if (!ours) return std::unexpected(ours.error());
    const auto parked = park(outcomes, *ours, settled);
    if (!parked) return parked;
    *changed += *parked;
    for (const auto& outcome : outcomes) {
        if (outcome.to == outbox_status::sent || outcome.parks) continue;
        if (!std::ranges::binary_search(*ours, outcome.seq)) continue;  // Another node sends it.
        const auto done = settle_one(outcome);
        if (!done) return std::unexpected(done.error());
        if (!*done) continue;  // A person was quicker.
        ++*changed;
        settled[static_cast<std::size_t>(outcome.to)].push_back(outcome.seq);
        POSTHORN_TRY(after_settling(outcome));
    }
    static constexpr std::array<std::string_view, 5> kinds{
        "outbox.retry", "outbox.sent", "outbox.dead", "outbox.expired", "outbox.resolved"};
    for (std::size_t i = 0; i < kinds.size(); ++i)
        log_.append(kinds[i], std::move(settled[i]), time_.wall());
    return changed;
}

result<bool> outbox_sql::requeue(const uuid& id) {
    auto found = requeue_.run(id);
    if (!found) return std::unexpected(std::move(found).error());
    if (found->empty()) return false;
    const auto seq = found->front().integer(0);
    POSTHORN_TRY(place(seq));
    log_.append("outbox.requeued", {seq}, time_.wall());
    return true;
}

result<> outbox_sql::place(std::int64_t seq) {
    POSTHORN_TRY(place_.run(seq));
    return {};
}

result<> outbox_sql::let_go_after(std::int64_t seq) {
    auto scope = scope_.run(seq);
    if (!scope) return std::unexpected(std::move(scope).error());
    if (scope->empty()) return {};
    const auto row = scope->front();
    return let_go({.destination = std::string(row.text(0)),
                   .order_key = std::string(row.text(1)),
                   .tenant = std::string(row.text(2))});
}

// A producer of the key that has not committed yet believes that the message is in its way. Waiting
// for it could take as long as an application's transaction does, so it is looked for again later.
result<> outbox_sql::let_go(const order_scope& of) {
    auto alone = lock_key_.run(of.destination, of.tenant, of.order_key);
    if (!alone) return std::unexpected(std::move(alone).error());
    auto head = head_.run(of.destination, of.order_key, of.tenant);
    if (!head) return std::unexpected(std::move(head).error());
    if (head->empty()) {
        if (alone->front().integer(0) == 0) add_new(look_again_, {of});
        return {};
    }
    const auto seq = head->front().integer(0);
    auto released = release_.run(seq);
    if (!released) return std::unexpected(std::move(released).error());
    return released->changed() > 0 ? announce(seq) : result<>{};
}

result<> outbox_sql::look_again() {
    add_new(looking_, std::exchange(look_again_, {}));
    for (const auto& each : looking_) POSTHORN_TRY(let_go(each));
    return {};
}

void outbox_sql::look_later() {
    add_new(look_again_, std::exchange(looking_, {}));
    released_.clear();
}

// A row that is no message, or not for now, is left to the cold path.
result<> outbox_sql::announce(std::int64_t seq) {
    auto found = one_.run(seq, to_ms(time_.wall()));
    if (!found) return std::unexpected(std::move(found).error());
    if (found->empty()) return {};
    auto row = read_row(found->front(), rules_.source);
    if (!row || !validate(row->body, rules_.limits)) return {};
    if (claims_as_ != 0) claims_.claim_one(seq, claims_as_);
    row->claim = claims_as_;
    released_.push_back(*std::move(row));
    return {};
}

result<> outbox_sql::set_order_policy(order_policy policy) {
    POSTHORN_TRY(policy_.run(to_string(policy)));
    return {};
}

result<std::int64_t> outbox_sql::release_unblocked(std::span<const std::int64_t> seqs) {
    std::vector<std::int64_t> gone;
    for (const auto seq : seqs) {
        const auto released = release_.run(seq);
        if (!released) return std::unexpected(released.error());
        if (released->changed() == 0) continue;
        gone.push_back(seq);
        POSTHORN_TRY(announce(seq));
    }
    const auto number = std::ssize(gone);
    log_.append("outbox.released", std::move(gone), time_.wall());
    return number;
}

result<bool> outbox_sql::pause(const paused_destination& what) {
    auto done = pause_.run(what.destination, to_ms(what.since), storable(what.reason));
    if (!done) return std::unexpected(std::move(done).error());
    return done->changed() > 0;
}

result<bool> outbox_sql::resume(std::string_view destination) {
    auto done = resume_.run(destination);
    if (!done) return std::unexpected(std::move(done).error());
    return done->changed() > 0;
}

result<bool> outbox_sql::tell_ended(std::int64_t seq) {
    auto told = told_.run(seq);
    if (!told) return std::unexpected(std::move(told).error());
    return !told->empty();
}

}  // namespace posthorn::postgres
