#include "transport/amqp/amqp_link.hpp"

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "support/eventually.hpp"
#include "support/test_environment.hpp"
#include "transport/amqp/amqp_consumer.hpp"
#include "transport/amqp/amqp_fields.hpp"
#include "transport/amqp/amqp_publisher.hpp"
#include "unit/transport/amqp/scripted_rabbit.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::scripted_rabbit;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// Against a RabbitMQ that the test plays itself.
class amqp_test : public testing::Test {
protected:
    ~amqp_test() override { threads_.stop(); }

    [[nodiscard]] amqp_link::deps deps() const {
        return {.env = env_, .at = place_, .password = [] { return std::string("secret"); }};
    }

    test::scripted_rabbit rabbit_;
    amqp_place place_{.url = {.user = "guest", .host = "127.0.0.1", .port = rabbit_.port()},
                      .name = "test",
                      .heartbeat = 1h};  // But for the tests of it: a machine may be busy.
    io_threads threads_{"test-io"};
    logger log_ = logger::null();
    test::test_environment env_{{.log = log_}};
};

class amqp_publisher_test : public amqp_test {
protected:
    void open() { publisher_ = std::make_unique<amqp_publisher>(deps(), "orders"); }
    void accept() {
        rabbit_.accept();
        rabbit_.let_in();
        rabbit_.let_publish();
    }

    /// The answers to a batch of messages, each with its id for a body.
    std::future<std::vector<delivery>> publish(const std::vector<std::string>& ids) {
        std::vector<broker_message> messages;
        for (const auto& id : ids)
            messages.push_back({.id = id, .address = "key", .body = "body of " + id});
        return publish_all(std::move(messages));
    }
    std::future<std::vector<delivery>> publish_all(std::vector<broker_message> messages) {
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

    std::unique_ptr<amqp_publisher> publisher_;
};

TEST_F(amqp_publisher_test, takes_a_message_for_delivered_when_it_is_confirmed) {
    open();
    auto answers = publish({"a", "b", "c"});
    accept();
    EXPECT_EQ(rabbit_.read_published(), "body of a");
    EXPECT_EQ(rabbit_.read_published(), "body of b");
    EXPECT_EQ(rabbit_.read_published(), "body of c");
    rabbit_.give_back("b");
    rabbit_.confirm(2, true);
    rabbit_.refuse(3);
    EXPECT_THAT(outcomes(answers),
                ElementsAre(outcome::delivered, outcome::undeliverable, outcome::throttled));
}

TEST_F(amqp_publisher_test, leaves_open_what_was_out_when_the_connection_broke) {
    open();
    auto first = publish({"a", "b"});
    accept();
    rabbit_.read_published();
    rabbit_.read_published();
    rabbit_.confirm(1);
    rabbit_.close();
    EXPECT_THAT(outcomes(first), ElementsAre(outcome::delivered, outcome::unanswered));
    auto again = publish({"b"});
    accept();
    EXPECT_EQ(rabbit_.read_published(), "body of b");
    rabbit_.confirm(1);  // A new channel counts from the beginning.
    EXPECT_THAT(outcomes(again), ElementsAre(outcome::delivered));
}

TEST_F(amqp_publisher_test, answers_at_once_while_the_broker_is_blocked) {
    open();
    auto out = publish({"a"});
    auto other = publish({"b"});
    accept();
    rabbit_.read_published();
    rabbit_.read_published();
    rabbit_.block(true);
    rabbit_.confirm(2);
    EXPECT_THAT(outcomes(other), ElementsAre(outcome::delivered));  // It has read as far as that.
    const auto refused = publish({"c"}).get();
    EXPECT_EQ(refused[0].what, outcome::throttled);
    EXPECT_THAT(refused[0].error, HasSubstr("low on disk"));
    rabbit_.block(false);
    rabbit_.confirm(1);
    EXPECT_THAT(outcomes(out), ElementsAre(outcome::delivered));
    auto later = publish({"d"});
    EXPECT_EQ(rabbit_.read_published(), "body of d") << "what was refused was not sent";
    rabbit_.confirm(3);
    EXPECT_THAT(outcomes(later), ElementsAre(outcome::delivered));
}

TEST_F(amqp_publisher_test,
       sends_one_at_a_time_until_the_message_is_found_that_closes_the_channel) {
    open();
    auto first = publish({"a", "poison", "b"});
    accept();
    for (int i = 0; i < 3; ++i) rabbit_.read_published();
    rabbit_.close_channel(406, "PRECONDITION_FAILED");
    EXPECT_THAT(outcomes(first), Each(outcome::unanswered));
    auto second = publish({"a", "poison", "b"});
    accept();
    EXPECT_EQ(rabbit_.read_published(), "body of a");
    rabbit_.confirm(1);
    EXPECT_THAT(outcomes(second),
                ElementsAre(outcome::delivered, outcome::throttled, outcome::throttled));
    auto third = publish({"poison", "b"});
    EXPECT_EQ(rabbit_.read_published(), "body of poison");
    rabbit_.close_channel(406, "PRECONDITION_FAILED");
    EXPECT_THAT(outcomes(third), ElementsAre(outcome::permanent, outcome::throttled));
    auto fourth = publish({"b", "c"});
    accept();
    EXPECT_EQ(rabbit_.read_published(), "body of b");
    EXPECT_EQ(rabbit_.read_published(), "body of c");
    rabbit_.confirm(2, true);
    EXPECT_THAT(outcomes(fourth), Each(outcome::delivered));
}

TEST_F(amqp_publisher_test, refuses_headers_that_no_frame_holds_and_sends_the_rest) {
    open();
    std::vector<broker_message> messages(2);
    messages[0] = {.id = "long", .address = "key", .body = "x", .headers = {}};
    messages[0].headers.emplace_back("name", std::string(4'096, 'v'));
    messages[1] = {.id = "good", .address = "key", .body = "good"};
    auto answers = publish_all(std::move(messages));
    rabbit_.accept();
    rabbit_.let_in({.frame_max = 4'096});
    rabbit_.let_publish();
    EXPECT_EQ(rabbit_.read_published(), "good");
    rabbit_.confirm(1);
    const auto came = answers.get();
    EXPECT_EQ(came[0].what, outcome::permanent);
    EXPECT_EQ(came[0].code, error_code::message_too_large);
    EXPECT_EQ(came[1].what, outcome::delivered);
}

TEST_F(amqp_publisher_test, holds_as_much_in_a_header_frame_as_it_says) {
    open();
    std::vector<broker_message> messages{{.id = "id",
                                          .address = "key",
                                          .body = "x",
                                          .content_type = "text/plain",
                                          .correlation_id = "order",
                                          .created_seconds = 1,
                                          .priority = 1}};
    messages[0].headers.emplace_back("name", "v");
    const auto missing = 4'096 - header_frame_bytes(messages[0]);
    messages[0].headers[0].second.append(missing, 'v');
    auto answers = publish_all(std::move(messages));
    rabbit_.accept();
    rabbit_.let_in({.frame_max = 4'096});
    rabbit_.let_publish();
    rabbit_.read_method(60'040);
    EXPECT_EQ(rabbit_.read().payload.size() + 8, 4'096U);
    rabbit_.read();
    rabbit_.confirm(1);
    EXPECT_THAT(outcomes(answers), ElementsAre(outcome::delivered));
}

TEST_F(amqp_publisher_test, does_not_send_what_its_lane_has_given_up) {
    open();
    task_group lanes(threads_.executor());
    const auto late = std::make_shared<publication>(std::vector<broker_message>{{.id = "late"}});
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
    auto answers = publish({"good"});
    accept();
    EXPECT_EQ(rabbit_.read_published(), "body of good");
    rabbit_.confirm(1);
    EXPECT_THAT(outcomes(answers), ElementsAre(outcome::delivered));
}

TEST_F(amqp_publisher_test, ends_a_connection_whose_broker_says_nothing_for_two_heartbeats) {
    open();
    auto answers = publish({"a"});
    rabbit_.accept();
    rabbit_.let_in({.heartbeat = 1});
    rabbit_.let_publish();
    rabbit_.read_published();
    EXPECT_EQ(rabbit_.read(true).type, scripted_rabbit::beat_frame);
    EXPECT_TRUE(rabbit_.is_closed_by_peer());
    EXPECT_THAT(outcomes(answers), ElementsAre(outcome::unanswered));
}

TEST_F(amqp_publisher_test, stops_while_a_broker_that_was_reached_does_not_let_it_in) {
    place_.patience = 1h;
    open();
    publisher_->publish(std::make_shared<publication>(std::vector<broker_message>{{.id = "a"}}));
    rabbit_.accept();
    rabbit_.read_greeting();
    publisher_.reset();
    EXPECT_TRUE(rabbit_.is_closed_by_peer());
}

class amqp_consumer_test : public amqp_test {
protected:
    void open(amqp_consumer::options of) {
        consumer_ = std::make_unique<amqp_consumer>(deps(), std::move(of));
        consumer_->start([] {});
    }
    void open() { open({.queue = "orders", .messages_max = 10, .bytes_max = 1'000}); }
    void accept() {
        rabbit_.accept();
        rabbit_.let_in();
        rabbit_.let_consume();
    }
    /// The next message that it was given.
    received_message next() {
        std::vector<received_message> came;
        EXPECT_TRUE(eventually([&] {
            came = consumer_->take();
            return !came.empty();
        }));
        return came.empty() ? received_message{} : came.front();
    }

    std::unique_ptr<amqp_consumer> consumer_;
};

TEST_F(amqp_consumer_test,
       acknowledges_what_it_is_told_to_and_forgets_the_rest_with_the_connection) {
    open();
    accept();
    rabbit_.deliver(1, "a", "one");
    rabbit_.deliver(2, "b", "two");
    const auto first = next();
    EXPECT_EQ(first.what.id, "a");
    EXPECT_EQ(first.what.address, "key");
    EXPECT_EQ(first.what.body, "one");
    consumer_->acknowledge(first.tag);
    EXPECT_EQ(rabbit_.read_acknowledged(), 1U);
    ASSERT_TRUE(eventually([&] { return consumer_->holds(first.tag + 1); }));
    rabbit_.close();
    ASSERT_TRUE(eventually([&] { return !consumer_->state().connected; }));
    EXPECT_FALSE(consumer_->holds(first.tag + 1));
    consumer_->acknowledge(first.tag + 1);  // Of a connection that is gone: it comes again.
    accept();
    rabbit_.deliver(1, "b", "two");
    const auto again = next();
    EXPECT_GT(again.tag, first.tag + 1);
    consumer_->acknowledge(again.tag);
    EXPECT_EQ(rabbit_.read_acknowledged(), 1U);
}

TEST_F(amqp_consumer_test, leaves_a_message_that_is_too_long_in_the_queue_and_takes_the_next) {
    place_.body_bytes_max = 100;
    open();
    accept();
    rabbit_.begin_delivery(1, "giant", 300);
    for (int i = 0; i < 3; ++i) rabbit_.send_body(std::string(100, 'x'));
    rabbit_.deliver(2, "good", std::string(100, 'y'));
    const auto came = next();
    EXPECT_EQ(came.what.id, "good");
    EXPECT_TRUE(consumer_->state().connected);
    EXPECT_THAT(consumer_->state().trouble, HasSubstr("'giant' of 300 bytes stays in the queue"));
    consumer_->acknowledge(came.tag);
    EXPECT_EQ(rabbit_.read_acknowledged(), 2U);
}

TEST_F(amqp_consumer_test, believes_no_length_before_the_bytes_have_come) {
    open();
    accept();
    rabbit_.begin_delivery(1, "liar", std::uint64_t{1} << 62U);
    rabbit_.send_body("a little");
    consumer_.reset();  // And it waits for no more of it.
    EXPECT_TRUE(rabbit_.is_closed_by_peer());
}

TEST_F(amqp_consumer_test, reads_headers_that_are_nested_as_deep_as_a_frame_can_hold) {
    constexpr std::size_t deepest = 26'200;
    open();
    accept();
    rabbit_.deliver_nested(1, deepest, "one");
    EXPECT_EQ(next().what.body, "one");
}

TEST_F(amqp_consumer_test, ends_a_connection_that_breaks_the_protocol) {
    const auto broken = [&](std::string_view bytes, std::string_view claim) {
        SCOPED_TRACE(claim);
        accept();
        rabbit_.send(bytes);
        EXPECT_TRUE(rabbit_.is_closed_by_peer());
    };
    open();
    const std::string head("\x01\0\x01", 3);
    broken(head + std::string("\x7f\xff\xff\xf0", 4), "a frame of two GiB");
    broken(head + std::string("\xff\xff\xff\xff", 4), "a frame of four GiB");
    broken(head + std::string("\0\x02\0\0", 4), "one that is a little too long");
    broken(head + std::string("\0\0\0\x04", 4) + "abcd!", "one without an end");
    broken(test::amqp_frame(scripted_rabbit::method_frame, 1, "\xff\xff\xff\xff"),
           "a method that there is none of");
    broken("HTTP/1.1 400 Bad Request\r\n\r\n", "another protocol");
    accept();
    rabbit_.begin_delivery(1, "short", 3);
    rabbit_.send_body("four");
    EXPECT_TRUE(rabbit_.is_closed_by_peer()) << "more of a message than was said";
    accept();
    rabbit_.deliver(1, "good", "good");
    EXPECT_EQ(next().what.id, "good");
}

TEST_F(amqp_consumer_test, says_what_a_broker_answers_that_has_no_such_queue) {
    open();
    rabbit_.accept();
    rabbit_.let_in();
    rabbit_.read_method(60'010);
    rabbit_.send_method(1, 60'011);
    rabbit_.read_method(60'020);
    rabbit_.close_channel(404, "NOT_FOUND");
    EXPECT_TRUE(rabbit_.is_closed_by_peer());
    ASSERT_TRUE(eventually([&] { return !consumer_->state().trouble.empty(); }));
    EXPECT_THAT(consumer_->state().trouble,
                HasSubstr("the queue 'orders' cannot be consumed: RabbitMQ answers 404 NOT_FOUND"));
}

TEST_F(amqp_consumer_test, reads_no_more_than_its_bytes_until_some_are_acknowledged_but_lives_on) {
    open({.queue = "orders", .messages_max = 10, .bytes_max = 50});
    rabbit_.accept();
    rabbit_.let_in({.heartbeat = 1});
    rabbit_.let_consume();
    rabbit_.deliver(1, "a", std::string(100, 'x'));
    rabbit_.deliver(2, "b", "y");
    const auto first = next();
    EXPECT_EQ(rabbit_.read(true).type, scripted_rabbit::beat_frame);
    EXPECT_TRUE(consumer_->take().empty());
    consumer_->acknowledge(first.tag);
    EXPECT_EQ(next().what.id, "b");
}

}  // namespace
}  // namespace posthorn
