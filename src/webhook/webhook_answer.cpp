#include "webhook/webhook_answer.hpp"

#include <fmt/format.h>

#include "transport/http/wire_headers.hpp"

namespace posthorn {
namespace {

webhook_verdict fail_with(outcome what, std::string why, std::string_view for_subscriber = {}) {
    webhook_verdict made{.what = {.what = what}};
    made.for_subscriber = for_subscriber.empty() ? why : std::string(for_subscriber);
    made.what.error = std::move(why);
    return made;
}

webhook_verdict judge_trouble(const guarded_answer& answer) {
    using enum guarded_trouble;
    const bool ours = answer.trouble == overloaded || answer.trouble == cancelled;
    return fail_with(ours ? outcome::unanswered : outcome::transient, answer.for_operator,
                     answer.for_subscriber);
}

}  // namespace

webhook_verdict judge_webhook(const guarded_answer& answer) {
    if (answer.trouble != guarded_trouble::none) return judge_trouble(answer);
    const auto status = answer.status;
    if (status >= 200 && status < 300) return {.what = {.what = outcome::delivered}};
    if (status == 410 || answer.webhook_delivery == "disable") {
        auto gone = fail_with(outcome::permanent, fmt::format("HTTP {}; it wants no more", status));
        gone.disables = true;
        return gone;
    }
    if (answer.webhook_delivery == "abort-message")
        return fail_with(outcome::permanent, fmt::format("HTTP {}; it refuses this one", status));
    if ((status == 429 || status == 503) && answer.retry_after)
        if (const auto pause = parse_retry_after(*answer.retry_after)) {
            auto busy =
                fail_with(outcome::throttled, fmt::format("HTTP {}; it asks to wait", status));
            busy.what.retry_after = *pause;
            busy.what.code = error_code::overloaded;  // So that its lane rests.
            return busy;
        }
    return fail_with(outcome::transient, fmt::format("HTTP {}", status));
}

bool ends_delivery(outcome seen, std::int32_t attempt, std::int32_t retries_max) noexcept {
    if (seen == outcome::permanent) return true;
    return seen == outcome::transient && retries_max >= 0 && attempt > retries_max;
}

}  // namespace posthorn
