#include "store/postgres/commit/own_transactions.hpp"

#include <algorithm>
#include <future>

#include <fmt/format.h>

#include "store/commit/unit_queue.hpp"

namespace posthorn::postgres {

own_transactions::own_transactions(session_options of, std::size_t count, write_services& with,
                                   writer& shared)
    : options_(std::move(of)), count_(count), with_(with), shared_(shared) {}

// Each has a name of its own, under which its commits are counted.
void own_transactions::start_threads() {
    threads_.emplace("posthorn-own", count_);
    for (std::size_t i = 0; i < count_; ++i) {
        auto named = options_;
        named.writer += fmt::format("/{}", i + 1);
        all_.push_back(std::make_unique<committer>(std::move(named), nullptr, with_, *threads_));
        unconnected_.push_back(all_.back().get());
    }
}

void own_transactions::submit(unit one) {
    {
        const std::scoped_lock lock(mutex_);
        if (!stopping_) {
            if (!threads_) start_threads();
            queue_.push_back(std::move(one));
            ++unfinished_;
            threads_->post([this] { work(); });
            return;
        }
    }
    refuse_as_stopping(one);
}

void own_transactions::work() {
    auto [one, on] = take();
    run(std::move(one), *on);
    give_back(on);
}

// There are as many as threads, so one is free.
std::pair<unit, committer*> own_transactions::take() {
    const std::scoped_lock lock(mutex_);
    auto one = std::move(queue_.front());
    queue_.pop_front();
    auto& from = connected_.empty() ? unconnected_ : connected_;
    auto* const on = from.back();
    from.pop_back();
    return {std::move(one), on};
}

void own_transactions::run(unit one, committer& on) {
    if (!on.connect() && shared_.is_connected()) return pass_on(std::move(one));
    std::vector<member> members;
    members.push_back({.work = std::move(one)});
    if (on.commit(std::move(members))) shared_.tell_others();
    shared_.look_again();
}

// It is waited for, so that there are never more at a time than was said.
void own_transactions::pass_on(unit one) {
    const auto answered = std::make_shared<std::promise<void>>();
    one.done = [answered, done = std::move(one.done)](result<> outcome) mutable {
        if (done) done(std::move(outcome));
        answered->set_value();
    };
    std::vector<unit> alone;
    alone.push_back(std::move(one));
    shared_.submit(std::move(alone));
    answered->get_future().wait();
}

void own_transactions::give_back(committer* used) {
    const std::scoped_lock lock(mutex_);
    (used->is_connected() ? connected_ : unconnected_).push_back(used);
    if (--unfinished_ == 0) idle_.notify_all();
}

void own_transactions::stop() {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    idle_.wait(lock, [this] { return unfinished_ == 0; });
    all_.clear();  // Their rows go with the writer's.
}

std::chrono::nanoseconds own_transactions::unit_age() const {
    const std::scoped_lock lock(mutex_);
    std::chrono::nanoseconds oldest{};
    for (const auto& each : all_) oldest = std::max(oldest, each->unit_age());
    return oldest;
}

}  // namespace posthorn::postgres
