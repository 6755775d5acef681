// How a message gets in: it is made and checked before anything is waited for.
#include <atomic>
#include <future>
#include <memory>

#include <gmock/gmock.h>

#include <posthorn/async.hpp>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"

namespace posthorn::integration {
namespace {

struct note {
    using contract = as_signal<"Note">;
    std::string text;
};
struct weigh {
    using contract = as_command<"Weigh", std::int64_t>;
    std::string text;
};

/// A node whose writer waits for us.
class node_way_in : public node_test {
protected:
    void SetUp() override {
        std::promise<void> begun;
        orders.transact_then(
            [&, waiting = go_on_.get_future()](transaction&) mutable {
                begun.set_value();
                waiting.wait();
            },
            [this](std::exception_ptr) { ended_.set_value(); });
        begun.get_future().wait();
    }
    void TearDown() override {
        go_on_.set_value();
        ended_.get_future().wait();
        EXPECT_EQ(orders.stats().pending, 0);
    }

    static constexpr std::size_t too_many = 2 << 20;
    node orders{options("orders")};

private:
    std::promise<void> go_on_;
    std::promise<void> ended_;
};

TEST_F(node_way_in, a_message_that_cannot_be_is_refused_while_others_write) {
    EXPECT_EQ(code_of([&] { orders.send("stock", "Note", "{no json"); }),
              error_code::invalid_payload);
    EXPECT_EQ(code_of([&] { orders.send("stock", note{std::string(too_many, 'x')}); }),
              error_code::message_too_large);
    EXPECT_EQ(code_of([&] { orders.send("", note{"x"}); }), error_code::invalid_argument);
    EXPECT_EQ(code_of([&] { orders.send("stock", note{"\xff"}); }), error_code::invalid_payload);
}

TEST_F(node_way_in, so_is_one_that_is_not_waited_for) {
    const auto never = [](uuid, std::exception_ptr) { FAIL(); };
    EXPECT_EQ(code_of([&] { orders.send_then("stock", "Note", "{no json", {}, never); }),
              error_code::invalid_payload);
    EXPECT_EQ(code_of([&] { std::ignore = async::send(orders, "stock", "Note", "{no json"); }),
              error_code::invalid_payload);
}

TEST_F(node_way_in, so_is_a_call_which_then_waits_for_nothing) {
    const weigh large{std::string(too_many, 'x')};
    const send_options with{.correlation_id = "c1"};
    EXPECT_EQ(code_of([&] { std::ignore = orders.call("stock", large, with); }),
              error_code::message_too_large);
    EXPECT_EQ(code_of([&] { std::ignore = orders.call_later("stock", large, with); }),
              error_code::message_too_large);
}

class node_moves : public node_test {
protected:
    node orders{options("orders")};
};

TEST_F(node_moves, handlers_that_hold_what_cannot_be_copied) {
    std::atomic<int> handled = 0, blocked = 0, dead = 0;  // Each may be called more than once.
    orders.handle("Count", [&, held = std::make_unique<int>(1)](context&, const message&) {
        handled = *held;
    });
    orders.handle_external(
        "Call", [&, held = std::make_unique<int>(2)](const message&) { blocked = *held; });
    orders.handle("Refuse", [](context&, const message&) { throw permanent("never"); });
    orders.on_dead(
        [&, held = std::make_unique<int>(3)](transaction&, const dead_letter&) { dead = *held; });
    orders.start();
    for (const auto* const endpoint : {"Count", "Call", "Refuse"})
        orders.send("orders", endpoint, "{}");
    EXPECT_TRUE(test::eventually([&] { return handled == 1 && blocked == 2 && dead == 3; }));
    orders.stop();  // What its handlers refer to ends here.
}

TEST_F(node_moves, work_and_what_follows_it_too) {
    std::promise<int> committed, stored;
    orders.transact_then([held = std::make_unique<int>(1)](
                             transaction& tx) { tx.execute("CREATE TABLE t AS SELECT ?", *held); },
                         [&, held = std::make_unique<int>(2)](std::exception_ptr failure) {
                             committed.set_value(failure ? 0 : *held);
                         });
    orders.send_then("stock", "Note", "{}", {},
                     [&, held = std::make_unique<int>(3)](uuid id, std::exception_ptr) {
                         stored.set_value(id.is_nil() ? 0 : *held);
                     });
    EXPECT_EQ(committed.get_future().get(), 2);
    EXPECT_EQ(stored.get_future().get(), 3);
}

}  // namespace
}  // namespace posthorn::integration
