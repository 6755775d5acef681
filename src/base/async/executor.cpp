#include "base/async/executor.hpp"

#include <pthread.h>

#include "base/assert.hpp"

namespace posthorn {

void name_this_thread(const std::string& name) {
    constexpr std::size_t length_max = 15;  // The kernel's limit.
    pthread_setname_np(pthread_self(), name.substr(0, length_max).c_str());
}

worker_threads::worker_threads(const std::string& name, std::size_t count) {
    POSTHORN_ASSERT(count > 0);
    threads_.reserve(count);
    try {
        for (std::size_t i = 0; i < count; ++i)
            threads_.emplace_back([this, name] {
                name_this_thread(name);
                work();
            });
    } catch (...) {  // The system gives no more, and those that run would be waited for.
        {
            const std::scoped_lock lock(mutex_);
            stopping_ = true;
        }
        changed_.notify_all();
        throw;
    }
}

worker_threads::~worker_threads() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
}

void worker_threads::post(job work) {
    {
        const std::scoped_lock lock(mutex_);
        jobs_.push_back(std::move(work));
    }
    changed_.notify_one();
}

void worker_threads::rest(std::chrono::nanoseconds time) { std::this_thread::sleep_for(time); }

void worker_threads::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        auto next = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        next();
        next = nullptr;  // What the job holds is freed outside the lock.
        lock.lock();
    }
}

void inline_executor::post(job work) {
    jobs_.push_back(std::move(work));
    if (running_) return;
    running_ = true;
    while (!jobs_.empty()) {
        auto next = std::move(jobs_.front());
        jobs_.pop_front();
        next();
    }
    running_ = false;
}

}  // namespace posthorn
