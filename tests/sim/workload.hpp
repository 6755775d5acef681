#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <posthorn/transaction.hpp>

#include "base/uuid_generator.hpp"
#include "sim/checks/payloads.hpp"
#include "sim/machine.hpp"
#include "sim/process.hpp"

namespace posthorn::sim {

/// Appends to the service's chain, in the transaction given.
chain_link append_to_chain(transaction& tx, std::string_view tag);

/// How often handlers do what; in a hundred.
struct handler_habits {
    unsigned throws_early = 5;
    unsigned throws_late = 8;  // After its writes and sends.
    unsigned buries = 2;
    unsigned breaks_the_group = 1;
    unsigned responds = 50;
    unsigned sends_on = 30;
};

/// A business transaction to be: a row in the chain and some messages, with their ids, so that it
/// can be repeated when it is in doubt.
struct errand {
    struct letter {
        std::string to, endpoint, payload;
        send_options options;
    };
    std::string tag;
    std::vector<letter> letters;
    bool throws = false;  // After all its work.

    [[nodiscard]] std::vector<uuid> ids() const;
};

/// What the services of a world do: the handlers, and the transactions that clients ask for.
///
/// Lifetime: outlives the processes.
/// Threads:  one.
class workload {
public:
    workload(const surroundings& around, handler_habits habits);

    /// Adds the handlers of a process.
    void equip(process& one);
    /// Draws a transaction for a service.
    [[nodiscard]] errand draw(const std::string& service);
    /// One letter to `to`, without anything special about it.
    [[nodiscard]] errand simple(const std::string& to, std::string endpoint = "Effect");

    enum class ending : std::uint8_t { committed, refused, in_doubt };
    /// Runs it and tells the ledger. An errand in doubt is to be repeated; `earlier_doubt` says
    /// that this is such a repetition, after which a refusal proves nothing.
    void submit(process& at, const std::shared_ptr<const errand>& what, bool earlier_doubt,
                std::function<void(ending)> then);

    handler_habits habits;
    /// For scenarios: called by the transactional handler after its writes, before the commit.
    std::function<void(process&, const message&)> in_handler;
    [[nodiscard]] std::uint64_t sent_on() const noexcept { return sent_on_; }

private:
    std::string run_effect(process& at, context& c, const message& m);
    std::string run_outside(process& at, const message& m);
    task<result<std::string>> run_outside_slowly(process& at, message m);
    [[nodiscard]] std::string other_than(const std::string& service);
    [[nodiscard]] std::string draw_order_key();
    [[nodiscard]] errand::letter draw_letter(const std::string& service);

    surroundings around_;
    uuid_generator ids_;
    std::uint64_t errands_ = 0;
    std::uint64_t sent_on_ = 0;
};

}  // namespace posthorn::sim
