// What an application does about messages that were given up.
#include <atomic>
#include <future>
#include <stdexcept>

#include <posthorn/error.hpp>
#include <posthorn/node.hpp>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"

namespace shop {

struct reserved {
    std::int64_t left = 0;
};
POSTHORN_STRUCT(reserved, left)

struct reserve {
    std::string sku;
};
POSTHORN_COMMAND(reserve, "Reserve", reserved, sku)

}  // namespace shop

namespace posthorn::integration {
namespace {

using namespace std::chrono_literals;

class node_hooks : public node_test {
protected:
    void start_refusing_inventory() {
        inventory.handle("OrderApproved", [](context&, const message&) -> std::string {
            throw permanent("out of stock for ever");
        });
        inventory.start();
    }

    node inventory{options("inventory")};
};

TEST_F(node_hooks, a_dead_letter_is_told_once_with_its_error_and_what_is_done_about_it_commits) {
    start_refusing_inventory();
    std::atomic<int> told = 0;
    std::promise<dead_letter> seen;
    node orders(options("orders"));
    execute(orders, "CREATE TABLE cancelled (id TEXT)");
    orders.on_dead([&](transaction& tx, const dead_letter& what) {
        tx.execute("INSERT INTO cancelled VALUES (?)", what.body.id.to_string());
        tx.send("inventory", "Apology", R"({"sorry":true})");
        if (told++ == 0) seen.set_value(what);
    });
    orders.start();
    const auto id = orders.send("inventory", "OrderApproved", R"({"id":1})");
    const auto letter = seen.get_future().get();
    EXPECT_EQ(letter.body.id, id);
    EXPECT_EQ(letter.body.payload, R"({"id":1})");
    EXPECT_FALSE(letter.expired);
    EXPECT_EQ(letter.error, "out of stock for ever");
    EXPECT_EQ(letter.attempts, 1);
    EXPECT_TRUE(letter.may_have_taken_effect);
    ASSERT_TRUE(
        test::eventually([&] { return integer(orders, "SELECT count(*) FROM cancelled") == 1; }));
    EXPECT_EQ(integer(orders, "SELECT count(*) FROM outbox_messages WHERE endpoint = 'Apology'"),
              1);
    EXPECT_EQ(integer(orders, "SELECT count(*) FROM outbox_ended"), 0);
    EXPECT_EQ(told, 1);
}

TEST_F(node_hooks, an_expired_message_is_told_apart_and_had_no_effect_if_it_was_never_tried) {
    std::promise<dead_letter> seen;
    inventory.start();  // Without a handler, so no attempt is charged.
    node orders(options("orders"));
    orders.on_dead([](transaction&, const dead_letter&) { ADD_FAILURE() << "it only expired"; });
    orders.on_expired([&](transaction&, const dead_letter& what) { seen.set_value(what); });
    orders.start();
    const auto id = orders.send("inventory", "OrderApproved", "{}", {.expires_in = 50ms});
    const auto letter = seen.get_future().get();
    EXPECT_EQ(letter.body.id, id);
    EXPECT_TRUE(letter.expired);
    EXPECT_FALSE(letter.may_have_taken_effect);
}

TEST_F(node_hooks, an_expired_message_may_have_had_an_effect_if_an_attempt_was_not_answered) {
    std::promise<dead_letter> seen;
    auto sending = options("orders");
    sending.default_route.clear();
    sending.routes["inventory"] = "lost:";
    sending.transports["lost"] = [](const outgoing& batch) {
        return std::vector<delivery>(batch.messages.size(),
                                     {.what = outcome::unanswered, .error = "the line is dead"});
    };
    node orders(sending);
    orders.on_expired([&](transaction&, const dead_letter& what) { seen.set_value(what); });
    orders.start();
    orders.send("inventory", "OrderApproved", "{}", {.max_retries = 0, .expires_in = 1200ms});
    const auto letter = seen.get_future().get();
    EXPECT_TRUE(letter.expired);
    EXPECT_EQ(letter.attempts, 0);
    EXPECT_TRUE(letter.may_have_taken_effect);
}

TEST_F(node_hooks, a_hook_that_throws_leaves_nothing_behind_and_is_told_again) {
    start_refusing_inventory();
    std::atomic<int> calls = 0;
    node orders(options("orders"));
    execute(orders, "CREATE TABLE cancelled (id TEXT)");
    orders.on_dead([&](transaction& tx, const dead_letter& what) {
        tx.execute("INSERT INTO cancelled VALUES (?)", what.body.id.to_string());
        if (++calls == 1) throw std::runtime_error("not now");
    });
    orders.start();
    orders.send("inventory", "OrderApproved", "{}");
    ASSERT_TRUE(
        test::eventually([&] { return integer(orders, "SELECT count(*) FROM cancelled") > 0; }));
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(integer(orders, "SELECT count(*) FROM cancelled"), 1);
}

TEST_F(node_hooks, what_was_given_up_before_a_restart_is_told_after_it) {
    start_refusing_inventory();
    {
        node orders(options("orders"));
        orders.on_dead([](transaction&, const dead_letter&) { throw std::runtime_error("down"); });
        orders.start();
        orders.send("inventory", "OrderApproved", "{}");
        ASSERT_TRUE(test::eventually([&] { return orders.stats().dead == 1; }));
    }
    std::promise<void> told;
    node orders(options("orders"));
    orders.on_dead([&](transaction&, const dead_letter&) { told.set_value(); });
    orders.start();
    EXPECT_EQ(told.get_future().wait_for(30s), std::future_status::ready);
}

TEST_F(node_hooks, a_call_whose_command_is_given_up_fails_instead_of_waiting_for_ever) {
    inventory.handle<shop::reserve>([](context&, const shop::reserve&) -> shop::reserved {
        throw permanent("no such article");
    });
    inventory.start();
    node orders(options("orders"));
    orders.start();
    auto answer = orders.call("inventory", shop::reserve{});
    try {
        answer.get(30s);
        FAIL() << "there is no response";
    } catch (const error& why) {
        EXPECT_EQ(why.code(), error_code::closed);
        EXPECT_NE(std::string(why.what()).find("no such article"), std::string::npos);
    }
}

}  // namespace
}  // namespace posthorn::integration
