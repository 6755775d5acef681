#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "forward/forward_desk.hpp"
#include "forward/forward_transport.hpp"
#include "forward/limits/drop_box.hpp"
#include "forward/limits/sample_sieve.hpp"
#include "forward/replay_settings.hpp"

namespace posthorn {

/// Closes samples that are not worth keeping while their target is out, about every second. Their
/// lane does it, which leaves alone what is being sent.
///
/// Where no category thins it does nothing.
///
/// Lifetime: `run()` once; everything given outlives it.
/// Threads:  the node's.
class sample_keeper final : public node_service {
public:
    struct deps {
        store& where;
        const environment& env;
        const forward_desk& desk;
        forward_counters& counters;
        drop_box& drops;
        std::vector<const outbox_counters*> outbox;
    };

    explicit sample_keeper(deps with) : with_(std::move(with)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "sample keeper"; }
    task<> run() override;

private:
    task<> look();
    task<> look_at(const target_replay& target, sample_sieve& sieve);

    deps with_;
    std::map<std::string, sample_sieve> sieves_;  // By destination, while it is out.
};

}  // namespace posthorn
