#include "inbox/answers.hpp"

#include <utility>

#include <fmt/format.h>

#include <posthorn/error.hpp>

#include "base/assert.hpp"
#include "base/text/utf8.hpp"
#include "inbox/horizon.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t error_characters_max = 2000;
constexpr std::chrono::milliseconds store_pause = 5s;
constexpr std::chrono::milliseconds handler_pause = 5s;
constexpr std::chrono::milliseconds clock_pause = 30s;

delivery refusal(outcome what, error_code code, std::string_view text) {
    return {
        .what = what,
        .error = clean_utf8(fmt::format("{}: {}", describe(code).name, text), error_characters_max),
        .code = code};
}

delivery failure(outcome what, std::string_view text) {
    return {.what = what, .error = clean_utf8(text, error_characters_max)};
}

}  // namespace

delivery answer_to_exception(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const permanent& why) {
        return failure(outcome::permanent, why.what());
    } catch (const error& why) {
        return answer_to_handler_error(why);
    } catch (const std::exception& why) {
        return failure(outcome::transient, why.what());
    } catch (...) {
        return failure(outcome::transient, "unknown exception");
    }
}

delivery answer_to_handler_error(const error& why) {
    if (why.code() == error_code::handler_unreachable) {
        auto answer = refusal(outcome::throttled, why.code(), why.what());
        answer.retry_after = handler_pause;
        return answer;
    }
    if (why.code() == error_code::store_busy) return answer_to_store_error(why);
    // Named as in a refusal, but not told as one: what went wrong is the handler's affair.
    return failure(outcome::transient, fmt::format("{}: {}", why.name(), why.what()));
}

delivery answer_to_store_error(const error& why) {
    switch (why.code()) {
        case error_code::store_full:
        case error_code::store_busy:
        case error_code::overloaded:
        case error_code::commit_in_doubt: {
            auto answer = refusal(outcome::throttled, why.code(), why.what());
            answer.retry_after = store_pause;
            return answer;
        }
        // Of no message's doing, and over for all of them at once. Names of servers and roles are
        // not for the sender.
        case error_code::store_unavailable:
        case error_code::store_read_only:
        case error_code::invalid_configuration: {
            auto answer = refusal(outcome::throttled, why.code(),
                                  "the receiver cannot use its database now; its log says why");
            answer.retry_after = store_pause;
            return answer;
        }
        default: return refusal(outcome::transient, why.code(), why.what());
    }
}

delivery answer_inbox_refuses() {
    auto answer = refusal(outcome::throttled, error_code::store_busy,
                          "the receiver's inbox refuses every message; its log and its health say "
                          "why");
    answer.retry_after = store_pause;
    return answer;
}

delivery answer_without_key() {
    return refusal(outcome::permanent, error_code::invalid_argument,
                   "a message needs an id and the id of the service that sends it");
}

delivery answer_no_handler(const message& what) {
    if (what.type == message_type::response)
        return refusal(outcome::undeliverable, error_code::no_handler,
                       fmt::format("{} takes no Responses to {}; add it under [responses] there, "
                                   "or a handler for Responses",
                                   what.destination, what.endpoint));
    return refusal(outcome::undeliverable, error_code::no_handler,
                   fmt::format("{} has no handler for {}; add one, or correct the endpoint",
                               what.destination, what.endpoint));
}

delivery answer_expired(const message& what) {
    if (heeded_expiry(what.created_at, what.expires_at) < what.expires_at)
        return refusal(
            outcome::permanent, error_code::message_expired,
            fmt::format("it says that it was made at {}, and none is taken in {} days after that, "
                        "whatever its expiry; if the time is wrong, correct what sets created_at "
                        "and send it anew",
                        to_iso8601(what.created_at),
                        std::chrono::floor<std::chrono::days>(message_life_max).count()));
    return refusal(outcome::permanent, error_code::message_expired,
                   fmt::format("it expired at {} and whether it took effect before is no longer "
                               "known here; send it anew only if it did not",
                               to_iso8601(what.expires_at)));
}

delivery answer_clock_in_doubt() {
    auto answer = refusal(outcome::throttled, error_code::clock_jumped,
                          "the message seems expired, but the receiver's clock has jumped; set "
                          "that clock right");
    answer.retry_after = clock_pause;
    return answer;
}

delivery answer_claim_lost() {
    return refusal(outcome::transient, error_code::lease_lost,
                   "the handler took longer than its lease and another run has taken over; give "
                   "the handler a longer lease");
}

delivery answer_response_too_large(std::size_t size, std::size_t size_max) {
    return refusal(outcome::permanent, error_code::message_too_large,
                   fmt::format("the handler's response has {} bytes and at most {} are allowed",
                               size, size_max));
}

delivery answer_known(const dedupe_decision& decided, inbox_entry& known) {
    using kind = dedupe_decision::kind;
    switch (decided.what) {
        case kind::duplicate:
            return {.what = outcome::delivered,
                    .duplicate = true,
                    .payload = std::move(known.response)};
        case kind::conflict:
            return refusal(outcome::permanent, error_code::id_reused,
                           "this id was used before for another body, which may have taken effect; "
                           "send this one under a new id if it is meant to take effect too");
        case kind::in_progress:
            return {.what = outcome::throttled,
                    .error = "a handler is at work on it",
                    .retry_after = decided.retry_after};
        case kind::run: break;
    }
    POSTHORN_ASSERT(decided.what != kind::run);
    std::unreachable();
}

}  // namespace posthorn
