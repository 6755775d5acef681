#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace posthorn {

/// Where blocking work runs, such as a database's writer: the thread seam.
///
/// Lifetime: outlives everything that posts to it.
/// Threads:  `post` may be called from any.
class executor {
public:
    using job = std::move_only_function<void()>;

    virtual ~executor() = default;

    /// Runs `work` later, in the order of posting. A job must not throw.
    virtual void post(job work) = 0;
    /// Lets others go first: a job that hogs a lock calls this between two holds of it.
    virtual void rest(std::chrono::nanoseconds time) = 0;
};

/// Threads of its own. With one thread, jobs run one after the other.
///
/// Cancel: the destructor runs what was posted, then joins.
class worker_threads final : public executor {
public:
    explicit worker_threads(const std::string& name, std::size_t count = 1);
    ~worker_threads() override;
    worker_threads(const worker_threads&) = delete;
    worker_threads& operator=(const worker_threads&) = delete;

    void post(job work) override;
    void rest(std::chrono::nanoseconds time) override;

private:
    void work();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<job> jobs_;
    bool stopping_ = false;
    std::vector<std::jthread> threads_;  // Last, so that the rest exists while they run.
};

/// The virtual version: runs a job inside `post`, on the caller's thread.
///
/// A job posted from inside a job runs after it, as it would on a thread.
/// Threads: one only.
class inline_executor final : public executor {
public:
    void post(job work) override;
    void rest(std::chrono::nanoseconds) override {}

private:
    std::deque<job> jobs_;
    bool running_ = false;
};

/// Names the calling thread for debuggers and `top`; at most 15 characters are kept.
void name_this_thread(const std::string& name);

}  // namespace posthorn
