#pragma once

#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "nodes/node_asker.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Asks each of the other nodes for its health now and then, and keeps what it said.
///
/// Each has a turn of its own, so that one that does not answer holds up no other.
///
/// Lifetime: `run()` may be called again once it has returned; destroyed after that.
/// Threads:  the network executor.
/// Cancel:   questions under way are given up; what was heard is written.
class node_watcher final : public node_service {
public:
    node_watcher(const environment& env, store& where, const node_asker& asker)
        : env_(env), where_(where), asker_(asker) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "node watch"; }
    task<> run() override;
    /// What is not answered from now on says nothing of the others: our connections are closing.
    void stop() override { stopping_ = true; }

private:
    task<> watch(const watched_node& node);
    task<> ask(const watched_node& node);

    const environment& env_;
    store& where_;
    const node_asker& asker_;
    bool stopping_ = false;
    bool fails_ = false;  // The last could not be written.
};

}  // namespace posthorn
