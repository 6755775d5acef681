#pragma once

#include <functional>
#include <memory>
#include <string>

#include <posthorn/node.hpp>

#include "chaos/stamps.hpp"
#include "chaos/tally.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn::chaos {

/// Of one road; all of it outlives the road.
struct road_parts {
    std::string from;
    std::string to;
    std::uint64_t seed = 1;
    const test::temporary_directory& folder;
    tally& counts;
    stamps& answers;
};

/// The way from one node to another over one kind of transport, with chaos on it.
///
/// Lifetime: made before the nodes, and gone after them. `lay` and `reach` on the options that the
///           nodes are made with, `open` when the receiver has started, `calm` before nodes stop.
/// Threads:  that of the test.
class road {
public:
    virtual ~road() = default;

    /// What the receiver's configuration has to say beyond what options can.
    [[nodiscard]] virtual std::string settings() const { return {}; }
    /// Has the receiver listen where the road leads.
    virtual void reach(node_options& receiver) = 0;
    /// Has the sender go this way.
    virtual void lay(node_options& sender) = 0;
    virtual void open(const node& receiver) = 0;
    /// Ends all harm; what is still on its way somewhere arrives.
    virtual void calm() = 0;
};

/// A kind of transport. To add one, write a file with a road and name it in the tests.
using road_factory = std::function<std::unique_ptr<road>(const road_parts& parts)>;

std::unique_ptr<road> http_road(const road_parts& parts);
std::unique_ptr<road> https_road(const road_parts& parts);
std::unique_ptr<road> unix_road(const road_parts& parts);
std::unique_ptr<road> pipe_road(const road_parts& parts);
std::unique_ptr<road> grpc_road(const road_parts& parts);
std::unique_ptr<road> inprocess_road(const road_parts& parts);

}  // namespace posthorn::chaos
