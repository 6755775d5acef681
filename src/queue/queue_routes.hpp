#pragma once

#include <string>
#include <vector>

#include "base/run/environment.hpp"
#include "feature/admin_route.hpp"
#include "queue/queue.hpp"
#include "queue/queue_waits.hpp"
#include "store/store.hpp"

namespace posthorn {

/// What the routes of queues work on; all of it outlives them.
struct queue_deps {
    store& where;  // Has `queue_tables()`.
    const environment& env;
    const message_maker& maker;  // For Responses.
    queue_waits& waits;
    queue_rules rules{};
    std::vector<std::string> queues{};  // The endpoints that are handled by one.
};

/// For services that take their messages from the queue over HTTP, with a worker's key:
///
/// | route                           | body                                                      |
/// |---------------------------------|-----------------------------------------------------------|
/// | POST /_rf/queue/{endpoint}/take | `{"owner":"w1","limit":10,"leaseMs":60000,"waitMs":20000}` |
/// | POST /_rf/queue/ack             | `{"owner":"w1","seqs":[1,2],"response":{"paid":true}}`    |
/// | POST /_rf/queue/release         | `{"owner":"w1","seqs":[3],"delayMs":1000,"error":"why",   |
/// |                                 | "giveUp":false}`                                          |
///
/// Take answers `{"messages":[…]}`, the others `{"count":n}`: how many were still the owner's.
/// With `waitMs` an empty answer comes only after that time, or when the node stops. A name that is
/// not a queue is answered with 404, unless something is left in it; a field that is not in the
/// table with 400.
[[nodiscard]] std::vector<admin_route> queue_worker_routes(const queue_deps& with);

/// For operators:
///
/// | route                             | role     | answers                                        |
/// |-----------------------------------|----------|------------------------------------------------|
/// | GET /_rf/queue                    | viewer   | how each queue is                              |
/// | GET /_rf/queue/jobs               | viewer   | jobs by `endpoint` and `state`, in pages       |
/// | GET /_rf/queue/jobs/{seq}         | viewer   | one; `?payload=true` needs the right to        |
/// |                                   |          | payloads                                       |
/// | POST /_rf/queue/jobs/{seq}/retry  | operator | it may be taken at once                        |
/// | POST /_rf/queue/jobs/{seq}/finish | operator | it is ended; `{"response":"…"}` as text        |
/// | POST /_rf/queue/retry             | operator | `{"endpoint":"Ship"}`: all that were given up  |
[[nodiscard]] std::vector<admin_route> queue_operator_routes(const queue_deps& with);

}  // namespace posthorn
