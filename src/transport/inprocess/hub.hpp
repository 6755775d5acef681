#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/async/waiter.hpp"
#include "base/result.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// Where the nodes of one process find each other.
///
/// Lifetime: outlives the nodes in it and the transports over it.
/// Threads:  any.
class inprocess_hub {
public:
    /// From now on messages for `service` go to `to`, which stays until `leave` has returned.
    /// `error_code::invalid_argument` if the service is there already.
    result<> join(std::string service, receiver& to);
    /// Takes nothing more for the service and returns when its deliveries have ended. Leaving twice
    /// is safe.
    /// Cancel: not heeded, since the receiver is in use until then.
    task<> leave(std::string service);

    task<std::vector<delivery>> deliver(std::string destination, message_batch batch);

private:
    struct member {
        receiver& to;
        std::size_t in_flight = 0;
        std::shared_ptr<waiter> drained{};  // Set by `leave`, which waits for the last one.
    };
    class visit;

    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<member>, std::less<>> members_;
};

/// Hands messages to a node of the same process as they are, without writing them out.
///
/// Lifetime: the hub outlives it.
/// Cancel:   as the receiver's.
class inprocess_transport final : public transport {
public:
    inprocess_transport(inprocess_hub& hub, std::string destination)
        : hub_(hub), destination_(std::move(destination)) {}

    task<std::vector<delivery>> deliver(message_batch batch) override {
        return hub_.deliver(destination_, std::move(batch));
    }

private:
    inprocess_hub& hub_;
    std::string destination_;
};

}  // namespace posthorn
