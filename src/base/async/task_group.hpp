#pragma once

#include <exception>
#include <future>
#include <list>
#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/async/waiter.hpp"

namespace posthorn {

/// Owns running coroutines, so that none outlives what it uses.
///
/// Lifetime: `join()` has returned before it is destroyed, unless nothing was ever spawned.
/// Threads:  every member runs on the executor given, which is one thread or a strand.
/// Cancel:   `cancel()` asks all members to stop, those spawned later too; `join()` waits for them.
class task_group {
public:
    explicit task_group(boost::asio::any_io_executor where);
    ~task_group();
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;

    void spawn(task<> body);
    /// The same; by `alone` that member can be cancelled without the others, until it ends.
    void spawn(task<> body, boost::asio::cancellation_signal*& alone);
    void cancel();
    /// Returns when no member is left; throws the first exception that one of them let out.
    task<> join();
    [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }

private:
    void finish(std::list<boost::asio::cancellation_signal>::iterator member,
                const std::exception_ptr& failure);

    boost::asio::any_io_executor where_;
    std::list<boost::asio::cancellation_signal> members_;
    std::shared_ptr<waiter> joining_;
    std::exception_ptr failure_;
    bool cancelled_ = false;
};

/// Runs coroutines beside each other on the awaiting caller's executor, which may have several
/// threads, and returns when the last has ended; then throws the first exception one let out.
///
/// Cancel: not passed on; what they refer to is in use until they end.
task<> run_all(std::vector<task<>> bodies);

/// Starts `body` on `where`; the future tells a thread outside of it what became of it.
template <class T>
std::future<T> start(const boost::asio::any_io_executor& where, task<T> body) {
    return boost::asio::co_spawn(where, cancellable(std::move(body)), boost::asio::use_future);
}

}  // namespace posthorn
