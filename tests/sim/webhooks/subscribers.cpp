#include "sim/webhooks/subscribers.hpp"

#include <chrono>
#include <utility>

namespace posthorn::sim {

using namespace std::chrono_literals;

task<guarded_answer> subscribers::take(guarded_request request, uuid endpoint) {
    ++requests_;
    const auto roll = dice_.below(100);
    const auto answers_after = std::chrono::milliseconds(dice_.below(40));
    if (roll >= refused + unanswered) {
        auto& here = all_[endpoint];
        const std::string event(request.headers.find("webhook-id").value_or("none"));
        if (++here.times[event] == 1) here.order.push_back(event);
    }
    const bool is_silent = roll >= refused && roll < refused + unanswered;
    if (!co_await time_.sleep_for(is_silent ? std::chrono::milliseconds(30s) : answers_after))
        co_return guarded_answer{.trouble = guarded_trouble::cancelled};
    if (is_silent)
        co_return guarded_answer{.trouble = guarded_trouble::late,
                                 .for_operator = "no answer within 30 s",
                                 .for_subscriber = "no answer within 30 s"};
    guarded_answer made;
    made.status = roll < refused ? 500 : 204;
    made.took.whole = answers_after;
    co_return made;
}

task<guarded_answer> way_to_subscribers::door::send(guarded_request request,
                                                    fair_slots::asker who) {
    if (owner == nullptr || owner->is_dead())
        co_return guarded_answer{.trouble = guarded_trouble::cancelled};
    co_return co_await to.take(std::move(request), who.endpoint);
}

result<> way_to_subscribers::install(node_builder& into) const {
    newest_ = &into.make<door>(to_);
    into.show<webhook_sender>(*newest_);
    return {};
}

}  // namespace posthorn::sim
