#include "engine/code_watch.hpp"

#include <algorithm>

#include "engine/steps/step_writer.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

constexpr std::chrono::milliseconds code_look_max{1000};

}  // namespace

task<> code_watch::run() {
    while (co_await env_.timer.sleep_for(std::min(code_look_max, limit_))) {
        const auto seen = report_.running();
        if (!seen || seen->age < limit_) continue;
        const auto why = fmt::format("its code has run for {} s without waiting for anything",
                                     std::chrono::floor<std::chrono::seconds>(seen->age).count());
        const auto held = co_await commit(
            where_, [&](store_transaction& tx) { return quarantine(tx, seen->instance, why); });
        if (!held)
            env_.log.error("Workflow {Workflow} cannot be quarantined: {Error}",
                           {{"Workflow", seen->name}, {"Error", held.error().what()}});
        const auto last_words = fmt::format("workflow {}: {}", seen->name, why);
        env_.log.error("Node: stops at once, to be started anew without it: {Reason}",
                       {{"Reason", last_words}});
        co_return end_(last_words);
    }
}

}  // namespace posthorn
