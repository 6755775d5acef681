#include "store/postgres/dead_letters_sql.hpp"

#include <utility>

#include "base/assert.hpp"
#include "store/postgres/dead_rows.hpp"
#include "store/sqlite/dead_rows.hpp"
#include "store/sqlite/outbox_rows.hpp"

namespace posthorn::postgres {
namespace {

// A message that has less left than this could not be tried once.
constexpr std::chrono::milliseconds time_left_min = std::chrono::seconds{1};

std::string_view verb(dead_action what) {
    switch (what) {
        case dead_action::requeue: return "requeued";
        case dead_action::resolve: return "resolved";
        case dead_action::remove: return "deleted";
    }
    return "";
}

std::string_view kind_of(dead_action what) {  // In the change log.
    switch (what) {
        case dead_action::requeue: return "outbox.requeued";
        case dead_action::resolve: return "outbox.resolved";
        case dead_action::remove: return "outbox.deleted";
    }
    return "";
}

bool is_open_to(dead_action what, outbox_status status) {
    return status == outbox_status::dead || status == outbox_status::expired ||
           (status == outbox_status::resolved && what == dead_action::remove);
}

std::unexpected<error> too_late(std::string_view id, wall_time expired_at) {
    return fail(
        error_code::message_expired,
        "message {} expired at {}, so its receiver may no longer know whether it came "
        "before; --new-id sends it as a new message, which takes effect a second time if it "
        "was received after all",
        id, to_iso8601(expired_at));
}

}  // namespace

// Rows that are read to be changed are locked: another node may change them too.
dead_letters_sql::dead_letters_sql(connection& database, const message_limits& limits,
                                   const neighbours& others)
    : limits_(limits),
      with_(others),
      by_id_(database.prepare("SELECT " POSTHORN_PG_DEAD_ROW
                              " FROM {s}.outbox_messages AS m WHERE message_id = $1 FOR UPDATE")),
      by_seq_(database.prepare("SELECT " POSTHORN_PG_DEAD_ROW
                               " FROM {s}.outbox_messages AS m WHERE seq = $1")),
      keys_(database.prepare("SELECT " POSTHORN_PG_DEAD_KEYS
                             " FROM {s}.outbox_messages AS m WHERE m.seq = $1 FOR UPDATE")),
      requeue_(database.prepare(
          "UPDATE {s}.outbox_messages SET status = 'Pending', retry_count = 0, resolution = NULL,"
          " next_retry_at = coalesce(deliver_at, 0) WHERE seq = $1")),
      renew_(database.prepare(
          "UPDATE {s}.outbox_messages SET message_id = {s}.new_id(), created_at = $2,"
          " expires_at = $2::bigint + greatest(expires_at - created_at, 1000), deliver_at = NULL"
          " WHERE seq = $1")),
      // Before the row has its new id, so that the old one is kept.
      note_(database.prepare(
          "INSERT INTO {s}.outbox_attempts (seq, attempt, at, error) SELECT $1::bigint, coalesce("
          "(SELECT max(attempt) FROM {s}.outbox_attempts WHERE seq = $1::bigint), 0) + 1,"
          " $2::bigint, 'requeued under a new id; until then it was ' || message_id"
          " FROM {s}.outbox_messages WHERE seq = $1::bigint")),
      resolve_(database.prepare("UPDATE {s}.outbox_messages SET status = 'Resolved',"
                                " resolution = $2 WHERE seq = $1")),
      remove_(database.prepare("DELETE FROM {s}.outbox_messages WHERE seq = $1")),
      expire_(database.prepare(
          "UPDATE {s}.outbox_messages SET status = 'Expired', last_error ="
          " 'not delivered before it expired' || coalesce('; last: ' || last_error, '')"
          " WHERE seq = $1 AND status = 'Dead' AND expires_at <= $2")),
      ended_(database.prepare(
          "INSERT INTO {s}.outbox_ended (seq) VALUES ($1) ON CONFLICT DO NOTHING")),
      edit_(database.prepare(
          "UPDATE {s}.outbox_messages SET destination = $2, endpoint = $3, payload = $4,"
          " payload_bytes = $5, content_type = $6, headers = $7, max_retries = $8"
          " WHERE seq = $1")),
      whole_(database.prepare("SELECT " POSTHORN_PG_OUTBOX_COLUMNS
                              " FROM {s}.outbox_messages WHERE seq = $1")),
      reseal_(database.prepare("UPDATE {s}.outbox_messages SET checksum = $2 WHERE seq = $1")) {}

result<dead_letter_row> dead_letters_sql::find(const uuid& id, std::string_view if_state) {
    auto found = by_id_.run(id);
    if (!found) return std::unexpected(std::move(found).error());
    if (found->empty())
        return fail(error_code::not_found,
                    "no message {} is in the outbox; it may have been purged or deleted",
                    id.to_string());
    auto row = sqlite::read_dead_row(found->front());
    if (if_state.empty() || row.state == if_state) return row;
    return fail(error_code::state_changed,
                "message {} has changed since you looked: it is {} now, in state {}; look at it "
                "again before you change it",
                row.summary.id, to_string(row.summary.status), row.state);
}

result<dead_changed> dead_letters_sql::present(std::int64_t seq) {
    auto found = by_seq_.run(seq);
    if (!found) return std::unexpected(std::move(found).error());
    POSTHORN_ASSERT(!found->empty());
    auto row = sqlite::read_dead_row(found->front());
    return dead_changed{
        .id = row.summary.id, .status = row.summary.status, .state = std::move(row.state)};
}

result<dead_changed> dead_letters_sql::change(const uuid& id, const dead_change& how,
                                              wall_time now) {
    auto row = find(id, how.if_state);
    if (!row) return std::unexpected(std::move(row).error());
    const auto& summary = row->summary;
    if (!is_open_to(how.what, summary.status))
        return fail(error_code::state_changed,
                    "message {} is {}, not Dead or Expired; only what was given up is {}",
                    summary.id, to_string(summary.status), verb(how.what));
    const target what{.seq = summary.seq,
                      .scope = {summary.destination, summary.order_key, summary.tenant},
                      .expires_at = summary.expires_at};
    const bool over =
        summary.status == outbox_status::expired || summary.expires_at < now + time_left_min;
    if (how.what == dead_action::requeue && over && !how.new_id)
        return too_late(summary.id, summary.expires_at);
    POSTHORN_TRY(apply(what, how, now));
    with_.changes.append(kind_of(how.what), {what.seq}, now);
    if (how.what == dead_action::remove)
        return dead_changed{.id = summary.id, .status = summary.status, .removed = true};
    return present(what.seq);
}

result<dead_many> dead_letters_sql::change_many(std::span<const std::int64_t> seqs,
                                                const dead_filter& still, const dead_change& how,
                                                wall_time now) {
    dead_many done;
    std::vector<std::int64_t> changed;
    for (const auto seq : seqs) {
        auto found = keys_.run(seq);
        if (!found) return std::unexpected(std::move(found).error());
        if (found->empty()) continue;
        const auto keys = found->front();
        if (!sqlite::fits(keys, still)) continue;  // Somebody was quicker.
        if (!is_open_to(how.what, still.status)) continue;
        const target what{.seq = seq,
                          .scope = {.destination = std::string(keys.text(1)),
                                    .order_key = std::string(keys.text(sqlite::order_key_column)),
                                    .tenant = std::string(keys.text(3))},
                          .expires_at = from_ms(keys.integer(sqlite::expires_at_column))};
        const bool over =
            still.status == outbox_status::expired || what.expires_at < now + time_left_min;
        if (how.what == dead_action::requeue && over && !how.new_id) {
            ++done.expired;
            continue;
        }
        POSTHORN_TRY(apply(what, how, now));
        changed.push_back(seq);
    }
    done.changed = std::ssize(changed);
    with_.changes.append(kind_of(how.what), std::move(changed), now);
    return done;
}

result<> dead_letters_sql::apply(const target& what, const dead_change& how, wall_time now) {
    switch (how.what) {
        case dead_action::requeue: return requeue(what, how.new_id, now);
        case dead_action::resolve: return resolve(what, how.resolution, now);
        case dead_action::remove: break;
    }
    return remove(what);
}

result<> dead_letters_sql::requeue(const target& what, bool new_id, wall_time now) {
    if (new_id) POSTHORN_TRY(renew(what.seq, now));
    POSTHORN_TRY(requeue_.run(what.seq));
    return what.scope.order_key.empty() ? result<>{} : with_.outbox.place(what.seq);
}

// The same row, so that it keeps its place among those of its order key.
result<> dead_letters_sql::renew(std::int64_t seq, wall_time now) {
    const auto before = seal_of(seq);
    POSTHORN_TRY(before);
    note_.defer(seq, to_ms(now));
    POSTHORN_TRY(renew_.run(seq, to_ms(now)));
    return reseal(seq, *before);
}

result<dead_letters_sql::seal> dead_letters_sql::seal_of(std::int64_t seq) {
    auto found = whole_.run(seq);
    if (!found) return std::unexpected(std::move(found).error());
    if (found->empty() || found->front().is_null(sqlite::outbox_columns - 1)) return seal::none;
    const auto row = sqlite::read_row(found->front(), {});
    return !row && row.error().code() == error_code::store_corrupt ? seal::broken : seal::fits;
}

// What the disk has changed stays known as such, so that it is buried again and not sent.
result<> dead_letters_sql::reseal(std::int64_t seq, seal before) {
    if (before == seal::none) return {};
    std::int64_t sum = -1;  // Fits nothing.
    if (before == seal::fits) {
        auto found = whole_.run(seq);
        if (!found) return std::unexpected(std::move(found).error());
        POSTHORN_ASSERT(!found->empty());
        if (const auto row = sqlite::read_row(found->front(), {}))
            sum = sqlite::checksum_of(row->body);
    }
    POSTHORN_TRY(reseal_.run(seq, sum));
    return {};
}

result<> dead_letters_sql::resolve(const target& what, std::string_view resolution, wall_time now) {
    POSTHORN_TRY(resolve_.run(what.seq, or_null(storable(resolution))));
    POSTHORN_TRY(with_.closed.record(what.seq, outbox_status::resolved, now));
    return let_go(what.scope);
}

result<> dead_letters_sql::remove(const target& what) {
    POSTHORN_TRY(remove_.run(what.seq));
    return let_go(what.scope);
}

// The next of its order key waited for this one.
result<> dead_letters_sql::let_go(const order_scope& of) {
    return of.order_key.empty() ? result<>{} : with_.outbox.let_go(of);
}

result<std::int64_t> dead_letters_sql::expire(std::span<const std::int64_t> seqs, wall_time now) {
    std::vector<std::int64_t> expired;
    for (const auto seq : seqs) {
        auto done = expire_.run(seq, to_ms(now));
        if (!done) return std::unexpected(std::move(done).error());
        if (done->changed() == 0) continue;
        POSTHORN_TRY(with_.closed.record(seq, outbox_status::expired, now));
        ended_.defer(seq);
        expired.push_back(seq);
    }
    const auto count = std::ssize(expired);
    with_.changes.append("outbox.expired", std::move(expired), now);
    return count;
}

result<message> dead_letters_sql::edited(std::int64_t seq, const message_edit& how) {
    auto found = whole_.run(seq);
    if (!found) return std::unexpected(std::move(found).error());
    POSTHORN_ASSERT(!found->empty());
    const auto row = found->front();
    const auto text = [&](const std::optional<std::string>& asked, std::size_t column) {
        return asked ? *asked : std::string(row.text(column));
    };
    message body;
    body.id = uuid::parse(row.text(1)).value_or(uuid{});
    body.source = "edited";  // Its own is not in the table.
    body.destination = text(how.destination, 3);
    body.endpoint = text(how.endpoint, 4);
    body.payload = text(how.payload, 5);
    body.content_type = text(how.content_type, 6);
    body.headers = text(how.headers, 7);
    body.correlation_id = row.text(8);
    body.tenant = row.text(9);
    body.order_key = row.text(10);
    body.dedupe_key = row.text(11);
    body.max_retries = how.max_retries.value_or(row.get<std::int32_t>(15));
    body.created_at = from_ms(row.integer(16));
    body.expires_at = from_ms(row.integer(17));
    POSTHORN_TRY(validate(body, limits_));
    return body;
}

result<> dead_letters_sql::write(std::int64_t seq, const message& body) {
    auto with = values::of(seq, body.destination, body.endpoint);
    add_payload(with, body.payload);
    with.add(body.content_type);
    with.add(or_null(body.headers));
    with.add(std::int64_t{body.max_retries});
    POSTHORN_TRY(edit_.run_with(std::move(with)));
    return {};
}

result<dead_changed> dead_letters_sql::edit(const uuid& id, const message_edit& how,
                                            std::string_view if_state, wall_time now) {
    auto row = find(id, if_state);
    if (!row) return std::unexpected(std::move(row).error());
    const auto& summary = row->summary;
    if (!is_open_to(dead_action::resolve, summary.status))
        return fail(error_code::state_changed,
                    "message {} is {}, not Dead or Expired; only what was given up is edited",
                    summary.id, to_string(summary.status));
    const auto body = edited(summary.seq, how);
    if (!body) return std::unexpected(body.error());
    auto before = seal_of(summary.seq);
    if (!before) return std::unexpected(std::move(before).error());
    if (*before == seal::broken && how.payload) before = seal::fits;  // It is somebody's word now.
    POSTHORN_TRY(write(summary.seq, *body));
    POSTHORN_TRY(reseal(summary.seq, *before));
    const bool moved = body->destination != summary.destination;
    if (moved)  // Who waited for it at the old destination waits no more.
        POSTHORN_TRY(let_go({summary.destination, summary.order_key, summary.tenant}));
    if (moved || body->endpoint != summary.endpoint)  // Another group.
        POSTHORN_TRY(
            with_.closed.record(summary.seq, summary.status, row->closed_at.value_or(now)));
    with_.changes.append("outbox.edited", {summary.seq}, now);
    return present(summary.seq);
}

}  // namespace posthorn::postgres
