#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/async/executor.hpp"
#include "base/run/environment.hpp"
#include "transport/broker/publication.hpp"
#include "transport/dns/name_probe.hpp"
#include "transport/nats/nats_connection.hpp"

namespace posthorn {

/// Publishes to JetStream, with an answer for each message to an inbox of its own and many out at a
/// time. `Nats-Msg-Id` is the message's id, by which a stream knows a repeat.
///
/// It connects when there is something to publish; after a failure it answers at once until the
/// next try is due, 0.1 s later at first and two seconds later at most.
class nats_publisher final : public broker_publisher {
public:
    struct deps {
        const environment& env;
        nats_place at;
        std::function<result<std::string>()> password;  // Read anew for each connection.
    };

    explicit nats_publisher(deps with);
    ~nats_publisher() override;
    nats_publisher(const nats_publisher&) = delete;
    nats_publisher& operator=(const nats_publisher&) = delete;

    void publish(std::shared_ptr<publication> batch) override;

private:
    /// What is out, by the numbers that their answers come back with.
    class ledger;

    void send(const std::shared_ptr<publication>& batch);
    /// Why the connection is of no use any more; empty while it is.
    [[nodiscard]] std::optional<error> send_one(const std::shared_ptr<publication>& batch,
                                                std::size_t which);
    result<> connect();

    deps with_;
    std::shared_ptr<ledger> out_;
    std::atomic<bool> stopping_ = false;
    // These belong to the thread.
    std::unique_ptr<nats_connection> connection_;
    steady_time next_try_{};
    std::chrono::milliseconds pause_{};
    error why_{error_code::unreachable, "NATS is not reached"};
    name_probe names_;
    worker_threads thread_{"posthorn-nats"};  // Last: it joins before the rest goes.
};

}  // namespace posthorn
