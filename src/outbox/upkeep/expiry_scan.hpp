#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/async/executor.hpp"
#include "base/run/environment.hpp"
#include "outbox/lane/lane_set.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Lets messages expire in their time where nothing is sent: in lanes that are shut, or that have
/// more in the table than they will get to soon.
///
/// Elsewhere a message is looked at when it falls due, and its expiry with it. Here it is due and
/// not asked for, so this goes through the rows, a limited number at a time; where there are at
/// most a million, each is seen twice a minute.
///
/// Lifetime: `run()` once; everything given outlives it.
/// Threads:  the dispatcher's strand; it reads on `readers`.
/// Cancel:   `run()` returns after the read under way.
class expiry_scan {
public:
    struct deps {
        const environment& env;
        store& where;
        clock_guard& clocks;
        lane_set& lanes;
        const outbox_options& options;
    };

    explicit expiry_scan(deps with) : with_(with) {}

    task<> run();

private:
    task<result<>> go_round();
    task<bool> has_settled(const std::string& destination);
    task<result<>> look_at(const std::string& destination, std::size_t& slices_left);

    deps with_;
    std::map<std::string, pending_place> places_;  // Where a destination's look goes on.
    std::string last_;                             // The destination that was looked at last.
};

}  // namespace posthorn
