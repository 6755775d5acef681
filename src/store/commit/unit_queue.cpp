#include "store/commit/unit_queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace posthorn {
namespace {

error stopping_error() {
    return {error_code::closed, "the store is stopping; send again after a restart"};
}

void refuse(unit& work, const error& why) {
    if (work.done) work.done(std::unexpected(why));
}

}  // namespace

void refuse_as_stopping(unit& work) { refuse(work, stopping_error()); }

std::optional<error> unit_queue::refusal() const {
    if (failed_) return failed_;
    return stopping_ ? std::optional(stopping_error()) : std::nullopt;
}

void unit_queue::submit(std::vector<unit> work) {
    std::optional<error> refused;
    const auto now = time_.steady();
    {
        const std::scoped_lock lock(mutex_);
        refused = refusal();
        if (!refused)
            for (auto& one : work) (one.lazy ? lazy_ : queue_).push_back({std::move(one), now});
    }
    if (refused) {
        for (auto& one : work) refuse(one, *refused);
        return;
    }
    schedule_if_needed();
}

bool unit_queue::submit_here(unit& one) {
    const auto now = time_.steady();
    const std::scoped_lock lock(mutex_);
    if (refusal() || scheduled_ || !queue_.empty() || !took_one_) return false;
    scheduled_ = true;
    queue_.push_back({std::move(one), now});
    return true;
}

void unit_queue::call() {
    {
        const std::scoped_lock lock(mutex_);
        called_ = true;
    }
    schedule_if_needed();
}

bool unit_queue::was_called() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(called_, false);
}

bool unit_queue::is_wanted() const {
    return !queue_.empty() || called_ || ((stopping_ || left_lazy_) && !lazy_.empty());
}

void unit_queue::schedule_if_needed() {
    {
        const std::scoped_lock lock(mutex_);
        if (scheduled_ || !is_wanted()) return;
        scheduled_ = true;
    }
    thread_.post([this] { work_(); });
}

void unit_queue::go_on(bool regardless) {
    {
        const std::scoped_lock lock(mutex_);
        in_hand_since_.reset();
        scheduled_ = regardless || is_wanted();
        if (!scheduled_) {
            idle_.notify_all();
            return;  // The caller of stop() may destroy us now.
        }
    }
    thread_.post([this] { work_(); });
}

std::vector<member> unit_queue::take(std::size_t units_max) {
    const std::scoped_lock lock(mutex_);
    std::vector<member> members;
    in_hand_since_.reset();
    if (!queue_.empty()) in_hand_since_ = queue_.front().since;
    const auto take_one = [&](std::deque<waiting>& from) {
        members.push_back({.work = std::move(from.front().work)});
        from.pop_front();
    };
    const auto take = [&](std::deque<waiting>& from, std::size_t up_to) {
        while (!from.empty() && members.size() < up_to &&
               !(alone_ == alone_units::are_alone && from.front().work.alone))
            take_one(from);
    };
    // Some of the lazy ones come first: behind a queue that never empties they would never come.
    take(lazy_, (units_max + 3) / 4);
    const auto before = queue_.size();
    take(queue_, units_max);
    took_one_ = before - queue_.size() <= 1;
    take(lazy_, units_max);
    left_lazy_ = !lazy_.empty();
    if (members.empty() && !queue_.empty()) take_one(queue_);  // It wants to be alone.
    return members;
}

bool unit_queue::has_work() const {
    const std::scoped_lock lock(mutex_);
    return is_wanted();
}

bool unit_queue::has_units() const {
    const std::scoped_lock lock(mutex_);
    return !queue_.empty();
}

void unit_queue::put_down() {
    const std::scoped_lock lock(mutex_);
    in_hand_since_.reset();
}

// Those in hand came before those that are left.
std::chrono::nanoseconds unit_queue::longest_wait() const {
    const auto now = time_.steady();
    const std::scoped_lock lock(mutex_);
    auto since = in_hand_since_;
    if (!since && !queue_.empty()) since = queue_.front().since;
    return since && *since < now ? now - *since : std::chrono::nanoseconds{};
}

void unit_queue::fail(const error& why) {
    std::vector<waiting> refused;
    {
        const std::scoped_lock lock(mutex_);
        failed_ = why;
        std::ranges::move(queue_, std::back_inserter(refused));
        std::ranges::move(lazy_, std::back_inserter(refused));
        queue_.clear();
        lazy_.clear();
    }
    for (auto& one : refused) refuse(one.work, why);
}

std::optional<error> unit_queue::failure() const {
    const std::scoped_lock lock(mutex_);
    return failed_;
}

void unit_queue::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    schedule_if_needed();
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return !scheduled_ && queue_.empty() && lazy_.empty(); });
}

}  // namespace posthorn
