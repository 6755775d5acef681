#pragma once

#include "base/async/bell.hpp"
#include "base/async/executor.hpp"
#include "base/async/timer.hpp"
#include "base/log/log.hpp"
#include "base/run/environment.hpp"
#include "outbox/rules/outbox_options.hpp"
#include "store/store.hpp"
#include "store/upkeep/purger.hpp"

namespace posthorn {

/// Sees to it that no message waits for an earlier one of its order key that is no longer there.
///
/// Settling or closing a message lets its followers go with the same commit. This is for what goes
/// past that: rows deleted with plain SQL or by their age, a change of the policy, and a node that
/// died between a settle and its look for followers. It looks at all keys, a slice at a time, when
/// it starts, when it is asked to, and every few minutes. A message may be there though what leads to
/// it was deleted: before any is let go, the tables that lead to messages are mended.
///
/// Lifetime: `run()` once at a time; what it is given outlives it.
/// Threads:  the dispatcher's strand; it reads on `readers`.
/// Cancel:   `run()` returns after the slice under way.
class order_keeper {
public:
    order_keeper(const environment& env, store& where, order_options options)
        : env_(env), where_(where), options_(options), purger_(where, env.clock, env.timer, {}) {}

    task<> run();
    /// Soon, if it runs.
    void look() { wanted_.ring(); }

private:
    task<result<>> set_policy();
    task<result<>> look_at_all();

    const environment& env_;
    store& where_;
    order_options options_;
    purger purger_;
    bell wanted_;
};

}  // namespace posthorn
