#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "engine/steps/matchmaker.hpp"
#include "inbox/handlers.hpp"
#include "outbox/upkeep/dead_letter_notifier.hpp"
#include "store/message_maker.hpp"

namespace posthorn {

/// What comes from outside for workflows: signals, the Responses to their calls, and word of calls
/// that were given up. Each becomes a row in the transaction that takes it in.
///
/// Lifetime: as the node; what it is given outlives it.
/// Threads:  the writer's, inside a unit; `told` the dispatcher's.
class workflow_intake final : public final_row_listener {
public:
    struct deps {
        const message_maker& maker;
        const clock& time;
        logger& log;
    };

    workflow_intake(deps with, const std::vector<starting_rule>& starts)
        : with_(with), starts_(starts) {}

    /// Handlers of the inbox.
    std::string take_signal(context& tx, const message& received) const;
    /// Of a Command that a workflow answers, in its time.
    std::string take_request(context& tx, const message& received) const;
    std::string take_response(context& tx, const message& received) const;

    /// A dead call is told to its workflow, and resolved by that. One that undoes another waits for
    /// a person, and so does its workflow.
    result<> ended(store_transaction& tx, const final_row& what) override;
    void told(const final_row& /*what*/) override {}

private:
    [[nodiscard]] std::string json_of(const message& received) const;

    deps with_;
    const std::vector<starting_rule>& starts_;
};

/// Adds the handlers of all that some workflow of this program waits for, where there is none yet, and
/// of the Responses to their calls.
result<> add_intake(handlers& to, const workflow_intake& by);

}  // namespace posthorn
