#include <atomic>
#include <future>
#include <stdexcept>

#include <gmock/gmock.h>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"

namespace posthorn::integration {
namespace {

using test::eventually;
using testing::HasSubstr;

class node_delivery : public node_test {
protected:
    void start() {
        inventory.start();
        orders.start();
    }
    std::string last(const std::string& column) {
        return text(orders, "SELECT " + column + " FROM outbox_messages ORDER BY seq DESC LIMIT 1");
    }
    bool becomes(const std::string& status) {
        return eventually([&] { return last("status") == status; });
    }

    node orders{options("orders")};
    node inventory{options("inventory")};
};

TEST_F(node_delivery, takes_an_order_there_and_its_reply_back) {
    execute(inventory, "CREATE TABLE reservations (order_id TEXT)");
    execute(orders, "CREATE TABLE orders (id TEXT, reserved INTEGER)");
    inventory.handle("OrderApproved", [](context& c, const message& m) {
        EXPECT_EQ(m.source, "orders");
        EXPECT_EQ(m.correlation_id, "desk-3");
        c.execute("INSERT INTO reservations VALUES (?1 ->> 'orderId')", m.payload);
        c.send("orders", "StockReserved", m.payload, {.type = message_type::response});
    });
    std::promise<message> reply;
    orders.handle("StockReserved", [&](context& c, const message& m) {
        c.execute("UPDATE orders SET reserved = 1 WHERE id = ?1 ->> 'orderId'", m.payload);
        reply.set_value(m);
    });
    start();
    const auto id = orders.transact([](transaction& tx) {
        tx.execute("INSERT INTO orders VALUES ('o1', 0)");
        return tx.send("inventory", "OrderApproved", R"({"orderId":"o1"})",
                       {.correlation_id = "desk-3"});
    });
    const auto back = reply.get_future().get();
    EXPECT_EQ(back.causation_id, id);
    EXPECT_EQ(back.correlation_id, "desk-3");
    EXPECT_EQ(back.type, message_type::response);
    EXPECT_TRUE(eventually([&] { return inventory.stats().sent == 1; }));
    EXPECT_TRUE(eventually([&] { return orders.stats().sent == 1; }));
    EXPECT_EQ(integer(inventory, "SELECT count(*) FROM reservations"), 1);
    EXPECT_EQ(integer(orders, "SELECT reserved FROM orders"), 1);
    EXPECT_EQ(inventory.stats().received, 1);
    EXPECT_EQ(orders.stats().received, 1);
}

TEST_F(node_delivery, runs_an_external_handler_which_may_send_by_itself) {
    std::promise<uuid> seen;
    inventory.handle_external("OrderApproved", [&](const message& m) {
        inventory.send("orders", "StockReserved", "{}");  // It holds no transaction.
        seen.set_value(m.id);
        return "done";
    });
    start();
    const auto id = orders.send("inventory", "OrderApproved", "{}");
    EXPECT_EQ(seen.get_future().get(), id);
    EXPECT_TRUE(becomes("Sent"));
    EXPECT_EQ(text(inventory, "SELECT response_payload FROM inbox_messages"), "done");
}

TEST_F(node_delivery, keeps_the_response_of_a_handler) {
    inventory.handle("OrderApproved",
                     [](context&, const message&) { return R"({"reserved":true})"; });
    start();
    orders.send("inventory", "OrderApproved", "{}");
    EXPECT_TRUE(becomes("Sent"));
    EXPECT_EQ(text(inventory, "SELECT response_payload FROM inbox_messages"),
              R"({"reserved":true})");
}

TEST_F(node_delivery, buries_at_once_what_is_refused_for_good) {
    std::atomic<int> calls = 0;
    execute(inventory, "CREATE TABLE reservations (order_id TEXT)");
    inventory.handle("OrderApproved", [&](context& c, const message&) {
        ++calls;
        c.execute("INSERT INTO reservations VALUES ('o1')");
        throw permanent("no such order");
    });
    start();
    orders.send("inventory", "OrderApproved", "{}");
    EXPECT_TRUE(becomes("Dead"));
    EXPECT_EQ(calls, 1);
    EXPECT_THAT(last("last_error"), HasSubstr("no such order"));
    EXPECT_EQ(integer(inventory, "SELECT count(*) FROM reservations"), 0);
    EXPECT_EQ(inventory.stats().received, 0);
    EXPECT_EQ(orders.stats().dead, 1);
}

TEST_F(node_delivery, gives_up_after_six_sends) {
    std::atomic<int> calls = 0;
    inventory.handle("OrderApproved", [&](context&, const message&) {
        ++calls;
        throw std::runtime_error("the shelf is locked");
    });
    start();
    orders.send("inventory", "OrderApproved", "{}");
    EXPECT_TRUE(becomes("Dead"));
    EXPECT_GE(calls, 6);  // A group that fails runs its units once more, one by one.
    EXPECT_EQ(last("retry_count"), "6");
    EXPECT_THAT(last("last_error"), HasSubstr("the shelf is locked"));
    EXPECT_EQ(integer(orders, "SELECT count(*) FROM outbox_attempts"), 6);
}

TEST_F(node_delivery, takes_effect_once_when_the_handler_failed_before) {
    std::atomic<int> calls = 0;
    execute(inventory, "CREATE TABLE reservations (order_id TEXT)");
    inventory.handle("OrderApproved", [&](context& c, const message&) {
        c.execute("INSERT INTO reservations VALUES ('o1')");
        if (++calls < 3) throw std::runtime_error("not yet");
    });
    start();
    orders.send("inventory", "OrderApproved", "{}");
    EXPECT_TRUE(becomes("Sent"));
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(integer(inventory, "SELECT count(*) FROM reservations"), 1);
}

TEST_F(node_delivery, keeps_a_message_without_a_route_pending_and_uncharged) {
    auto without = options("lonely");
    without.default_route.clear();
    node lonely(without);
    lonely.start();
    lonely.send("inventory", "OrderApproved", "{}");
    EXPECT_TRUE(eventually(
        [&] { return !text(lonely, "SELECT last_error FROM outbox_messages").empty(); }));
    EXPECT_THAT(text(lonely, "SELECT last_error FROM outbox_messages"), HasSubstr("no route"));
    EXPECT_EQ(integer(lonely, "SELECT retry_count FROM outbox_messages"), 0);
    EXPECT_EQ(lonely.stats().pending, 1);
}

TEST_F(node_delivery, keeps_a_message_without_a_handler_pending_and_uncharged) {
    start();
    orders.send("inventory", "Unheard", "{}");
    EXPECT_TRUE(eventually([&] { return !last("last_error").empty(); }));
    EXPECT_THAT(last("last_error"), HasSubstr("no_handler"));
    EXPECT_EQ(last("retry_count"), "0");
    EXPECT_EQ(orders.stats().pending, 1);
}

TEST_F(node_delivery, of_one_destination_is_not_held_up_by_another) {
    std::promise<void> release;
    inventory.handle_external(
        "Slow", [wait = release.get_future().share()](const message&) { wait.wait(); });
    node billing(options("billing"));
    billing.handle("OrderApproved", [](context&, const message&) {});
    billing.start();
    start();
    orders.send("inventory", "Slow", "{}");
    orders.send("nowhere", "OrderApproved", "{}");
    orders.send("billing", "OrderApproved", "{}");
    EXPECT_TRUE(becomes("Sent"));
    release.set_value();
}

TEST_F(node_delivery, expires_what_was_not_delivered_in_its_time) {
    orders.start();
    orders.send("inventory", "OrderApproved", "{}", {.expires_in = std::chrono::milliseconds(1)});
    EXPECT_TRUE(becomes("Expired"));
    EXPECT_EQ(orders.stats().expired, 1);
    // Nor does it take effect when the receiver comes at last.
    inventory.handle("OrderApproved", [](context&, const message&) {});
    inventory.start();
    orders.send("inventory", "OrderApproved", "{}", {.max_retries = retry_for_ever});
    EXPECT_TRUE(becomes("Sent"));
    EXPECT_EQ(inventory.stats().received, 1);
}

TEST_F(node_delivery, holds_a_message_until_its_time) {
    std::promise<message> seen;
    inventory.handle("OrderApproved", [&](context&, const message& m) { seen.set_value(m); });
    start();
    const auto first = orders.send("inventory", "Unheard", "{}");
    const auto created =
        integer(orders, "SELECT created_at FROM outbox_messages WHERE message_id = '" +
                            first.to_string() + "'");
    const wall_time due{std::chrono::milliseconds(created + 300)};
    orders.send("inventory", "OrderApproved", "{}", {.deliver_at = due});
    EXPECT_EQ(seen.get_future().get().deliver_at, due);
    EXPECT_TRUE(becomes("Sent"));
    EXPECT_GE(std::stoll(last("sent_at")), created + 300);
}

TEST_F(node_delivery, a_dead_message_that_a_person_requeues_is_sent_again) {
    auto hasty = options("orders");
    hasty.retry.retries_max = 0;
    node orders(hasty);
    node inventory(options("inventory"));
    std::atomic<bool> mended = false;
    inventory.handle("OrderApproved", [&](context&, const message&) {
        if (!mended) throw std::runtime_error("not today");
    });
    inventory.start();
    orders.start();
    const auto id = orders.send("inventory", "OrderApproved", "{}");
    ASSERT_TRUE(test::eventually([&] { return orders.stats().dead == 1; }));
    mended = true;
    EXPECT_TRUE(orders.requeue(id));
    ASSERT_TRUE(test::eventually([&] { return orders.stats().sent == 1; }));
    EXPECT_FALSE(orders.requeue(id));
}

TEST_F(node_delivery, a_signal_is_acknowledged_by_a_response_with_its_correlation_id) {
    inventory.handle("OrderApproved", [](context& c, const message& signal) {
        c.send(signal.source, signal.endpoint, R"({"accepted":true})",
               {.type = message_type::response, .correlation_id = signal.correlation_id});
    });
    std::promise<message> heard;
    orders.handle("OrderApproved", [&](context&, const message& m) { heard.set_value(m); });
    start();
    orders.send("inventory", "OrderApproved", "{}", {.correlation_id = "order-7"});
    auto arrival = heard.get_future();
    ASSERT_EQ(arrival.wait_for(std::chrono::seconds(30)), std::future_status::ready);
    const auto response = arrival.get();
    EXPECT_EQ(response.type, message_type::response);
    EXPECT_EQ(response.correlation_id, "order-7");
    EXPECT_EQ(response.source, "inventory");
    EXPECT_EQ(response.payload, R"({"accepted":true})");
}

}  // namespace
}  // namespace posthorn::integration
