#include "transport/addresses.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace posthorn {
namespace {

bool says_nothing(const delivery& answer) {
    return answer.what == outcome::unanswered || answer.what == outcome::throttled;
}

}  // namespace

bool asks_next_address(const std::vector<delivery>& answers) {
    return std::ranges::all_of(answers, says_nothing);
}

std::vector<delivery> kinder_answers(std::vector<delivery> one, std::vector<delivery> other) {
    const auto is_patient = [](const delivery& each) { return each.what == outcome::throttled; };
    return std::ranges::any_of(other, is_patient) ? std::move(other) : std::move(one);
}

several_addresses::several_addresses(std::vector<std::unique_ptr<transport>> ways)
    : ways_(std::move(ways)) {
    POSTHORN_ASSERT(!ways_.empty());
}

template <class Ask>
task<std::vector<delivery>> several_addresses::ask_in_turn(Ask ask) {
    const std::size_t first = now_;
    auto answers = co_await ask(*ways_[first]);
    for (std::size_t i = 1; i < ways_.size() && asks_next_address(answers); ++i) {
        const auto next = (first + i) % ways_.size();
        auto others = co_await ask(*ways_[next]);
        if (!asks_next_address(others)) {
            now_ = next;
            co_return others;
        }
        answers = kinder_answers(std::move(answers), std::move(others));
    }
    co_return answers;
}

task<std::vector<delivery>> several_addresses::deliver(message_batch batch) {
    co_return co_await ask_in_turn([&](transport& way) { return way.deliver(batch); });
}

task<std::vector<delivery>> several_addresses::deliver_again(message_batch batch,
                                                             std::vector<std::int32_t> failed) {
    co_return co_await ask_in_turn(
        [&](transport& way) { return way.deliver_again(batch, failed); });
}

void several_addresses::prepare(const message& next) { ways_[now_]->prepare(next); }

}  // namespace posthorn
