#include "store/postgres/tables/inbox_sql.hpp"

#include <algorithm>
#include <tuple>

#include "base/assert.hpp"
#include "base/text/joined.hpp"
#include "store/claim_table.hpp"
#include "store/postgres/tables/outbox_rows.hpp"

namespace posthorn::postgres {
namespace {

constexpr std::string_view find_inbox = R"sql(
    SELECT body_hash, processed_at IS NOT NULL, response_payload, claim_until, claim_owner,
        response_checksum
    FROM {s}.inbox_messages
    WHERE source_service_id = $1 AND message_id = $2)sql";

/// The response and what is kept to know it by; nothing for none.
void add_response(values& to, std::string_view response) {
    if (response.empty()) {
        to.add(nullptr);
        to.add(nullptr);
        return;
    }
    to.add(blob{std::as_bytes(std::span(response))});
    to.add(seal_of(response));
}

using ordered_key = std::tuple<std::string_view, uuid>;

ordered_key key_of(const row_ahead& one) { return {one.source, one.id}; }
ordered_key key_of_record(const inbox_record* one) { return {one->key.source, one->key.id}; }

result<bool> changed_any(result<rows> done) {
    if (!done) return std::unexpected(std::move(done).error());
    return done->changed() > 0;
}

}  // namespace

inbox_sql::inbox_sql(connection& database)
    : find_(database, find_inbox),
      insert_(database, R"sql(
          INSERT INTO {s}.inbox_messages (source_service_id, message_id, endpoint, body_hash,
              processed_at, expires_at, response_payload, response_checksum)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
          ON CONFLICT (source_service_id, message_id) DO NOTHING RETURNING seq)sql"),
      respond_(database, R"sql(
          UPDATE {s}.inbox_messages SET response_payload = $3, response_checksum = $4
          WHERE source_service_id = $1 AND message_id = $2)sql"),
      claim_(database, R"sql(
          INSERT INTO {s}.inbox_messages AS known (source_service_id, message_id, endpoint,
              body_hash, claim_owner, claim_until, expires_at)
          VALUES ($1, $2, $3, $4, $5, $6, $7)
          ON CONFLICT (source_service_id, message_id) DO UPDATE
          SET claim_owner = excluded.claim_owner, claim_until = excluded.claim_until
          WHERE known.processed_at IS NULL AND known.claim_until <= $8::bigint)sql"),
      complete_(database, R"sql(
          UPDATE {s}.inbox_messages
          SET processed_at = $4, expires_at = $5, response_payload = $6,
              response_checksum = $7, claim_owner = NULL, claim_until = NULL
          WHERE source_service_id = $1 AND message_id = $2 AND claim_owner = $3
          RETURNING seq)sql"),
      release_(database, R"sql(
          DELETE FROM {s}.inbox_messages
          WHERE source_service_id = $1 AND message_id = $2 AND claim_owner = $3
              AND processed_at IS NULL)sql"),
      insert_all_(database, R"sql(
          INSERT INTO {s}.inbox_messages (source_service_id, message_id, endpoint, body_hash,
              processed_at, expires_at)
          SELECT source, id, endpoint,
              substring($4::bytea FROM (32 * (place - 1) + 1)::integer FOR 32), processed_at,
              expires_at
          FROM unnest($1::text[], $2::text[], $3::text[], $5::bigint[],
              $6::bigint[]) WITH ORDINALITY AS r(source, id, endpoint, processed_at,
              expires_at, place)
          ON CONFLICT (source_service_id, message_id) DO NOTHING
          RETURNING seq, source_service_id, message_id)sql") {}

// In the order of their keys, so that two nodes that insert the same ones wait for each other in
// turn and not both.
result<> inbox_sql::insert_ahead(std::span<const inbox_record> rows) {
    std::vector<const inbox_record*> sorted;
    for (const auto& each : rows) sorted.push_back(&each);
    std::ranges::sort(sorted, {}, key_of_record);
    std::vector<std::string> sources;
    std::vector<std::string> ids;
    std::vector<std::string> endpoints;
    std::vector<std::byte> hashes;
    std::vector<std::int64_t> processed_at;
    std::vector<std::int64_t> expires_at;
    for (const auto* const each : sorted) {
        if (!ahead_.empty() && key_of(ahead_.back()) == key_of_record(each)) continue;
        sources.emplace_back(each->key.source);
        ids.push_back(each->key.id.to_string());
        endpoints.emplace_back(each->endpoint);
        hashes.insert(hashes.end(), each->hash.begin(), each->hash.end());
        processed_at.push_back(to_ms(each->processed_at));
        expires_at.push_back(to_ms(each->expires_at));
        ahead_.push_back({.source = sources.back(), .id = each->key.id});
    }
    POSTHORN_LET(inserted,
                 insert_all_.run(sources, ids, endpoints, blob{hashes}, processed_at, expires_at));
    for (int i = 0; i < inserted.size(); ++i) {
        const auto row = inserted[i];
        const auto id = uuid::parse(row.text(2));
        auto* const one = id ? find_ahead({row.text(1), *id}) : nullptr;
        POSTHORN_ASSERT(one != nullptr);
        one->seq = row.integer(0);
    }
    return {};
}

bool inbox_sql::end_ahead() {
    const bool has_orphan = std::ranges::any_of(
        ahead_, [](const row_ahead& each) { return each.seq != 0 && !each.is_taken; });
    ahead_.clear();
    return !has_orphan;
}

row_ahead* inbox_sql::find_ahead(const inbox_key& key) {
    const auto at = std::ranges::lower_bound(ahead_, std::tuple(key.source, key.id), {}, key_of);
    const bool is_there = at != ahead_.end() && key_of(*at) == std::tuple(key.source, key.id);
    return is_there ? &*at : nullptr;
}

result<std::optional<inbox_entry>> inbox_sql::find(const inbox_key& key) {
    return find_inbox_entry(find_, key);
}

result<bool> inbox_sql::insert(const inbox_record& record) {
    if (auto* const ahead = find_ahead(record.key); ahead != nullptr) {
        const bool is_new = ahead->seq != 0 && !std::exchange(ahead->is_taken, true);
        if (is_new) received_.push_back(ahead->seq);
        return is_new;
    }
    auto with = values::of(record.key.source, record.key.id, record.endpoint, blob{record.hash},
                           to_ms(record.processed_at), to_ms(record.expires_at));
    add_response(with, record.response);
    POSTHORN_LET(inserted, insert_.run_with(std::move(with)));
    if (inserted.empty()) return false;
    received_.push_back(inserted.front().integer(0));
    return true;
}

result<> inbox_sql::respond(const inbox_key& key, std::string_view response) {
    auto with = values::of(key.source, key.id);
    add_response(with, response);
    POSTHORN_TRY(respond_.run_with(std::move(with)));
    return {};
}

result<bool> inbox_sql::claim(const inbox_claim& wanted, wall_time now) {
    return changed_any(claim_.run(wanted.key.source, wanted.key.id, wanted.endpoint,
                                  blob{wanted.hash}, wanted.owner, to_ms(wanted.until),
                                  to_ms(wanted.expires_at), to_ms(now)));
}

result<bool> inbox_sql::complete(const inbox_record& record, std::string_view owner) {
    auto with = values::of(record.key.source, record.key.id, owner, to_ms(record.processed_at),
                           to_ms(record.expires_at));
    add_response(with, record.response);
    POSTHORN_LET(completed, complete_.run_with(std::move(with)));
    if (completed.empty()) return false;
    received_.push_back(completed.front().integer(0));
    return true;
}

result<bool> inbox_sql::release(const inbox_key& key, std::string_view owner) {
    return changed_any(release_.run(key.source, key.id, owner));
}

inbox_reading::inbox_reading(connection& database)
    : inbox_looks(database, find_inbox, "SELECT count(*) FROM {s}.inbox_messages") {}

namespace {

// Who is frozen in a transaction may have a lease locked; nobody waits for that.
constexpr auto unlocked =
    joined("(SELECT name FROM {s}.posthorn_leases WHERE name = $1 FOR UPDATE SKIP LOCKED)");
constexpr auto take_lease = joined(R"sql(
    UPDATE {s}.posthorn_leases SET owner = $2, beat = 0,
        epoch = CASE WHEN name LIKE 'dispatcher/%' THEN nextval('{s}.dispatcher_epochs')
            ELSE epoch + 1 END
    WHERE name = $1 AND owner IS NOT DISTINCT FROM $3::text
      AND ($3::text IS NULL OR (epoch = $4 AND beat = $5)) AND name IN )sql",
                                   unlocked, " RETURNING owner, epoch, beat");
// A seat is for one run of a node alone, and its epoch is never given again.
constexpr auto leave_seat = joined(R"sql(
    DELETE FROM {s}.posthorn_leases
    WHERE name = $1 AND owner = $2 AND epoch = $3 AND name IN )sql",
                                   unlocked);

}  // namespace

lease_sql::lease_sql(connection& database)
    : find_(database, "SELECT owner, epoch, beat FROM {s}.posthorn_leases WHERE name = $1"),
      make_(database, R"sql(
          INSERT INTO {s}.posthorn_leases (name, owner, epoch, beat)
          VALUES ($1, NULL, 0, 0)
          ON CONFLICT DO NOTHING)sql"),
      take_(database, take_lease),
      beat_(database, R"sql(
          UPDATE {s}.posthorn_leases SET beat = beat + 1
          WHERE name = $1 AND owner = $2 AND epoch = $3)sql"),
      release_(database, R"sql(
          UPDATE {s}.posthorn_leases SET owner = NULL
          WHERE name = $1 AND owner = $2 AND epoch = $3)sql"),
      leave_(database, leave_seat),
      // The server ends by itself who is silent between two commands, and not in the middle of one.
      end_frozen_(database, R"sql(
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE usename = current_user AND datname = current_database()
              AND pid <> pg_backend_pid() AND application_name =
              current_setting('application_name') AND state = 'active'
              AND wait_event IN ('ClientRead', 'ClientWrite')
              AND state_change < clock_timestamp() -
              current_setting('idle_in_transaction_session_timeout')::interval
              AND pid IN (SELECT pid FROM pg_locks WHERE granted
              AND relation = to_regclass($leases${s}.posthorn_leases$leases$)
              AND mode IN ('RowShareLock', 'RowExclusiveLock'))
              AND EXISTS (SELECT 1 FROM {s}.posthorn_leases WHERE name = $1 AND owner = $2
              AND epoch = $3))sql") {}

result<std::optional<lease>> lease_sql::find(std::string_view name) {
    POSTHORN_LET(found, find_.run(name));
    if (found.empty() || found.front().is_null(0)) return std::nullopt;
    const auto row = found.front();
    return lease{std::string(row.text(0)), row.integer(1), row.integer(2)};
}

result<std::optional<lease>> lease_sql::take(std::string_view name, std::string_view owner,
                                             const std::optional<lease>& seen) {
    make_.defer(name);
    POSTHORN_LET(taken, seen ? take_.run(name, owner, seen->owner, seen->epoch, seen->beat)
                             : take_.run(name, owner, nullptr, nullptr, nullptr));
    if (taken.empty()) return std::nullopt;
    const auto row = taken.front();
    return lease{std::string(row.text(0)), row.integer(1), row.integer(2)};
}

result<bool> lease_sql::beat(std::string_view name, std::string_view owner, std::int64_t epoch) {
    return changed_any(beat_.run(name, owner, epoch));
}

result<bool> lease_sql::release(std::string_view name, std::string_view owner, std::int64_t epoch) {
    if (!name.starts_with(seat_prefix)) return changed_any(release_.run(name, owner, epoch));
    const auto left = changed_any(leave_.run(name, owner, epoch));
    if (left && !*left) POSTHORN_TRY(end_frozen_.run(name, owner, epoch));
    return left;
}

}  // namespace posthorn::postgres
