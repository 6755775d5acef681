#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>

#include "base/async/virtual_time.hpp"

namespace posthorn::sim {

/// Runs many processes on the calling thread under one virtual time.
///
/// Each process has a place of its own, so that one of them can stand still while the others go on.
/// Whatever is ready runs first, place after place; then time moves on to the next sleeper.
///
/// Lifetime: outlives every coroutine on it; a place goes once nobody else holds it.
/// Threads:  one only.
class world_loop {
public:
    struct place {
        boost::asio::io_context context{1};
        bool paused = false;  // As by SIGSTOP: what is ready waits.
    };

    world_loop() : own_(add()) {}

    [[nodiscard]] std::shared_ptr<place> add();
    /// Of the world itself, which is never paused.
    [[nodiscard]] boost::asio::any_io_executor executor() { return own_->context.get_executor(); }
    [[nodiscard]] virtual_time& time() noexcept { return time_; }

    /// Called whenever one place has run what was ready there.
    void watch(std::function<void()> look) { look_ = std::move(look); }

    void settle();
    /// False if the condition does not hold within `limit` of virtual time.
    bool run_until(const std::function<bool()>& condition, std::chrono::nanoseconds limit);
    void run_for(std::chrono::nanoseconds span);

private:
    virtual_time time_;
    std::vector<std::shared_ptr<place>> places_;
    std::shared_ptr<place> own_;
    std::function<void()> look_;
};

}  // namespace posthorn::sim
