#include "transport/kafka/kafka_publisher.hpp"

#include <array>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "support/test_environment.hpp"

namespace posthorn {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// A cluster of one broker and the topic `lake`, which librdkafka itself plays.
class played_cluster {
public:
    played_cluster() {
        std::array<char, 256> why{};
        owner_.reset(rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), why.data(), why.size()));
        if (!owner_) throw std::runtime_error(why.data());
        cluster_.reset(rd_kafka_mock_cluster_new(owner_.get(), 1));
        rd_kafka_mock_topic_create(cluster_.get(), "lake", 1, 1);
    }

    [[nodiscard]] std::string brokers() const {
        return rd_kafka_mock_cluster_bootstraps(cluster_.get());
    }
    /// So many of the next requests to write are answered with this.
    void refuse(std::size_t requests, rd_kafka_resp_err_t with) {
        constexpr std::int16_t produce = 0;
        for (std::size_t i = 0; i < requests; ++i)
            rd_kafka_mock_push_request_errors(cluster_.get(), produce, 1, with);
    }

private:
    struct owner_end {
        void operator()(rd_kafka_t* one) const noexcept { rd_kafka_destroy(one); }
    };
    struct cluster_end {
        void operator()(rd_kafka_mock_cluster_t* one) const noexcept {
            rd_kafka_mock_cluster_destroy(one);
        }
    };

    std::unique_ptr<rd_kafka_t, owner_end> owner_;
    std::unique_ptr<rd_kafka_mock_cluster_t, cluster_end> cluster_;
};

class kafka_publisher_test : public testing::Test {
protected:
    ~kafka_publisher_test() override {
        publisher_.reset();
        threads_.stop();
    }

    void open(const std::string& brokers, std::chrono::milliseconds patience) {
        publisher_ = std::make_unique<kafka_publisher>(
            kafka_publisher::deps{.env = env_,
                                  .at = {.brokers = brokers, .topic = "lake"},
                                  .name = "test",
                                  .password = {},
                                  .patience = patience});
    }
    std::vector<delivery> publish(const std::vector<std::string>& ids) {
        std::vector<broker_message> messages;
        for (const auto& id : ids)
            messages.push_back({.id = id, .address = "lake", .body = "body of " + id});
        const auto batch = std::make_shared<publication>(std::move(messages));
        auto answers = start(threads_.executor(), wait_for(batch));
        publisher_->publish(batch);
        return answers.get();
    }
    static task<std::vector<delivery>> wait_for(std::shared_ptr<publication> batch) {
        co_return co_await batch->answers();
    }
    static std::vector<outcome> outcomes(const std::vector<delivery>& from) {
        std::vector<outcome> all;
        for (const auto& each : from) all.push_back(each.what);
        return all;
    }

    io_threads threads_{"test-io"};
    logger log_ = logger::null();
    test::test_environment env_{{.log = log_}};
    std::unique_ptr<kafka_publisher> publisher_;
};

constexpr std::chrono::milliseconds long_enough = std::chrono::minutes{2};

TEST_F(kafka_publisher_test, takes_a_message_for_delivered_when_the_replicas_have_it) {
    const played_cluster cluster;
    open(cluster.brokers(), long_enough);
    EXPECT_THAT(outcomes(publish({"a", "b", "c"})), Each(outcome::delivered));
    EXPECT_THAT(outcomes(publish({"d"})), ElementsAre(outcome::delivered));
}

TEST_F(kafka_publisher_test, gives_up_none_of_a_request_that_is_refused_for_one_of_them) {
    played_cluster cluster;
    cluster.refuse(1, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
    open(cluster.brokers(), long_enough);
    EXPECT_THAT(outcomes(publish({"a", "b", "c"})), Each(outcome::delivered));
}

TEST_F(kafka_publisher_test, gives_up_a_message_that_is_refused_alone) {
    played_cluster cluster;
    cluster.refuse(2, RD_KAFKA_RESP_ERR_INVALID_RECORD);
    open(cluster.brokers(), long_enough);
    EXPECT_THAT(outcomes(publish({"a"})), ElementsAre(outcome::permanent));
    EXPECT_THAT(outcomes(publish({"b"})), ElementsAre(outcome::delivered));
}

TEST_F(kafka_publisher_test, says_why_a_cluster_does_not_answer) {
    open("127.0.0.1:1", std::chrono::seconds{1});
    const auto answers = publish({"a", "b"});
    EXPECT_THAT(outcomes(answers), Each(outcome::unanswered));
    EXPECT_THAT(answers.front().error, HasSubstr("127.0.0.1:1"));
}

}  // namespace
}  // namespace posthorn
