#include "engine/steps/flow_loop.hpp"

#include <algorithm>
#include <utility>

#include "base/async/cancellation.hpp"
#include "base/async/run_on.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

// Nothing is missed without it, but for rows that a program wrote where no commit is noticed.
constexpr milliseconds sweep_interval = std::chrono::seconds{30};

}  // namespace

flow_loop::flow_loop(const environment& env, std::function<void()> turn)
    : env_(env), turn_(std::move(turn)) {}

flow_loop::~flow_loop() { gate_->close(); }

task<> flow_loop::run() {
    if (is_stopping_) co_return;
    if (lent_ == nullptr) thread_ = std::make_unique<worker_threads>("posthorn-flow");
    executor& place = lent_ != nullptr ? *lent_ : *thread_;
    gate_->open(place);
    gate_->post([this] { turn(); });
    while (!is_stopping_ && !co_await is_cancelled()) {
        const auto now = env_.clock.wall().time_since_epoch().count();
        const milliseconds until_due(next_due_ms_ > now ? next_due_ms_ - now : 0);
        if (co_await due_changed_.wait_for(env_.timer, std::min(sweep_interval, until_due)))
            continue;
        next_due_ms_ = INT64_MAX;  // The turn finds out when the next one is.
        wake();
    }
    is_stopping_ = true;
    co_await run_on(place, [] { return true; });  // The turn under way has ended then.
}

void flow_loop::stop() {
    is_stopping_ = true;
    due_changed_.ring();
}

void flow_loop::wake() {
    if (is_posted_.exchange(true)) return;
    if (!gate_->post([this] { turn(); })) is_posted_ = false;  // There is one when it starts.
}

void flow_loop::turn() {
    is_posted_ = false;
    if (is_stopping_) return;
    const auto now = env_.clock.steady();
    while (!later_.empty() && later_.begin()->first <= now)
        later_.extract(later_.begin()).mapped()();
    turn_at_ms_ =
        INT64_MAX;  // The turn says when, unless it cannot read; then it comes again later.
    turn_();
    note_next_due();
}

void flow_loop::do_later(milliseconds after, std::move_only_function<void()> job) {
    later_.emplace(env_.clock.steady() + after, std::move(job));
    note_next_due();
}

void flow_loop::turn_at(std::int64_t wall_ms) {
    turn_at_ms_ = wall_ms;
    note_next_due();
}

void flow_loop::note_next_due() {
    auto next = turn_at_ms_;
    if (!later_.empty()) {
        const auto now = env_.clock.wall().time_since_epoch().count();
        const auto left =
            std::chrono::ceil<milliseconds>(later_.begin()->first - env_.clock.steady());
        next = std::min(next, now + std::max<std::int64_t>(left.count(), 0));
    }
    if (next_due_ms_.exchange(next) != next) due_changed_.ring();
}

}  // namespace posthorn
