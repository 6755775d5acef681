#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/async/executor.hpp"
#include "transport/broker/broker_consumer.hpp"
#include "transport/dns/name_probe.hpp"
#include "transport/nats/nats_connection.hpp"

namespace posthorn {

/// Consumes a stream of JetStream through a durable pull consumer with explicit acknowledgements.
/// It asks for as many messages as there is room for, and for more when half of them have come.
class nats_consumer final : public broker_consumer {
public:
    struct deps {
        const environment& env;
        nats_place at;
        std::function<result<std::string>()> password;
    };
    struct options {
        std::string stream;
        std::string durable;
        std::string subject{};  // Of the stream; all of it if empty.
        std::size_t messages_max;
        std::size_t bytes_max;
    };

    nats_consumer(deps with, options of);
    ~nats_consumer() override;
    nats_consumer(const nats_consumer&) = delete;
    nats_consumer& operator=(const nats_consumer&) = delete;

    void start(std::function<void()> arrived) override;
    [[nodiscard]] std::vector<received_message> take() override;
    void acknowledge(std::uint64_t tag) override;
    void put_back(std::uint64_t tag) override;
    void extend(std::uint64_t tag) override;
    [[nodiscard]] std::chrono::milliseconds lease() const override;
    [[nodiscard]] bool holds(std::uint64_t tag) const override;
    [[nodiscard]] consumer_state state() const override;

private:
    class desk;

    void run();
    result<> connect();

    deps with_;
    options options_;
    std::shared_ptr<desk> desk_;
    name_probe names_;
    worker_threads thread_{"posthorn-nats"};  // Last: it joins before the rest goes.
};

}  // namespace posthorn
