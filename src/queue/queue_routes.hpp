#pragma once

#include <string>
#include <vector>

#include "base/time/clock.hpp"
#include "feature/admin_route.hpp"
#include "store/store.hpp"

namespace posthorn {

/// For services that take their messages from the queue over HTTP, with a worker's key:
///
/// | route                               | body                                             |
/// |-------------------------------------|--------------------------------------------------|
/// | POST /_rf/queue/{endpoint}/take     | `{"owner":"w1","limit":10,"leaseMs":60000}`      |
/// | POST /_rf/queue/ack                 | `{"owner":"w1","seqs":[1,2]}`                    |
/// | POST /_rf/queue/release             | `{"owner":"w1","seqs":[3],"delayMs":1000}`       |
///
/// Take answers `{"messages":[…]}`, the others `{"count":n}`: how many were still the owner's.
/// A name that is not a queue is answered with 404, unless something is left in it; a field that is
/// not in the table with 400.
struct queue_deps {
    store& where;  // Has `queue_tables()`. Outlives the routes, as the others do.
    const clock& time;
    std::vector<std::string> queues;  // The endpoints that are handled by one.
};
[[nodiscard]] std::vector<admin_route> queue_routes(queue_deps with);

}  // namespace posthorn
