#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/async/task_group.hpp"
#include "base/random.hpp"
#include "sim/checks/ledger.hpp"
#include "sim/process.hpp"

namespace posthorn::sim {

inline constexpr std::chrono::seconds brisk_attempt_timeout{5};

/// How bad the network is; chances are in a thousand.
struct weather {
    unsigned lost = 0;      // The request does not arrive.
    unsigned ack_lost = 0;  // It arrives, the answer does not.
    unsigned doubled = 0;   // It arrives a second time, later.
    unsigned delayed = 0;   // It, or its answer, takes up to `delay_max`.
    std::chrono::milliseconds delay_max = std::chrono::seconds{8};
};

/// A signed request on its way.
struct parcel {
    std::string from;
    std::string to;
    wire_request request;
};

/// The network between the services of a world: loses, delays, doubles and reorders.
///
/// What arrives is taken in on the receiver's side, whether or not the sender still lives or waits.
///
/// Lifetime: outlives the processes; `cancel()` and wait until it is quiet before it is destroyed.
/// Threads:  one.
class network {
public:
    network(world_loop& loop, ledger& book, random_source& dice, std::vector<std::string> services);

    [[nodiscard]] const std::vector<std::string>& services() const { return services_; }
    /// How to find a process of a service that is up; null if none is.
    void find_with(std::function<process*(const std::string& service)> find);

    task<result<wire_reply>> carry(process& from, std::string to, wire_request request);

    // What the processes' ends of it see.
    void check_leaving(process& from, const std::string& to, const message_batch& batch);
    void check_believed(process& from, const message_batch& batch,
                        const std::vector<delivery>& believed);
    void check_answers(process& at, const message_batch& batch, const std::vector<delivery>& given);

    /// Sends a message that nobody stored, signed with a key that must be refused.
    void forge(const std::string& to, const message& what, const key_ring& with, wall_time at);
    /// Somebody who kept messages that left long ago sends some of them once more, signed anew, as
    /// a machine would that comes back from a snapshot.
    void echo(process& from, std::size_t count);

    weather now;
    std::set<std::pair<std::string, std::string>> cut;  // From one service to another.
    /// One look in so many is at what the disk would show after a cut; zero is never.
    unsigned look_interval = 16;

    // For scenarios: called at exactly these points.
    std::function<void(const parcel&)> on_leaving;
    std::function<void(const parcel&, process&)> on_arriving;
    std::function<void(const parcel&, process&)> on_answered;  // Committed; not yet on the wire.

    struct counts {
        std::uint64_t deliveries = 0;
        std::uint64_t duplicates = 0;
        std::uint64_t echoes = 0;
        std::uint64_t refused = 0;  // Signatures.
        std::uint64_t looks = 0;
    };
    [[nodiscard]] const counts& seen() const noexcept { return seen_; }
    void cancel() { late_.cancel(); }
    [[nodiscard]] bool is_quiet() const { return late_.size() == 0; }

private:
    struct visit;
    using answer = std::optional<wire_reply>;

    task<answer> bring(std::shared_ptr<const parcel> what);
    task<> serve(process& at, std::shared_ptr<visit> here);
    task<> bring_late(std::shared_ptr<const parcel> what, std::chrono::nanoseconds delay);
    task<> bring_forged(std::shared_ptr<const parcel> what);
    std::shared_ptr<const parcel> seal(const message& what, const key_ring& with, wall_time at);
    task<result<wire_reply>> nothing();
    bool happens(unsigned chance);
    bool looks();
    std::chrono::nanoseconds travel();
    void remember(const message& left);

    world_loop& loop_;
    ledger& book_;
    random_source& dice_;
    std::vector<std::string> services_;
    std::function<process*(const std::string& service)> find_;
    std::vector<std::shared_ptr<const message>> kept_;  // For echoes; some of those that left.
    std::uint64_t left_ = 0;
    task_group late_;
    counts seen_;
};

}  // namespace posthorn::sim
