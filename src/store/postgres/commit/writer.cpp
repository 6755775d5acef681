#include "store/postgres/commit/writer.hpp"

#include <utility>

namespace posthorn::postgres {
namespace {

constexpr std::size_t units_max = 250;

}  // namespace

writer::writer(session_options options, std::unique_ptr<session> first, write_services& with,
               executor& thread)
    : time_(with.time),
      thread_(thread),
      commits_(std::move(options), std::move(first), with, thread) {}

void writer::submit(std::vector<unit> work) {
    bool refused = false;
    {
        const std::scoped_lock lock(mutex_);
        refused = stopping_;
        if (!refused)
            for (auto& one : work) (one.lazy ? lazy_ : queue_).push_back(std::move(one));
    }
    if (refused) {
        for (auto& one : work) refuse_as_stopping(one);
        return;
    }
    schedule_if_needed();
}

void writer::tell_others() {
    {
        const std::scoped_lock lock(mutex_);
        others_have_news_ = true;
    }
    schedule_if_needed();
}

void writer::look_again() {
    if (!commits_.must_look_again()) return;
    std::vector<unit> nothing;
    nothing.push_back({.work = [](store_transaction&) { return result<>{}; }});
    submit(std::move(nothing));
}

void writer::schedule_if_needed() {
    {
        const std::scoped_lock lock(mutex_);
        if (scheduled_ || !is_wanted()) return;
        scheduled_ = true;
    }
    thread_.post([this] { work(); });
}

bool writer::is_wanted() const {
    return !queue_.empty() || others_have_news_ || (stopping_ && !lazy_.empty());
}

void writer::work() {
    if (auto members = take_group(); !members.empty()) {
        const bool had_looked = !commits_.must_look_again();
        has_news_ |= commits_.commit(std::move(members));
        // Once by itself: whoever held the key may have committed before that could be known.
        if (had_looked) look_again();
    }
    bool is_idle = false;
    {
        const std::scoped_lock lock(mutex_);
        has_news_ |= std::exchange(others_have_news_, false);
        is_idle = !is_wanted();
    }
    tell_news(is_idle);
    {
        const std::scoped_lock lock(mutex_);
        scheduled_ = is_wanted();
        if (!scheduled_) {
            idle_.notify_all();
            return;  // Whoever waits in stop() may destroy us now.
        }
    }
    thread_.post([this] { work(); });
}

std::vector<member> writer::take_group() {
    const std::scoped_lock lock(mutex_);
    std::vector<member> members;
    const auto take = [&](std::deque<unit>& from, std::size_t up_to) {
        while (!from.empty() && members.size() < up_to && !from.front().alone) {
            members.push_back({.work = std::move(from.front())});
            from.pop_front();
        }
    };
    // Some of the lazy ones come first: behind a queue that never empties they would never come.
    take(lazy_, units_max / 4);
    take(queue_, units_max);
    take(lazy_, units_max);
    if (members.empty() && !queue_.empty()) {
        members.push_back({.work = std::move(queue_.front())});
        queue_.pop_front();
    }
    return members;
}

// After the commit and apart from it: inside, it would make all commits of the database wait for
// each other. Once for all that came meanwhile.
void writer::tell_news(bool is_idle) {
    constexpr std::chrono::milliseconds distance{5};
    if (!has_news_) return;
    const auto now = time_.steady();
    if (!is_idle && now - told_at_ < distance) return;
    told_at_ = now;
    has_news_ = !commits_.tell_others();
}

void writer::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    schedule_if_needed();
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return !scheduled_ && queue_.empty() && lazy_.empty(); });
    commits_.close();
}

}  // namespace posthorn::postgres
