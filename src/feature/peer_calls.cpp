#include "feature/peer_calls.hpp"

#include <fmt/format.h>

#include "store/rows/stored_time.hpp"

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
        const auto created = bounded_from_ms(to_ms(*what.created_at));  // As a row has it.
        question.expires_at = created + (question.expires_at - question.created_at);
        question.created_at = created;
    }
    auto answers = co_await way->deliver({&question});
    co_return std::move(answers.front());
}

}  // namespace posthorn
