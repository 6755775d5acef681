#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/async/executor.hpp"
#include "base/run/environment.hpp"
#include "transport/broker/publication.hpp"
#include "transport/dns/name_probe.hpp"
#include "transport/http/tls.hpp"
#include "transport/kafka/kafka_address.hpp"

namespace posthorn {

/// Publishes to Kafka with `acks=all` and an idempotent producer: one message of an order key after
/// the other in one partition, each once in the log for as long as this producer lives. The message
/// id is the header `rf-id`, by which receivers know what a new producer repeats.
///
/// Lifetime: the destructor gives up what is out, for which it waits a second at most.
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
    class reports;

    void run();
    /// False once the publisher is to end.
    bool wait_for_more();
    [[nodiscard]] std::deque<std::shared_ptr<publication>> take_waiting();
    void send(const std::shared_ptr<publication>& batch);
    void send_next_suspect();
    /// Null if none can be made, and why.
    producer* open(std::string& why);

    deps with_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<publication>> waiting_;
    bool stopping_ = false;
    name_probe names_;  // For librdkafka's threads.
    // These belong to the thread.
    std::unique_ptr<reports> reports_;  // Outlives the producer, which tells it what it ends with.
    std::unique_ptr<producer> to_;
    worker_threads thread_{"posthorn-kafka"};  // Last: it joins before the rest goes.
};

}  // namespace posthorn
