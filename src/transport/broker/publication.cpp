#include "transport/broker/publication.hpp"

#include "transport/broker/broker_answers.hpp"

namespace posthorn {

publication::publication(std::vector<broker_message> messages)
    : messages_(std::move(messages)), answers_(messages_.size()), left_(messages_.size()) {}

void publication::answer(std::size_t which, delivery what) {
    {
        const std::lock_guard held(mutex_);
        if (which >= answers_.size() || answers_[which]) return;
        answers_[which] = std::move(what);
        if (--left_ > 0) return;
    }
    all_in_->wake();
}

void publication::answer_all(const delivery& what) {
    for (std::size_t i = 0; i < messages_.size(); ++i) answer(i, what);
}

bool publication::is_over() const {
    const std::lock_guard held(mutex_);
    return over_;
}

task<std::vector<delivery>> publication::answers() {
    if (!messages_.empty()) std::ignore = co_await all_in_->wait();
    const std::lock_guard held(mutex_);
    std::vector<delivery> all;
    all.reserve(answers_.size());
    for (auto& each : answers_)
        all.push_back(each ? *std::move(each)
                           : broker_is_silent("the broker did not confirm it in its time"));
    answers_.clear();  // What comes now is dropped.
    over_ = true;
    co_return all;
}

}  // namespace posthorn
