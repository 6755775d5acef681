#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <posthorn/detail/time.hpp>
#include <posthorn/uuid.hpp>

namespace posthorn {

/// What a web service said when it did not take a message.
struct refused_call {
    wall_time at{};
    uuid id{};
    std::string source;
    std::string endpoint;
    unsigned status = 0;
    std::string answer;  // The beginning of it.
};

/// The newest of them, for people who may read payloads: such an answer often repeats what was
/// posted. So nothing of it is logged, stored, or told to the sender.
///
/// Threads: any.
class refused_calls {
public:
    static constexpr std::size_t calls_max = 100;
    static constexpr std::size_t answer_bytes_max = 2000;

    void note(refused_call one) {
        if (one.answer.size() > answer_bytes_max) one.answer.resize(answer_bytes_max);
        const std::lock_guard held(mutex_);
        kept_.push_front(std::move(one));
        if (kept_.size() > calls_max) kept_.pop_back();
    }
    /// Newest first.
    [[nodiscard]] std::vector<refused_call> list() const {
        const std::lock_guard held(mutex_);
        return {kept_.begin(), kept_.end()};
    }

private:
    mutable std::mutex mutex_;
    std::deque<refused_call> kept_;
};

}  // namespace posthorn
