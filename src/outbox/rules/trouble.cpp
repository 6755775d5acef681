#include "outbox/rules/trouble.hpp"

#include <algorithm>
#include <utility>

namespace posthorn {
namespace {

constexpr std::size_t cause_bytes_max = 500;

bool asks_for_patience(const delivery& answer) {
    return answer.what == outcome::throttled &&
           (answer.code == error_code::overloaded || answer.code == error_code::store_busy);
}

/// Says why messages wait, and not of one that is in progress at the receiver.
bool speaks_of_trouble(const delivery& answer) {
    return answer.what == outcome::unanswered ||
           (answer.what == outcome::throttled && answer.code.has_value());
}

}  // namespace

void trouble::note(std::span<const delivery> answers, steady_time now) {
    const auto told = std::ranges::find_if(answers, speaks_of_trouble);
    if (told == answers.end()) {
        if (concerns_all_) end();
        return;
    }
    note(told->error, now);
    is_fault_ = !asks_for_patience(*told);
    concerns_all_ = told->what == outcome::unanswered;
}

void trouble::note(std::string cause, steady_time now) {
    cause_ = std::move(cause);
    if (cause_.size() > cause_bytes_max) cause_.resize(cause_bytes_max);
    is_fault_ = true;
    until_ = now + remembered;
}

}  // namespace posthorn
