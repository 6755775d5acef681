#include "store/rules/dead_letter_rules.hpp"

#include <utility>

#include "store/rows/dead_rows.hpp"
#include "store/rows/outbox_rows.hpp"
#include "store/rows/stored_time.hpp"

namespace posthorn {
namespace {

// A message that has less left than this could not be tried once.
constexpr std::chrono::milliseconds time_left_min = std::chrono::seconds{1};

std::string_view verb(dead_action what) {
    switch (what) {
        case dead_action::requeue: return "requeued";
        case dead_action::resolve: return "resolved";
        case dead_action::remove: return "deleted";
        case dead_action::reopen: return "reopened";
    }
    return "";
}

std::string_view kind_of(dead_action what) {  // In the change log.
    switch (what) {
        case dead_action::requeue: return "outbox.requeued";
        case dead_action::resolve: return "outbox.resolved";
        case dead_action::remove: return "outbox.deleted";
        case dead_action::reopen: return "outbox.reopened";
    }
    return "";
}

outbox_status status_after(dead_action what) {
    if (what == dead_action::reopen) return outbox_status::dead;
    return what == dead_action::requeue ? outbox_status::pending : outbox_status::resolved;
}

bool is_open_to(dead_action what, outbox_status status) {
    if (what == dead_action::reopen) return status == outbox_status::resolved;
    return status == outbox_status::dead || status == outbox_status::expired ||
           (status == outbox_status::resolved && what == dead_action::remove);
}

// A row whose dedupe key was known when it came: the first message went out in its place, so this
// one must not. One that was given up has an error.
bool is_repeat(std::string_view resolution, std::string_view last_error) {
    return resolution.starts_with("repeats ") && last_error.empty();
}

bool is_too_late(const dead_change& how, outbox_status status, wall_time expires_at,
                 wall_time now) {
    const bool over = status == outbox_status::expired || expires_at < now + time_left_min;
    return how.what == dead_action::requeue && over && !how.new_id;
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

result<dead_letter_row> dead_letter_rules::find(const uuid& id, std::string_view if_state) {
    dead_letter_row row;
    POSTHORN_LET(found, visit_by_id(id, [&](const sql_row& from) { row = read_dead_row(from); }));
    if (!found)
        return fail(error_code::not_found,
                    "no message {} is in the outbox; it may have been purged or deleted",
                    id.to_string());
    if (if_state.empty() || row.state == if_state) return row;
    return fail(error_code::state_changed,
                "message {} has changed since you looked: it is {} now, in state {}; look at it "
                "again before you change it",
                row.summary.id, to_string(row.summary.status), row.state);
}

// A trigger of the application's may have deleted the row by now: then it is told as it was left.
result<dead_changed> dead_letter_rules::present(std::int64_t seq, dead_changed if_gone) {
    dead_letter_row row;
    POSTHORN_LET(found, visit_by_seq(seq, [&](const sql_row& from) { row = read_dead_row(from); }));
    if (!found) return if_gone;
    return dead_changed{
        .id = row.summary.id, .status = row.summary.status, .state = std::move(row.state)};
}

result<dead_changed> dead_letter_rules::change(const uuid& id, const dead_change& how,
                                               wall_time now) {
    POSTHORN_LET(row, find(id, how.if_state));
    const auto& summary = row.summary;
    if (!is_open_to(how.what, summary.status))
        return fail(error_code::state_changed, "message {} is {}, not {}; only that is {}",
                    summary.id, to_string(summary.status),
                    how.what == dead_action::reopen ? "Resolved" : "Dead or Expired",
                    verb(how.what));
    if (how.what == dead_action::reopen && is_repeat(summary.resolution, summary.last_error))
        return fail(error_code::state_changed,
                    "message {} was never given up: it {}, by its dedupe key, and that message was "
                    "sent in its place; if it is wanted all the same, send it under another key",
                    summary.id, summary.resolution);
    const target what{.seq = summary.seq,
                      .scope = {summary.destination, summary.order_key, summary.tenant},
                      .expires_at = summary.expires_at};
    if (is_too_late(how, summary.status, what.expires_at, now))
        return too_late(summary.id, summary.expires_at);
    POSTHORN_TRY(apply(what, how, now));
    POSTHORN_TRY(log(kind_of(how.what), {what.seq}, now));
    if (how.what == dead_action::remove)
        return dead_changed{.id = summary.id, .status = summary.status, .removed = true};
    return present(what.seq, {.id = summary.id, .status = status_after(how.what), .state = {}});
}

result<std::optional<dead_letter_rules::target>> dead_letter_rules::target_of(
    std::int64_t seq, const dead_filter& still, dead_action how) {
    std::optional<target> what;
    const auto found = visit_keys(seq, [&](const sql_row& keys) {
        if (!fits(keys, still)) return;  // Another change was quicker.
        if (how == dead_action::reopen &&
            is_repeat(keys.text(resolution_column), keys.text(last_error_column)))
            return;
        what = target{.seq = seq,
                      .scope = {.destination = std::string(keys.text(1)),
                                .order_key = std::string(keys.text(order_key_column)),
                                .tenant = std::string(keys.text(3))},
                      .expires_at = from_ms(keys.integer(expires_at_column))};
    });
    if (!found) return std::unexpected(found.error());
    return what;
}

result<dead_many> dead_letter_rules::change_many(std::span<const std::int64_t> seqs,
                                                 const dead_filter& still, const dead_change& how,
                                                 wall_time now) {
    dead_many done;
    if (!is_open_to(how.what, still.status)) return done;
    std::vector<std::int64_t> changed;
    for (const auto seq : seqs) {
        POSTHORN_LET(what, target_of(seq, still, how.what));
        if (!what) continue;
        if (is_too_late(how, still.status, what->expires_at, now)) {
            ++done.expired;
            continue;
        }
        POSTHORN_TRY(apply(*what, how, now));
        changed.push_back(seq);
    }
    done.changed = std::ssize(changed);
    POSTHORN_TRY(log(kind_of(how.what), std::move(changed), now));
    return done;
}

result<> dead_letter_rules::apply(const target& what, const dead_change& how, wall_time now) {
    switch (how.what) {
        case dead_action::requeue: return requeue(what, how, now);
        case dead_action::resolve:
            POSTHORN_TRY(make_resolved(what.seq, how.resolution));
            POSTHORN_TRY(record_closed(what.seq, outbox_status::resolved, now));
            break;
        case dead_action::remove: POSTHORN_TRY(erase(what.seq)); break;
        case dead_action::reopen:
            POSTHORN_TRY(make_dead(what.seq));
            return record_closed(what.seq, outbox_status::dead, now);
    }
    return let_go(what.scope);
}

// With a new id it is the same row, so that it keeps its place among those of its order key.
result<> dead_letter_rules::requeue(const target& what, const dead_change& how, wall_time now) {
    if (how.new_id) {
        const auto before = seal_of(what.seq);
        POSTHORN_TRY(before);
        POSTHORN_TRY(give_new_id(what.seq, {now, how.expires_in}));
        POSTHORN_TRY(reseal(what.seq, *before));
    }
    POSTHORN_TRY(make_pending(what.seq));
    return what.scope.order_key.empty() ? result<>{} : place(what.seq);
}

// The next of its order key waited for this one.
result<> dead_letter_rules::let_go(const order_scope& of) {
    return of.order_key.empty() ? result<>{} : release_next(of);
}

result<dead_letter_rules::seal> dead_letter_rules::seal_of(std::int64_t seq) {
    auto is = seal::none;
    const auto found = visit_whole(seq, [&](const sql_row& from) {
        if (from.is_null(outbox_columns_count - 1)) return;
        const auto row = read_row(from, {});
        is = !row && row.error().code() == error_code::store_corrupt ? seal::broken : seal::fits;
    });
    if (!found) return std::unexpected(found.error());
    return is;
}

// What the disk has changed stays known as such, so that it is buried again and not sent.
result<> dead_letter_rules::reseal(std::int64_t seq, seal before) {
    if (before == seal::none) return {};
    constexpr std::int64_t fits_nothing = -1;
    auto sum = fits_nothing;
    if (before == seal::fits)
        POSTHORN_TRY(visit_whole(seq, [&](const sql_row& from) {
            if (const auto row = read_row(from, {})) sum = checksum_of(row->body);
        }));
    return set_checksum(seq, sum);
}

result<std::int64_t> dead_letter_rules::expire(std::span<const std::int64_t> seqs, wall_time now) {
    std::vector<std::int64_t> expired;
    for (const auto seq : seqs) {
        POSTHORN_LET(done, make_expired(seq, now));
        if (!done) continue;
        POSTHORN_TRY(record_closed(seq, outbox_status::expired, now));
        expired.push_back(seq);
    }
    const auto count = std::ssize(expired);
    POSTHORN_TRY(log("outbox.expired", std::move(expired), now));
    return count;
}

namespace {

/// What an edit changes, and what it was; of a payload only how long.
std::string changes_of(const message& body, const sql_row& before) {
    std::string all;
    const auto add = [&](std::string_view what, std::string_view was) {
        all += fmt::format("{}{} ({})", all.empty() ? "" : ", ", what, was);
    };
    const auto was = [](std::string_view text) {
        return text.empty() ? std::string("there was none") : fmt::format("it was {}", text);
    };
    if (body.payload != before.text(5))
        add("payload", fmt::format("it had {} bytes", before.text(5).size()));
    if (body.destination != before.text(3)) add("destination", was(before.text(3)));
    if (body.endpoint != before.text(4)) add("endpoint", was(before.text(4)));
    if (body.content_type != before.text(6)) add("content type", was(before.text(6)));
    if (body.headers != before.text(7))
        add("headers", fmt::format("they had {} bytes", before.text(7).size()));
    if (body.max_retries != before.get<std::int32_t>(15))
        add("retries", fmt::format("there were {}", before.get<std::int32_t>(15)));
    return all;
}

}  // namespace

result<dead_letter_rules::edited_message> dead_letter_rules::edited(std::int64_t seq,
                                                                    const message_edit& how) {
    message body;
    std::string changes;
    const auto found = visit_whole(seq, [&](const sql_row& row) {
        const auto text = [&](const std::optional<std::string>& asked, std::size_t column) {
            return asked ? *asked : std::string(row.text(column));
        };
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
        changes = changes_of(body, row);
    });
    if (!found) return std::unexpected(found.error());
    if (!*found)
        return fail(error_code::state_changed, "the message was deleted meanwhile; look again");
    POSTHORN_TRY(validate(body, limits_));
    return edited_message{std::move(body), std::move(changes)};
}

result<dead_changed> dead_letter_rules::edit(const uuid& id, const message_edit& how,
                                             std::string_view if_state, wall_time now) {
    POSTHORN_LET(row, find(id, if_state));
    const auto& summary = row.summary;
    if (!is_open_to(dead_action::resolve, summary.status))
        return fail(error_code::state_changed,
                    "message {} is {}, not Dead or Expired; only what was given up is edited",
                    summary.id, to_string(summary.status));
    POSTHORN_LET(fresh, edited(summary.seq, how));
    const auto& body = fresh.body;
    auto before = seal_of(summary.seq);
    if (!before) return std::unexpected(std::move(before).error());
    if (*before == seal::broken && how.payload) before = seal::fits;  // An operator's word now.
    POSTHORN_TRY(write(summary.seq, body));
    POSTHORN_TRY(reseal(summary.seq, *before));
    if (!fresh.changes.empty())
        POSTHORN_TRY(note(summary.seq, "edited by an operator: " + fresh.changes, now));
    const bool moved = body.destination != summary.destination;
    if (moved)  // Who waited for it at the old destination waits no more.
        POSTHORN_TRY(let_go({summary.destination, summary.order_key, summary.tenant}));
    if (moved || body.endpoint != summary.endpoint)  // Another group.
        POSTHORN_TRY(record_closed(summary.seq, summary.status, row.closed_at.value_or(now)));
    POSTHORN_TRY(log("outbox.edited", {summary.seq}, now));
    return present(summary.seq, {.id = summary.id, .status = summary.status, .state = {}});
}

}  // namespace posthorn
