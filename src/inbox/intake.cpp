#include "inbox/intake.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/planted.hpp"
#include "inbox/answers.hpp"
#include "inbox/dedupe.hpp"
#include "inbox/handler_context.hpp"
#include "inbox/response.hpp"
#include "store/swallowed.hpp"

namespace posthorn {
namespace {

/// Rolls the unit back; what the sender is told lies in the arrival.
std::unexpected<error> roll_back(arrival& one) {
    one.rolled_back = true;
    return fail(error_code::cancelled, "the handler's work was rolled back");
}

/// Of a statement of ours on the inbox's table. What that refuses is of no message's doing.
template <class T>
result<T> noting_refusal(arrival& one, result<T> done) {
    if (!done && done.error().code() == error_code::statement_failed) one.table_refused = true;
    return done;
}

wall_time expiry_of(const arrival& one) {
    return heeded_expiry(one.what->created_at, one.what->expires_at);
}

}  // namespace

inbox_record intake::record_of(const arrival& one, wall_time now) const {
    return {.key = one.key(),
            .endpoint = one.what->endpoint,
            .hash = one.hash,
            .response = {},
            .processed_at = now,
            .expires_at = keep_until(expiry_of(one), now, options_.horizon)};
}

std::optional<inbox_record> intake::begins_with(const arrival& one) const {
    const auto now = time_.wall();
    if (is_past_horizon(expiry_of(one), now)) return std::nullopt;
    return record_of(one, now);
}

result<> intake::handle(store_transaction& tx, arrival& one) const {
    one.reset();
    const auto now = time_.wall();
    if (is_past_horizon(expiry_of(one), now)) return judge_late(tx, one, now);

    auto record = record_of(one, now);
    const auto is_new = noting_refusal(one, tx.inbox().insert(record));
    POSTHORN_TRY(is_new);
    if (!*is_new) {
        const auto known = judge_known(tx, one, now);
        POSTHORN_TRY(known);
        if (*known == verdict::answered) return {};
        // An external handler gave up on it, before this one took its place.
        POSTHORN_TRY(take_claim(tx, one, now));
    }

    POSTHORN_LET(response, run_handler(tx, one));
    if (*is_new) {
        if (!response.empty() && !POSTHORN_PLANTED(response_not_kept))
            POSTHORN_TRY(noting_refusal(one, tx.inbox().respond(record.key, response)));
    } else {
        record.response = response;
        const auto completed = noting_refusal(one, tx.inbox().complete(record, one.claim_owner));
        POSTHORN_TRY(completed);
        if (!*completed)
            return fail(error_code::statement_failed,
                        "the handler changed the inbox's own row; leave inbox_messages alone");
    }
    POSTHORN_TRY(reply(tx, one, response));
    one.answer = {.what = outcome::delivered, .payload = std::move(response)};
    return {};
}

result<> intake::reply(store_transaction& tx, const arrival& one, std::string_view response) const {
    if (one.by->answers_later) return {};
    return send_response(tx, maker_, one.handled(), response);
}

result<std::string> intake::run_handler(store_transaction& tx, arrival& one) const {
    handler_context through(tx, maker_, one.handled());
    std::string response;
    try {
        response = std::get<transactional_handler>(one.by->run)(through, one.handled());
    } catch (...) {
        one.settle(answer_to_exception(std::current_exception()));
    }
    // A handler may catch the error and go on, but what it then has is not what it asked for.
    if (auto intact = through.intact(); !intact) one.settle_by_store(intact.error());
    if (!one.answered && response.size() > options_.response_size_max)
        one.settle(answer_response_too_large(response.size(), options_.response_size_max));
    if (one.answered) return roll_back(one);
    return response;
}

result<> intake::claim(store_transaction& tx, arrival& one) const {
    one.reset();
    const auto now = time_.wall();
    if (is_past_horizon(expiry_of(one), now)) return judge_late(tx, one, now);
    const auto known = judge_known(tx, one, now);
    POSTHORN_TRY(known);
    if (*known == verdict::answered) return {};
    const auto taken = take_claim(tx, one, now);
    POSTHORN_TRY(taken);
    one.claimed = true;
    return {};
}

result<bool> intake::take_claim(store_transaction& tx, arrival& one, wall_time now) const {
    const inbox_claim wanted{.key = one.key(),
                             .endpoint = one.what->endpoint,
                             .hash = one.hash,
                             .owner = one.claim_owner,
                             .until = now + one.by->lease,
                             .expires_at = keep_until(expiry_of(one), now, options_.horizon)};
    // Whether the claim of before has run out was judged already, with regard to clocks set back.
    auto taken = noting_refusal(one, tx.inbox().claim(wanted, std::max(now, one.claim_before)));
    if (!taken || *taken) return taken;
    POSTHORN_LET(known, tx.inbox().find(wanted.key));
    // Not charged to the message either way.
    if (!known) return swallowed("inbox_messages", error_code::store_busy);
    return fail(error_code::store_busy,
                "the claim on message {} was changed meanwhile; it is tried again",
                one.what->id.to_string());
}

result<intake::verdict> intake::judge_known(store_transaction& tx, arrival& one,
                                            wall_time now) const {
    POSTHORN_LET(known, tx.inbox().find(one.key()));
    auto* const entry = known ? &*known : nullptr;
    if (entry != nullptr) one.claim_before = entry->claimed_until;
    const auto decided = decide(entry, one.hash, now, one.by->lease);
    if (decided.what == dedupe_decision::kind::run) return verdict::run;
    one.settle(answer_known(decided, *entry));
    return verdict::answered;
}

result<> intake::judge_late(store_transaction& tx, arrival& one, wall_time now) const {
    const auto known = judge_known(tx, one, now);
    POSTHORN_TRY(known);
    if (*known == verdict::run)
        one.settle(guard_.jumped() ? answer_clock_in_doubt() : answer_expired(*one.what));
    return {};
}

result<> intake::complete(store_transaction& tx, arrival& one, std::string_view response) const {
    one.reset();
    auto record = record_of(one, time_.wall());
    record.response = response;
    const auto completed = noting_refusal(one, tx.inbox().complete(record, one.claim_owner));
    POSTHORN_TRY(completed);
    if (*completed) return reply(tx, one, response);
    one.settle(answer_claim_lost());
    return {};
}

}  // namespace posthorn
