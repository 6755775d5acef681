#pragma once

#include <chrono>
#include <cstddef>

#include "base/async/bell.hpp"
#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/run/environment.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Told once of every message that was given up: dead or expired.
class final_row_listener {
public:
    virtual ~final_row_listener() = default;
    /// In the transaction that records that it was told, on the writer's thread. After an error it
    /// is told again later.
    virtual result<> ended(store_transaction& tx, const final_row& what) = 0;
    /// That transaction is on disk. On the dispatcher's strand.
    virtual void told(const final_row& what) = 0;
};

/// Tells a listener of the messages that were given up, each in a transaction of its own, so that
/// what it does about one happens exactly once.
///
/// A listener that fails is asked again after a pause that grows; other messages do not wait.
///
/// Lifetime: `run()` once; what it is given outlives it.
/// Threads:  the dispatcher's strand.
/// Cancel:   `run()` returns after the message under way.
class dead_letter_notifier {
public:
    /// Without a listener it does nothing.
    dead_letter_notifier(const environment& env, store& where, final_row_listener* listener)
        : env_(env), where_(where), listener_(listener) {}

    task<> run();
    /// There may be something new to tell.
    void look() { arrived_.ring(); }

private:
    task<result<>> tell_all();
    task<> tell(const final_row& what);

    const environment& env_;
    store& where_;
    final_row_listener* listener_;
    bell arrived_;
    std::size_t failed_ = 0;  // In the present round.
};

}  // namespace posthorn
