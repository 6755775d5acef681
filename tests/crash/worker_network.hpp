#pragma once

#include <atomic>
#include <string>

#include "base/async/timer.hpp"
#include "crash/worker_points.hpp"
#include "transport/transport.hpp"

namespace posthorn::crash {

/// The way from the sender to the receiver, with what can go wrong on it.
///
/// - `up`:     all goes well.
/// - `down`:   nothing gets through until the gate opens.
/// - `slow`:   the first answer takes for ever, so that the sender's time runs out.
/// - `forged`: the receiver's answer is held until the gate opens, then turned into a refusal.
///
/// Lifetime: outlives the sender.
/// Cancel:   as the receiver's, and while it is slow.
class worker_network final : public receiver {
public:
    struct surroundings {
        receiver& to;
        timer& time;
        const crash_points& points;
        const signal_gate& gate;
    };
    worker_network(surroundings around, std::string mode)
        : around_(around), mode_(std::move(mode)) {}

    task<std::vector<delivery>> receive(message_batch batch) override;

private:
    surroundings around_;
    std::string mode_;
    std::atomic<bool> slow_once_ = false;
};

}  // namespace posthorn::crash
