#include "transport/nats/nats_publisher.hpp"

#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "support/test_environment.hpp"
#include "unit/transport/nats/scripted_nats.hpp"

namespace posthorn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Against a NATS that the test plays itself.
class nats_publisher_test : public testing::Test {
protected:
    ~nats_publisher_test() override {
        publisher_.reset();
        threads_.stop();
    }

    static broker_message with_id(const std::string& id) {
        return {.id = id, .address = "orders.placed", .body = "body of " + id};
    }
    std::future<std::vector<delivery>> publish(std::vector<broker_message> messages) {
        const auto batch = std::make_shared<publication>(std::move(messages));
        auto answers = start(threads_.executor(), wait_for(batch));
        publisher_->publish(batch);
        return answers;
    }
    static task<std::vector<delivery>> wait_for(std::shared_ptr<publication> batch) {
        co_return co_await batch->answers();
    }
    static std::vector<outcome> outcomes(std::future<std::vector<delivery>>& from) {
        std::vector<outcome> all;
        for (const auto& each : from.get()) all.push_back(each.what);
        return all;
    }

    test::scripted_nats nats_;
    io_threads threads_{"test-io"};
    logger log_ = logger::null();
    test::test_environment env_{{.log = log_}};
    std::unique_ptr<nats_publisher> publisher_ =
        std::make_unique<nats_publisher>(nats_publisher::deps{
            .env = env_,
            .at = {.url = {.user = "me", .host = "127.0.0.1", .port = nats_.port()},
                   .name = "test"},
            .password = [] { return std::string("secret"); }});
};

TEST_F(nats_publisher_test, takes_a_message_for_delivered_when_a_stream_has_it) {
    auto answers = publish({with_id("a"), with_id("b"), with_id("c")});
    nats_.accept();
    const auto first = nats_.read();
    const auto second = nats_.read();
    const auto third = nats_.read();
    EXPECT_EQ(first.subject, "orders.placed");
    EXPECT_EQ(first.body, "body of a");
    EXPECT_THAT(first.headers, HasSubstr("Nats-Msg-Id: a\r\n"));
    nats_.answer(third.reply,
                 R"({"error":{"code":503,"err_code":10077,"description":"maximum messages"}})");
    nats_.answer_no_responders(second.reply);
    nats_.answer(first.reply, R"({"stream":"ORDERS","seq":1})");
    EXPECT_THAT(outcomes(answers),
                ElementsAre(outcome::delivered, outcome::undeliverable, outcome::throttled));
}

TEST_F(nats_publisher_test, leaves_open_what_was_out_when_the_connection_broke) {
    auto first = publish({with_id("a")});
    auto second = publish({with_id("b")});
    nats_.accept();
    const auto acknowledged = nats_.read();
    nats_.read();
    nats_.answer(acknowledged.reply, R"({"stream":"ORDERS","seq":1})");
    EXPECT_THAT(outcomes(first), ElementsAre(outcome::delivered));
    nats_.close();
    EXPECT_THAT(outcomes(second), ElementsAre(outcome::unanswered));
    auto again = publish({with_id("b")});
    nats_.accept();
    const auto repeat = nats_.read();
    EXPECT_EQ(repeat.body, "body of b");
    nats_.answer(repeat.reply, R"({"stream":"ORDERS","seq":2,"duplicate":true})");
    EXPECT_THAT(outcomes(again), ElementsAre(outcome::delivered));
}

TEST_F(nats_publisher_test, refuses_what_is_too_large_for_the_server_and_sends_the_rest) {
    auto large = with_id("large");
    large.body = std::string(1'000, 'x');
    auto answers = publish({std::move(large), with_id("good")});
    nats_.accept(500);
    const auto good = nats_.read();
    EXPECT_EQ(good.body, "body of good");
    nats_.answer(good.reply, R"({"stream":"ORDERS","seq":1})");
    const auto came = answers.get();
    EXPECT_EQ(came[0].what, outcome::permanent);
    EXPECT_EQ(came[0].code, error_code::message_too_large);
    EXPECT_THAT(came[0].error, HasSubstr("500 bytes at most"));
    EXPECT_EQ(came[1].what, outcome::delivered);
}

TEST_F(nats_publisher_test, does_not_send_what_its_lane_has_given_up) {
    task_group lanes(threads_.executor());
    const auto late = std::make_shared<publication>(std::vector{with_id("late")});
    lanes.spawn([](std::shared_ptr<publication> batch) -> task<> {
        std::ignore = co_await batch->answers();
    }(late));
    start(threads_.executor(),
          [](task_group& all) -> task<> {
              all.cancel();
              co_await all.join();
          }(lanes))
        .get();
    ASSERT_TRUE(late->is_over());
    publisher_->publish(late);
    auto answers = publish({with_id("good")});
    nats_.accept();
    const auto good = nats_.read();
    EXPECT_EQ(good.body, "body of good");
    nats_.answer(good.reply, R"({"stream":"ORDERS","seq":1})");
    EXPECT_THAT(outcomes(answers), ElementsAre(outcome::delivered));
}

}  // namespace
}  // namespace posthorn
