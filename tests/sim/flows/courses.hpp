#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <posthorn/workflow.hpp>

#include "engine/engine.hpp"
#include "sim/process.hpp"
#include "sim/workload.hpp"

/// The workflows of a world, and what they call.
namespace posthorn::sim {

struct take {
    struct taken {
        std::int64_t place = 0;
    };
    using contract = as_command<"Take", taken>;
    std::string id, canary;
};
struct give_back {
    using contract = as_command<"GiveBack">;
    std::string id, canary;
};
// Every world has these two.
using ann = service<"ann", 1, take, give_back>;
using bob = service<"bob", 1, take, give_back>;

struct told {
    using contract = as_signal<"Told">;
    std::string key;
    std::int64_t level = 0;
    std::string token, canary;
};

/// What a workflow is started with, and what it decides by.
struct course {
    std::string id;
    bool calls_bob = false;
    std::int64_t dice = 0;
    std::string canary;
    std::int64_t round = 0;
};

struct trail {
    std::string now = "new";
    std::int64_t places = 0;
    std::string canary;
};

/// Calls with what undoes them, a wait with a time limit, rows of its own; some fail in the end.
workflow<std::int64_t> trade(flow<trail>& f, course c);
/// The first of a signal, a sleep and a call, three times over.
workflow<std::int64_t> race(flow<trail>& f, course c);
/// Waits for a signal, however long: for one of a level, or for any.
workflow<std::int64_t> patience(flow<trail>& f, course c);
/// One of many that wait for the same signal, which one of them gets.
workflow<std::int64_t> share(flow<trail>& f, course c);

/// Has children, of which one outlives the run that began it, and goes on in a run of its own.
workflow<std::int64_t> rounds(flow<trail>& f, course c);

/// The key of what `share` waits for.
inline constexpr std::string_view shared_key = "shared";
/// With what the rows of workflows in the chain of a service begin.
inline constexpr std::string_view row_tag = "flow ";

using course_code = workflow<std::int64_t> (*)(flow<trail>&, course);
inline constexpr course_code courses[] = {&trade, &race, &patience, &share, &rounds};

/// Adds the workflows, and the handlers of what they call, to a process.
void equip_with_flows(process& one, const surroundings& around, const handler_habits& habits);

}  // namespace posthorn::sim
