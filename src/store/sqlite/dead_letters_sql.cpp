#include "store/sqlite/dead_letters_sql.hpp"

#include <utility>

#include <sqlite3.h>

#include "base/assert.hpp"
#include "store/sqlite/dead_rows.hpp"
#include "store/sqlite/outbox_insert.hpp"
#include "store/sqlite/outbox_rows.hpp"
#include "store/sqlite/prepare_all.hpp"
#include "store/sqlite/sql_defaults.hpp"

namespace posthorn::sqlite {
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

result<dead_letters_sql> dead_letters_sql::open(connection& database,
                                                const message_limits& limits) {
    dead_letters_sql made;
    made.limits_ = limits;
    auto order = order_keys::open(database);
    if (!order) return std::unexpected(std::move(order).error());
    made.order_ = *std::move(order);
    POSTHORN_TRY(prepare_all(
        database,
        {{&made.by_id_, "SELECT " POSTHORN_DEAD_ROW " FROM outbox_messages WHERE message_id = ?"},
         {&made.by_seq_, "SELECT " POSTHORN_DEAD_ROW " FROM outbox_messages WHERE seq = ?"},
         {&made.keys_, "SELECT " POSTHORN_DEAD_KEYS " FROM outbox_messages WHERE seq = ?"},
         {&made.requeue_,
          "UPDATE outbox_messages SET status = 'Pending', retry_count = 0, resolution = NULL,"
          " next_retry_at = coalesce(deliver_at, 0) WHERE seq = ?"},
         // Before the row has its new id, so that the old one is kept.
         {&made.note_,
          "INSERT INTO outbox_attempts (seq, attempt, at, error) SELECT ?1, coalesce("
          "(SELECT max(attempt) FROM outbox_attempts WHERE seq = ?1), 0) + 1, ?2,"
          " 'requeued under a new id; until then it was ' || message_id"
          " FROM outbox_messages WHERE seq = ?1"},
         {&made.renew_, "UPDATE outbox_messages SET message_id = " POSTHORN_NEW_ID
                        ", created_at = ?2, expires_at = ?2 + max(expires_at - created_at, 1000),"
                        " deliver_at = NULL WHERE seq = ?1"},
         {&made.resolve_,
          "UPDATE outbox_messages SET status = 'Resolved', resolution = ?2 WHERE seq = ?1"},
         {&made.remove_, "DELETE FROM outbox_messages WHERE seq = ?"},
         {&made.expire_,
          "UPDATE outbox_messages SET status = 'Expired', last_error ="
          " 'not delivered before it expired' || coalesce('; last: ' || last_error, '')"
          " WHERE seq = ?1 AND status = 'Dead' AND expires_at <= ?2"},
         {&made.ended_, "INSERT OR IGNORE INTO outbox_ended (seq) VALUES (?)"},
         {&made.content_,
          "SELECT message_id, message_type, destination, endpoint, payload, content_type, headers,"
          " correlation_id, tenant, order_key, dedupe_key, max_retries, created_at, expires_at"
          " FROM outbox_messages WHERE seq = ?"},
         {&made.edit_,
          "UPDATE outbox_messages SET destination = ?2, endpoint = ?3, payload = ?4,"
          " content_type = ?5, headers = ?6, max_retries = ?7 WHERE seq = ?1"},
         {&made.whole_, "SELECT " POSTHORN_OUTBOX_COLUMNS " FROM outbox_messages WHERE seq = ?"},
         {&made.reseal_, "UPDATE outbox_messages SET checksum = ?2 WHERE seq = ?1"}}));
    return made;
}

result<dead_letter_row> dead_letters_sql::find(const uuid& id, std::string_view if_state) {
    const reset_at_end reset(by_id_);
    by_id_.bind(1, id);
    auto found = by_id_.step();
    if (!found) return std::unexpected(std::move(found).error());
    if (!*found)
        return fail(error_code::not_found,
                    "no message {} is in the outbox; it may have been purged or deleted",
                    id.to_string());
    auto row = read_dead_row(by_id_);
    if (if_state.empty() || row.state == if_state) return row;
    return fail(error_code::state_changed,
                "message {} has changed since you looked: it is {} now, in state {}; look at it "
                "again before you change it",
                row.summary.id, to_string(row.summary.status), row.state);
}

result<dead_changed> dead_letters_sql::present(std::int64_t seq) {
    const reset_at_end reset(by_seq_);
    by_seq_.bind(1, seq);
    auto found = by_seq_.step();
    if (!found) return std::unexpected(std::move(found).error());
    POSTHORN_ASSERT(*found);
    auto row = read_dead_row(by_seq_);
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
    POSTHORN_TRY(changes_->append(kind_of(how.what), {what.seq}, now));
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
        target what{.seq = seq};
        {
            const reset_at_end reset(keys_);
            keys_.bind(1, seq);
            auto found = keys_.step();
            if (!found) return std::unexpected(std::move(found).error());
            if (!*found || !fits(keys_, still)) continue;  // Somebody was quicker.
            if (!is_open_to(how.what, still.status)) continue;
            what.scope = {.destination = std::string(keys_.text(1)),
                          .order_key = std::string(keys_.text(order_key_column)),
                          .tenant = std::string(keys_.text(3))};
            what.expires_at = from_ms(keys_.integer(expires_at_column));
        }
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
    POSTHORN_TRY(changes_->append(kind_of(how.what), std::move(changed), now));
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
    requeue_.bind(1, what.seq);
    POSTHORN_TRY(requeue_.run());
    return what.scope.order_key.empty() ? result<>{} : order_.place(what.seq);
}

// The same row, so that it keeps its place among those of its order key.
result<> dead_letters_sql::renew(std::int64_t seq, wall_time now) {
    const auto before = seal_of(seq);
    POSTHORN_TRY(before);
    for (auto* each : {&note_, &renew_}) {
        each->bind(1, seq);
        each->bind(2, to_ms(now));
        POSTHORN_TRY(each->run());
    }
    return reseal(seq, *before);
}

result<dead_letters_sql::seal> dead_letters_sql::seal_of(std::int64_t seq) {
    const reset_at_end reset(whole_);
    whole_.bind(1, seq);
    auto found = whole_.step();
    if (!found) return std::unexpected(std::move(found).error());
    if (!*found || whole_.is_null(outbox_columns - 1)) return seal::none;
    const auto row = read_row(whole_, {});
    return !row && row.error().code() == error_code::store_corrupt ? seal::broken : seal::fits;
}

// What the disk has changed stays known as such, so that it is buried again and not sent.
result<> dead_letters_sql::reseal(std::int64_t seq, seal before) {
    constexpr std::int64_t fits_nothing = -1;
    if (before == seal::none) return {};
    reseal_.bind(1, seq);
    reseal_.bind(2, fits_nothing);
    if (before == seal::fits) {
        const reset_at_end reset(whole_);
        whole_.bind(1, seq);
        auto found = whole_.step();
        if (!found) return std::unexpected(std::move(found).error());
        const auto row = read_row(whole_, {});
        if (row) reseal_.bind(2, checksum_of(row->body));
    }
    return reseal_.run();
}

result<> dead_letters_sql::resolve(const target& what, std::string_view resolution, wall_time now) {
    resolve_.bind(1, what.seq);
    resolve_.bind_or_null(2, resolution);
    POSTHORN_TRY(resolve_.run());
    POSTHORN_TRY(closed_->record(what.seq, outbox_status::resolved, now));
    return let_go(what.scope);
}

result<> dead_letters_sql::remove(const target& what) {
    remove_.bind(1, what.seq);
    POSTHORN_TRY(remove_.run());
    return let_go(what.scope);
}

// The next of its order key waited for this one.
result<> dead_letters_sql::let_go(const order_scope& of) {
    return of.order_key.empty() ? result<>{} : outbox_->let_go(of);
}

result<std::int64_t> dead_letters_sql::expire(std::span<const std::int64_t> seqs, wall_time now) {
    std::vector<std::int64_t> expired;
    for (const auto seq : seqs) {
        expire_.bind(1, seq);
        expire_.bind(2, to_ms(now));
        POSTHORN_TRY(expire_.run());
        if (sqlite3_changes(sqlite3_db_handle(expire_.handle())) == 0) continue;
        POSTHORN_TRY(closed_->record(seq, outbox_status::expired, now));
        ended_.bind(1, seq);
        POSTHORN_TRY(ended_.run());
        expired.push_back(seq);
    }
    const auto count = std::ssize(expired);
    POSTHORN_TRY(changes_->append("outbox.expired", std::move(expired), now));
    return count;
}

result<message> dead_letters_sql::edited(std::int64_t seq, const message_edit& how) {
    const reset_at_end reset(content_);
    content_.bind(1, seq);
    auto found = content_.step();
    if (!found) return std::unexpected(std::move(found).error());
    POSTHORN_ASSERT(*found);
    message body;
    body.id = uuid::parse(content_.text(0)).value_or(uuid{});
    body.source = "edited";  // Its own is not in the table.
    const auto text = [&](const std::optional<std::string>& asked, std::size_t column) {
        return asked ? *asked : std::string(content_.text(column));
    };
    body.destination = text(how.destination, 2);
    body.endpoint = text(how.endpoint, 3);
    body.payload = text(how.payload, 4);
    body.content_type = text(how.content_type, 5);
    body.headers = text(how.headers, 6);
    body.correlation_id = content_.text(7);
    body.tenant = content_.text(8);
    body.order_key = content_.text(9);
    body.dedupe_key = content_.text(10);
    body.max_retries = how.max_retries.value_or(content_.get<std::int32_t>(11));
    body.created_at = from_ms(content_.integer(12));
    body.expires_at = from_ms(content_.integer(13));
    POSTHORN_TRY(validate(body, limits_));
    return body;
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
    edit_.bind(1, summary.seq);
    edit_.bind(2, std::string_view(body->destination));
    edit_.bind(3, std::string_view(body->endpoint));
    edit_.bind(4, std::string_view(body->payload));
    edit_.bind(5, std::string_view(body->content_type));
    edit_.bind_or_null(6, body->headers);
    edit_.bind(7, std::int64_t{body->max_retries});
    POSTHORN_TRY(edit_.run());
    POSTHORN_TRY(reseal(summary.seq, *before));
    const bool moved = body->destination != summary.destination;
    if (moved)  // Who waited for it at the old destination waits no more.
        POSTHORN_TRY(let_go({summary.destination, summary.order_key, summary.tenant}));
    if (moved || body->endpoint != summary.endpoint)  // Another group.
        POSTHORN_TRY(closed_->record(summary.seq, summary.status, row->closed_at.value_or(now)));
    POSTHORN_TRY(changes_->append("outbox.edited", {summary.seq}, now));
    return present(summary.seq);
}

}  // namespace posthorn::sqlite
