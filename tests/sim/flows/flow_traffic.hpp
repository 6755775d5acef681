#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/world.hpp"

namespace posthorn::sim {

/// What clients were told about workflows; by service.
struct flow_promises {
    std::set<std::pair<std::string, std::string>> started;  // Their ids.
    std::set<std::pair<std::string, std::string>> told;     // The tokens of signals.
};

/// What clients do with the workflows of a world.
///
/// Lifetime: the world outlives it.
/// Threads:  one.
class flow_traffic {
public:
    explicit flow_traffic(world& where) : world_(where) {}

    /// Starts, tells or cancels something, or looks whether all is well.
    void act();
    /// Whether nothing is left to do but to wait for what does not come.
    [[nodiscard]] bool is_drained();
    /// W1 to W12, of every service.
    void check();
    [[nodiscard]] std::uint64_t started() const noexcept { return known_.size(); }
    /// That were checked.
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

private:
    struct known {
        std::size_t at = 0;  // Which machine.
        std::size_t code = 0;
        std::string id;
    };

    void start();
    void start_by_plain_sql();
    void tell();
    void cancel();
    void look();
    [[nodiscard]] std::string draw_token();
    /// Runs it in a transaction; `then` if the client was told that it is on disk.
    void commit(machine& at, std::function<void(transaction&)> work, std::function<void()> then);

    world& world_;
    std::vector<known> known_;
    flow_promises promises_;
    std::uint64_t tokens_ = 0;
    std::uint64_t steps_ = 0;
};

}  // namespace posthorn::sim
