#pragma once

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace posthorn {

/// Threads on which coroutines and network operations run.
///
/// Lifetime: those who post to it have joined before it is destroyed.
/// Threads:  any.
/// Cancel:   `stop` lets nothing new run and joins; twice is safe.
class io_threads {
public:
    explicit io_threads(const std::string& name, std::size_t count = 1);
    ~io_threads();
    io_threads(const io_threads&) = delete;
    io_threads& operator=(const io_threads&) = delete;

    [[nodiscard]] boost::asio::any_io_executor executor() { return context_.get_executor(); }
    void stop();

private:
    using work = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

    boost::asio::io_context context_;
    work open_;  // Keeps the threads waiting while there is nothing to do.
    std::vector<std::jthread> threads_;
};

}  // namespace posthorn
