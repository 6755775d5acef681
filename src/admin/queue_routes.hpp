#pragma once

#include "admin/gate.hpp"
#include "base/clock.hpp"
#include "store/store.hpp"
#include "transport/http/router.hpp"

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
/// The store, which has `queue_tables()`, the clock and the gate outlive the routes.
void add_queue_routes(router& routes, store& where, const clock& time, admin_gate& gate);

}  // namespace posthorn
