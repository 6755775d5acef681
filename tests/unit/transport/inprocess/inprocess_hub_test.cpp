#include <memory>
#include <stdexcept>

#include <gtest/gtest.h>

#include "base/async/virtual_loop.hpp"
#include "transport/inprocess/hub.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

/// Takes its time and remembers where what it got lies.
class slow_receiver : public receiver {
public:
    explicit slow_receiver(timer& time, std::chrono::nanoseconds delay = 0ns)
        : time_(time), delay_(delay) {}

    task<std::vector<delivery>> receive(message_batch batch) override {
        co_await time_.sleep_for(delay_);
        seen.insert(seen.end(), batch.begin(), batch.end());
        co_return std::vector<delivery>(batch.size(),
                                        delivery{.what = outcome::delivered, .payload = "p"});
    }

    message_batch seen;

private:
    timer& time_;
    std::chrono::nanoseconds delay_;
};

class throwing_receiver : public receiver {
public:
    task<std::vector<delivery>> receive(message_batch batch) override {
        if (!batch.empty()) throw std::runtime_error("broke");
        co_return std::vector<delivery>{};
    }
};

TEST(inprocess_hub, hands_over_the_very_messages) {
    virtual_loop loop;
    inprocess_hub hub;
    slow_receiver billing(loop.time());
    ASSERT_TRUE(hub.join("billing", billing));
    inprocess_transport wire(hub, "billing");
    const message one;
    const message two;
    const auto answers = loop.run(wire.deliver({&one, &two}));
    EXPECT_EQ(billing.seen, (message_batch{&one, &two}));
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(answers[1], (delivery{.what = outcome::delivered, .payload = "p"}));
}

TEST(inprocess_hub, a_service_that_is_not_there_may_come_back) {
    virtual_loop loop;
    inprocess_hub hub;
    inprocess_transport wire(hub, "billing");
    const message one;
    const auto absent = loop.run(wire.deliver({&one, &one}));
    ASSERT_EQ(absent.size(), 2U);
    EXPECT_EQ(absent[1].what, outcome::unanswered);
    EXPECT_NE(absent[1].error.find("not running"), std::string::npos);

    slow_receiver billing(loop.time());
    ASSERT_TRUE(hub.join("billing", billing));
    EXPECT_EQ(loop.run(wire.deliver({&one}))[0].what, outcome::delivered);
    loop.run(hub.leave("billing"));
    EXPECT_EQ(loop.run(wire.deliver({&one}))[0].what, outcome::unanswered);
}

TEST(inprocess_hub, a_service_joins_once) {
    virtual_loop loop;
    inprocess_hub hub;
    slow_receiver billing(loop.time());
    ASSERT_TRUE(hub.join("billing", billing));
    EXPECT_EQ(hub.join("billing", billing).error().code(), error_code::invalid_argument);
    loop.run(hub.leave("billing"));
    EXPECT_TRUE(hub.join("billing", billing));
}

TEST(inprocess_hub, leaving_waits_for_deliveries_under_way) {
    virtual_loop loop;
    inprocess_hub hub;
    auto billing = std::make_unique<slow_receiver>(loop.time(), 5s);
    ASSERT_TRUE(hub.join("billing", *billing));
    inprocess_transport wire(hub, "billing");
    const message one;
    auto first = start(loop.executor(), wire.deliver({&one}));
    loop.run_for(1s);
    auto second = start(loop.executor(), wire.deliver({&one}));
    loop.run_for(1s);
    loop.run(hub.leave("billing"));
    EXPECT_EQ(loop.time().steady(), steady_time{6s});
    EXPECT_EQ(billing->seen.size(), 2U);
    billing.reset();  // Under the address sanitizer a delivery still under way would show.
    loop.settle();
    EXPECT_EQ(first.get()[0].what, outcome::delivered);
    EXPECT_EQ(second.get()[0].what, outcome::delivered);
}

TEST(inprocess_hub, leaving_twice_is_safe) {
    virtual_loop loop;
    inprocess_hub hub;
    slow_receiver billing(loop.time());
    ASSERT_TRUE(hub.join("billing", billing));
    loop.run(hub.leave("billing"));
    loop.run(hub.leave("billing"));
    EXPECT_EQ(loop.time().steady(), steady_time{});
}

/// Breaks its contract.
class forgetful_receiver : public receiver {
public:
    task<std::vector<delivery>> receive(message_batch batch) override {
        if (batch.size() == 1) throw 1;  // NOLINT: whatever can be thrown.
        co_return std::vector<delivery>(1, delivery{.what = outcome::delivered});
    }
};

TEST(inprocess_hub, a_receiver_that_breaks_its_contract_settles_nothing) {
    virtual_loop loop;
    inprocess_hub hub;
    forgetful_receiver billing;
    ASSERT_TRUE(hub.join("billing", billing));
    inprocess_transport wire(hub, "billing");
    const message one;
    for (const auto& batch : {message_batch{&one}, message_batch{&one, &one}}) {
        const auto answers = loop.run(wire.deliver(batch));
        ASSERT_EQ(answers.size(), batch.size());
        EXPECT_EQ(answers[0].what, outcome::unanswered);
        EXPECT_FALSE(answers[0].error.empty());
    }
    loop.run(hub.leave("billing"));
}

TEST(inprocess_hub, an_exception_is_an_answer_for_each_message) {
    virtual_loop loop;
    inprocess_hub hub;
    throwing_receiver billing;
    ASSERT_TRUE(hub.join("billing", billing));
    inprocess_transport wire(hub, "billing");
    const message one;
    const auto answers = loop.run(wire.deliver({&one, &one}));
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(answers[0], (delivery{.what = outcome::unanswered, .error = "broke"}));
    loop.run(hub.leave("billing"));
}

}  // namespace
}  // namespace posthorn
