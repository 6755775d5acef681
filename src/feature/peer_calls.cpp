#include "feature/peer_calls.hpp"

#include <fmt/format.h>

namespace posthorn {

task<delivery> peer_calls::ask(peer_question what) const {
    auto* const way = ways_ ? ways_(what.service) : nullptr;
    if (way == nullptr)
        co_return delivery{
            .what = outcome::undeliverable,
            .error = fmt::format("there is no route to {}; add one under [routes]", what.service)};
    auto made = maker_.make({.destination = what.service,
                             .endpoint = what.endpoint,
                             .payload = std::move(what.payload),
                             .options = std::move(what.options)});
    if (!made)
        co_return delivery{
            .what = outcome::permanent, .error = made.error().what(), .code = made.error().code()};
    message question = *std::move(made);
    if (what.created_at) {
        question.expires_at = *what.created_at + (question.expires_at - question.created_at);
        question.created_at = *what.created_at;
    }
    auto answers = co_await way->deliver({&question});
    co_return std::move(answers.front());
}

}  // namespace posthorn
