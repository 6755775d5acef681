#pragma once

#include <string>

#include "base/result.hpp"
#include "inbox/handlers.hpp"

namespace posthorn {

/// What the requests of a centre stand on.
struct central_office {
    std::string centre;  // The one service that may ask.
};

/// Takes the centre's requests about parked work, each in one transaction:
///
/// | endpoint                    | asks for                 | answers                    |
/// |-----------------------------|--------------------------|----------------------------|
/// | `ParkedMessageQueryRequest` | a page, of any category  | ParkedMessageQueryResponse |
/// | `ParkedMessageRetryRequest` | all its retries anew     | ParkedMessageRetryResponse |
/// | `ParkedMessageDiscardRequest` | that it is given up    | ParkedMessageDiscardResponse |
/// | `RetryParkedOperation`      | the same by its tracked id | ParkedOperationActionAck |
/// | `DiscardParkedOperation`    | likewise                 | ParkedOperationActionAck   |
///
/// Another service is refused for good. The office outlives the handlers.
result<> add_central_requests(class handlers& into, const central_office& with);

}  // namespace posthorn
