#pragma once

#include <utility>

#include <boost/asio/any_io_executor.hpp>

#include "base/async/executor.hpp"
#include "base/async/timer.hpp"
#include "base/async/virtual_loop.hpp"
#include "base/random.hpp"
#include "base/run/environment.hpp"
#include "base/time/clock.hpp"

namespace posthorn::test {

/// An environment from what a test has at hand. What it does not name is the machine's, and what
/// would go to another thread runs on the caller's.
///
/// Lifetime: outlives what is built on it, as what it is given does.
class test_environment {
public:
    struct given {
        logger& log;
        class clock* clock = nullptr;
        class timer* timer = nullptr;
        boost::asio::any_io_executor network{};
        executor* workers = nullptr;
    };

    explicit test_environment(given with)
        : env_{with.clock != nullptr ? *with.clock : clock_,
               with.timer != nullptr ? *with.timer : timer_,
               random_,
               with.log,
               std::move(with.network),
               with.workers != nullptr ? *with.workers : inline_,
               with.workers != nullptr ? *with.workers : inline_} {}
    test_environment(virtual_loop& loop, logger& log)
        : test_environment({.log = log,
                            .clock = &loop.time(),
                            .timer = &loop.time(),
                            .network = loop.executor()}) {}
    test_environment(const test_environment&) = delete;
    test_environment& operator=(const test_environment&) = delete;

    operator const environment&() const noexcept { return env_; }

private:
    real_clock clock_;
    real_timer timer_;
    system_random random_;
    inline_executor inline_;
    environment env_;
};

}  // namespace posthorn::test
