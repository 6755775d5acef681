#include "conformance/transport/ledger.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "message/validate.hpp"

namespace posthorn::conformance {

using namespace std::chrono_literals;

task<std::vector<delivery>> ledger::receive(message_batch batch) {
    const bool waits =
        std::ranges::any_of(batch, [](const message* one) { return one->endpoint == "Wait"; });
    if (waits && !co_await wait())
        co_return std::vector<delivery>(batch.size(),
                                        delivery{.what = outcome::unanswered, .error = "stopped"});
    std::vector<delivery> answers;
    const std::scoped_lock lock(mutex_);
    for (const message* one : batch) answers.push_back(take(*one));
    co_return answers;
}

task<bool> ledger::wait() {
    std::shared_ptr<waiter> turn;
    {
        const std::scoped_lock lock(mutex_);
        if (released_) co_return true;
        turn = waiting_.emplace_back(waiter::make());
    }
    const bool woken = co_await turn->wait();
    const std::scoped_lock lock(mutex_);
    std::erase(waiting_, turn);
    co_return woken;
}

delivery ledger::take(const message& what) {
    arrived_.push_back(what);
    if (const auto valid = validate_outside(what, {}); !valid)
        return {.what = outcome::permanent,
                .error = valid.error().what(),
                .code = valid.error().code()};
    if (const auto found = known_.find(what.id); found != known_.end()) {
        if (found->second.body != what.payload)
            return {.what = outcome::permanent,
                    .error = "id_reused: another body came before",
                    .code = error_code::id_reused};
        return {.what = outcome::delivered, .duplicate = true, .payload = found->second.response};
    }
    auto answer = answer_to(what);
    if (answer.what == outcome::delivered) {
        ++effects_[what.id];
        known_[what.id] = {what.payload, answer.payload};
    }
    return answer;
}

delivery ledger::answer_to(const message& what) {
    const auto& asked = what.endpoint;
    if (asked == "Fail") return {.what = outcome::transient, .error = "the handler failed"};
    if (asked == "Never") return {.what = outcome::permanent, .error = "the handler gave up"};
    if (asked == "Later")
        return {.what = outcome::throttled,
                .error = "a handler is at work on it",
                .retry_after = 7300ms};
    if (asked == "Full")
        return {.what = outcome::throttled,
                .error = "store_full: no room",
                .retry_after = 5s,
                .code = error_code::store_full};
    if (asked == "Nobody")
        return {.what = outcome::undeliverable,
                .error = "no_handler: stock has no handler for Nobody",
                .code = error_code::no_handler};
    if (asked == "Expired")
        return {.what = outcome::permanent,
                .error = "message_expired: past the horizon",
                .code = error_code::message_expired};
    if (asked == "Nothing") return {.what = outcome::delivered};
    // Spaces and digits as no JSON library would write them, so that a copy that is made by one
    // shows.
    return {.what = outcome::delivered,
            .payload = fmt::format(R"({{ "effect" : {}.00,"of":"{}" }})", effects_.size() + 1,
                                   what.id.to_string())};
}

std::vector<message> ledger::arrived() {
    const std::scoped_lock lock(mutex_);
    return arrived_;
}

std::map<uuid, int> ledger::effects() {
    const std::scoped_lock lock(mutex_);
    return effects_;
}

std::size_t ledger::waiting() {
    const std::scoped_lock lock(mutex_);
    return waiting_.size();
}

void ledger::release() {
    const std::scoped_lock lock(mutex_);
    released_ = true;
    for (const auto& each : waiting_) each->wake();
}

}  // namespace posthorn::conformance
