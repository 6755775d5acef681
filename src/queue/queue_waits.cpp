#include "queue/queue_waits.hpp"

#include <utility>

namespace posthorn {

task<> queue_waits::run() {
    co_await stopped_.wait();
    stop();  // Also where it was cancelled.
}

void queue_waits::stop() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    for (const auto& [endpoint, bells] : waiting_)
        for (const auto& each : bells) each->ring();
    stopped_.ring();
}

void queue_waits::arrived(const std::string& endpoint) {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(endpoint);
    if (found == waiting_.end()) return;
    auto& bells = found->second;
    bells.front()->ring();
    bells.splice(bells.end(), bells, bells.begin());
}

bool queue_waits::is_closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
}

queue_waits::place::place(queue_waits& in, std::string endpoint)
    : in_(in), endpoint_(std::move(endpoint)) {
    const std::lock_guard lock(in_.mutex_);
    in_.waiting_[endpoint_].push_back(bell_);
    if (in_.closed_) bell_->ring();
}

queue_waits::place::~place() {
    const std::lock_guard lock(in_.mutex_);
    const auto found = in_.waiting_.find(endpoint_);
    found->second.remove(bell_);
    if (found->second.empty()) in_.waiting_.erase(found);
}

task<> queue_waits::place::wait(timer& time, std::chrono::nanoseconds limit) {
    co_await bell_->wait_for(time, limit);
}

}  // namespace posthorn
