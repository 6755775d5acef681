#include "consume/consume_service.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/virtual_loop.hpp"
#include "consume/broker_kinds.hpp"
#include "support/test_environment.hpp"
#include "unit/outbox/memory_store.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

/// A broker that a test fills, and that notes what it is told.
struct fake_broker {
    std::vector<received_message> ready;
    std::set<std::uint64_t> out;
    std::vector<std::uint64_t> acknowledged;
    std::vector<std::uint64_t> extended;
    std::chrono::milliseconds lease{};
    std::function<void()> arrived;
    std::uint64_t last = 0;
    consumer_state state{.connected = true};
    bool is_closed = false;

    std::uint64_t give(std::string key = {}, std::string endpoint = "Placed") {
        received_message one{.tag = ++last};
        one.what.id = "order-" + std::to_string(last);
        one.what.body = "{}";
        one.what.content_type = "application/json";
        one.what.headers = {{"rf-endpoint", std::move(endpoint)}, {"rf-order-key", std::move(key)}};
        out.insert(last);
        ready.push_back(std::move(one));
        if (arrived) arrived();
        return last;
    }
    /// The connection is gone, and with it all that was out.
    void lose() {
        out.clear();
        ready.clear();
        arrived();
    }
};

class fake_consumer final : public broker_consumer {
public:
    explicit fake_consumer(fake_broker& of) : of_(of) {}
    ~fake_consumer() override { of_.is_closed = true; }

    void start(std::function<void()> arrived) override { of_.arrived = std::move(arrived); }
    std::vector<received_message> take() override { return std::exchange(of_.ready, {}); }
    void acknowledge(std::uint64_t tag) override {
        if (of_.out.erase(tag) > 0) of_.acknowledged.push_back(tag);
    }
    void put_back(std::uint64_t tag) override { of_.out.erase(tag); }
    void extend(std::uint64_t tag) override { of_.extended.push_back(tag); }
    [[nodiscard]] std::chrono::milliseconds lease() const override { return of_.lease; }
    [[nodiscard]] bool holds(std::uint64_t tag) const override { return of_.out.contains(tag); }
    [[nodiscard]] consumer_state state() const override { return of_.state; }

private:
    fake_broker& of_;
};

/// An inbox that answers when a test says so.
class fake_inbox final : public receiver {
public:
    explicit fake_inbox(timer& time) : time_(time) {}

    task<std::vector<delivery>> receive(message_batch batch) override {
        std::vector<delivery> answers;
        for (const auto* const one : batch) {
            asked.push_back(one->headers.empty() ? one->order_key : one->headers);
            ++count;
        }
        std::ignore = co_await time_.sleep_for(takes);
        for (std::size_t i = 0; i < batch.size(); ++i) answers.push_back(answer);
        co_return answers;
    }

    std::chrono::milliseconds takes{100};
    delivery answer{.what = outcome::delivered};
    std::vector<std::string> asked;
    int count = 0;

private:
    timer& time_;
};

class consuming : public testing::Test {
protected:
    consuming() {
        auto service = std::make_unique<consume_service>(
            consume_service::deps{.env = env,
                                  .where = store,
                                  .inbox = [this]() -> receiver* { return &inbox; },
                                  .service = "stock"},
            consume_source{
                .name = "orders", .kind = &broker_kinds().front(), .rules = {.source = "orders"}},
            std::make_unique<fake_consumer>(broker));
        works = std::move(service);
        group.spawn(works->run());
        loop.settle();
    }
    ~consuming() override {
        works->stop();
        loop.run(group.join());
    }

    [[nodiscard]] auto lines_with(std::string_view text) const {
        return std::ranges::count_if(
            lines, [&](const auto& line) { return line.find(text) != line.npos; });
    }

    virtual_loop loop;
    std::vector<std::string> lines;
    logger log{{.sink = [this](std::string_view line) { lines.emplace_back(line); }},
               [this] { return loop.time().wall(); }};
    test::test_environment env{loop, log};
    test::memory_store store{loop.time()};
    fake_broker broker;
    fake_inbox inbox{loop.time()};
    task_group group{loop.executor()};
    std::unique_ptr<consume_service> works;
};

TEST_F(consuming, acknowledges_what_the_inbox_has_answered_for_and_nothing_before) {
    const auto tag = broker.give();
    loop.run_for(99ms);
    EXPECT_EQ(inbox.count, 1);
    EXPECT_THAT(broker.acknowledged, IsEmpty());
    loop.run_for(2ms);
    EXPECT_THAT(broker.acknowledged, ElementsAre(tag));
    EXPECT_EQ(works->view().counts.processed, 1U);
    EXPECT_EQ(works->view().in_hand, 0U);
}

TEST_F(consuming, tries_again_after_pauses_that_grow_and_lets_others_go_on) {
    inbox.takes = 0ms;
    inbox.answer = {.what = outcome::transient, .error = "no"};
    const auto first = broker.give("k");
    loop.run_for(1ms);
    EXPECT_EQ(inbox.count, 1);
    broker.give("k");
    inbox.answer = {.what = outcome::delivered};
    const auto other = broker.give("other");
    loop.run_for(100ms);
    EXPECT_THAT(broker.acknowledged, ElementsAre(other)) << "the second of the key waits";
    loop.run_for(1s);
    EXPECT_THAT(broker.acknowledged, ElementsAre(other, first, first + 1));
    EXPECT_EQ(works->view().counts.retried, 1U);
}

TEST_F(consuming, forgets_what_was_lost_with_the_connection) {
    inbox.answer = {.what = outcome::throttled, .retry_after = 30s};
    broker.give();
    loop.run_for(1s);
    EXPECT_EQ(works->view().in_hand, 1U);
    broker.lose();
    loop.run_for(1s);
    EXPECT_EQ(works->view().in_hand, 0U);
    EXPECT_THAT(broker.acknowledged, IsEmpty());
}

TEST_F(consuming, tells_the_broker_that_a_handler_still_works) {
    broker.lease = 30s;
    inbox.takes = 35s;
    const auto tag = broker.give();
    loop.run_for(34s);
    EXPECT_THAT(broker.extended, ElementsAre(tag, tag, tag));
    loop.run_for(2s);
    EXPECT_THAT(broker.acknowledged, ElementsAre(tag));
}

TEST_F(consuming, acknowledges_what_comes_again_since_its_acknowledgement_was_lost) {
    inbox.answer = {.what = outcome::delivered, .duplicate = true};
    const auto again = broker.give();
    loop.run_for(1s);
    EXPECT_THAT(broker.acknowledged, ElementsAre(again));
    EXPECT_EQ(works->view().counts.duplicates, 1U);
    EXPECT_EQ(works->view().counts.processed, 0U);
}

// The store in memory has no table for them.
TEST_F(consuming, does_not_acknowledge_poison_that_could_not_be_put_aside) {
    broker.give({}, "");
    loop.run_for(10min);
    EXPECT_EQ(inbox.count, 0) << "it can never be a message";
    EXPECT_THAT(broker.acknowledged, IsEmpty());
    EXPECT_EQ(works->view().in_hand, 1U);
    EXPECT_EQ(works->view().counts.put_aside, 0U);
    EXPECT_GT(lines_with("could not be put aside"), 5);
    const auto good = broker.give();
    loop.run_for(1s);
    EXPECT_THAT(broker.acknowledged, ElementsAre(good)) << "others go on";
}

TEST_F(consuming, tells_once_of_a_connection_that_is_gone_and_of_what_stays_with_the_broker) {
    broker.state = {.connected = false, .trouble = "RabbitMQ is not reached"};
    broker.lose();
    loop.run_for(1s);
    broker.arrived();
    loop.run_for(1s);
    EXPECT_EQ(lines_with("orders is not connected: RabbitMQ is not reached"), 1);
    EXPECT_TRUE(works->view().apart_since);
    broker.state = {.connected = true};
    broker.arrived();
    loop.run_for(1s);
    EXPECT_EQ(lines_with("orders is connected"), 1);
    EXPECT_FALSE(works->view().apart_since);
    broker.state.trouble = "the message 'giant' stays in the queue";
    broker.arrived();
    loop.run_for(1s);
    broker.arrived();
    loop.run_for(1s);
    EXPECT_EQ(lines_with("orders leaves messages there: the message 'giant'"), 1);
}

TEST_F(consuming, lets_what_is_at_work_end_when_it_stops_and_gives_back_the_rest) {
    const auto tag = broker.give();
    loop.run_for(50ms);
    works->stop();
    broker.give();
    loop.run_for(1s);
    EXPECT_THAT(broker.acknowledged, ElementsAre(tag));
    EXPECT_TRUE(broker.is_closed);
}

}  // namespace
}  // namespace posthorn
