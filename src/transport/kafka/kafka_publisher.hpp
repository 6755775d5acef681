#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/async/executor.hpp"
#include "base/run/environment.hpp"
#include "transport/broker/publication.hpp"
#include "transport/http/tls.hpp"
#include "transport/kafka/kafka_address.hpp"

namespace posthorn {

/// Publishes to Kafka with `acks=all` and an idempotent producer: one message of an order key after
/// the other in one partition, each once in the log for as long as this producer lives. The message
/// id is the header `rf-id`, by which receivers know what a new producer repeats.
class kafka_publisher final : public broker_publisher {
public:
    struct deps {
        const environment& env;
        kafka_url at;
        std::string name{};  // Of this client, for those who look at the cluster.
        std::string mechanism = "PLAIN";
        std::string authority{};
        tls_files own{};
        std::function<result<std::string>()> password;  // Read anew for each producer.
        std::chrono::milliseconds patience;             // For the answer to one message.
    };

    explicit kafka_publisher(deps with);
    ~kafka_publisher() override;
    kafka_publisher(const kafka_publisher&) = delete;
    kafka_publisher& operator=(const kafka_publisher&) = delete;

    void publish(std::shared_ptr<publication> batch) override;

private:
    class producer;

    void send(const std::shared_ptr<publication>& batch);
    void serve();

    deps with_;
    std::atomic<bool> stopping_ = false;
    // These belong to the thread.
    std::unique_ptr<producer> to_;
    bool serving_ = false;
    worker_threads thread_{"posthorn-kafka"};  // Last: it joins before the rest goes.
};

}  // namespace posthorn
