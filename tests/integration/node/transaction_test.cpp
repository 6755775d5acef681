#include <future>
#include <stdexcept>

#include <gmock/gmock.h>

#include <posthorn/async.hpp>

#include "integration/node/fixture.hpp"

namespace posthorn::integration {
namespace {

struct out_of_stock : std::runtime_error {
    using runtime_error::runtime_error;
};

class node_transaction : public node_test {
protected:
    void SetUp() override { execute(orders, "CREATE TABLE orders (id TEXT)"); }

    std::int64_t rows() { return integer(orders, "SELECT count(*) FROM orders"); }
    std::int64_t messages() { return integer(orders, "SELECT count(*) FROM outbox_messages"); }

    node orders{options("orders")};
};

void place(transaction& tx) {
    tx.execute("INSERT INTO orders VALUES (?)", "o1");
    tx.send("inventory", "OrderApproved", R"({"orderId":"o1"})");
}

TEST_F(node_transaction, commits_the_change_and_the_message_together) {
    orders.transact(place);
    EXPECT_EQ(rows(), 1);
    EXPECT_EQ(messages(), 1);
    EXPECT_EQ(orders.stats().pending, 1);
}

TEST_F(node_transaction, stores_neither_when_it_throws_and_passes_the_exception_on_as_it_is) {
    EXPECT_THROW(orders.transact([](transaction& tx) {
        place(tx);
        throw out_of_stock("o1");
    }),
                 out_of_stock);
    EXPECT_THROW(orders.transact([](transaction& tx) {
        place(tx);
        throw 7;
    }),
                 int);
    EXPECT_EQ(rows(), 0);
    EXPECT_EQ(messages(), 0);
}

TEST_F(node_transaction, gives_what_its_function_gives) {
    EXPECT_EQ(orders.transact([](transaction&) { return 42; }), 42);
    const auto moved =
        orders.transact([](transaction&) { return std::make_unique<std::string>("only"); });
    EXPECT_EQ(*moved, "only");
}

TEST_F(node_transaction, a_repeated_dedupe_key_sends_nothing_and_gives_the_first_id) {
    const send_options once{.dedupe_key = "charge-o1"};
    const auto first = orders.send("billing", "Charge", "{}", once);
    EXPECT_EQ(orders.send("billing", "Charge", "{}", once), first);
    const auto inside =
        orders.transact([&](transaction& tx) { return tx.send("billing", "Charge", "{}", once); });
    EXPECT_EQ(inside, first);
    EXPECT_NE(orders.send("stock", "Charge", "{}", once), first);
    EXPECT_EQ(messages(), 2);
}

TEST_F(node_transaction, goes_on_after_a_statement_that_failed_and_was_caught) {
    orders.transact([](transaction& tx) {
        place(tx);
        EXPECT_EQ(code_of([&] { tx.execute("INSERT INTO nowhere VALUES (1)"); }),
                  error_code::statement_failed);
    });
    EXPECT_EQ(rows(), 1);
    EXPECT_EQ(messages(), 1);
}

TEST_F(node_transaction, refuses_transaction_control_attach_and_pragma) {
    for (const auto* const sql : {"COMMIT", "ROLLBACK", "SAVEPOINT s", "PRAGMA synchronous = OFF",
                                  "ATTACH ':memory:' AS m"})
        EXPECT_EQ(code_of([&] { execute(orders, sql); }), error_code::statement_forbidden) << sql;
    orders.transact(place);
    EXPECT_EQ(rows(), 1);
}

TEST_F(node_transaction, refuses_a_blocking_call_inside_one_instead_of_waiting_for_itself) {
    const auto inside = [&](const std::function<void()>& call) {
        return orders.transact([&](transaction&) { return code_of(call); });
    };
    EXPECT_EQ(inside([&] { orders.send("inventory", "OrderApproved", "{}"); }),
              error_code::called_in_transaction);
    EXPECT_EQ(inside([&] { orders.transact(place); }), error_code::called_in_transaction);
    EXPECT_EQ(inside([&] { orders.durable({}); }), error_code::called_in_transaction);
    EXPECT_EQ(inside([&] { orders.stop(); }), error_code::called_in_transaction);
    EXPECT_EQ(inside([&] { orders.wait(); }), error_code::called_in_transaction);
    EXPECT_EQ(messages(), 0);
}

TEST_F(node_transaction, refuses_a_blocking_send_inside_a_handler) {
    std::promise<std::optional<error_code>> seen;
    orders.handle("Ping", [&](context&, const message&) {
        seen.set_value(code_of([&] { orders.send("inventory", "OrderApproved", "{}"); }));
    });
    orders.start();
    orders.send("orders", "Ping", "{}");
    EXPECT_EQ(seen.get_future().get(), error_code::called_in_transaction);
}

TEST_F(node_transaction, that_does_not_wait_tells_when_it_is_on_disk) {
    std::promise<std::exception_ptr> done;
    orders.transact_then(place, [&](std::exception_ptr failure) { done.set_value(failure); });
    EXPECT_EQ(done.get_future().get(), nullptr);
    EXPECT_EQ(database(path("orders")).integer("SELECT count(*) FROM orders"), 1);

    std::promise<std::exception_ptr> failed;
    orders.transact_then([](transaction&) { throw out_of_stock("o2"); },
                         [&](std::exception_ptr failure) { failed.set_value(failure); });
    EXPECT_THROW(std::rethrow_exception(failed.get_future().get()), out_of_stock);
}

TEST_F(node_transaction, of_one_message_gives_its_id_to_who_does_not_wait) {
    using answer = std::pair<uuid, std::exception_ptr>;
    const auto send = [&](const std::string& payload) {
        std::promise<answer> done;
        orders.send_then(
            "inventory", "OrderApproved", payload, {},
            [&](uuid id, std::exception_ptr failure) { done.set_value({id, std::move(failure)}); });
        return done.get_future().get();
    };
    const auto [id, failure] = send("{}");
    EXPECT_EQ(failure, nullptr);
    EXPECT_EQ(database(path("orders")).text("SELECT message_id FROM outbox_messages"),
              id.to_string());
    EXPECT_EQ(messages(), 1);
}

TEST_F(node_transaction, what_follows_a_commit_may_wait_for_another) {
    std::promise<uuid> second;
    orders.transact_then(place, [&](const std::exception_ptr&) {
        second.set_value(orders.send("inventory", "OrderApproved", "{}"));
    });
    EXPECT_FALSE(second.get_future().get().is_nil());
    EXPECT_EQ(messages(), 2);
}

TEST_F(node_transaction, is_interrupted_when_its_sql_runs_too_long) {
    const auto for_ever =
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
    EXPECT_EQ(code_of([&] {
                  orders.transact([&](transaction& tx) {
                      place(tx);
                      std::ignore = tx.query_value<std::int64_t>(for_ever);
                  });
              }),
              error_code::statement_interrupted);
    EXPECT_EQ(rows(), 0);
    orders.transact(place);  // Others go on.
    EXPECT_EQ(rows(), 1);
}

TEST_F(node_transaction, refuses_messages_that_could_not_be_delivered) {
    const auto send = [&](std::string_view to, std::string_view payload, send_options with = {}) {
        return code_of([&] { orders.send(to, "OrderApproved", payload, with); });
    };
    EXPECT_EQ(send("inventory", '"' + std::string(1 << 20, 'x') + '"'),
              error_code::message_too_large);
    EXPECT_EQ(send("inventory", "{not json"), error_code::invalid_payload);
    EXPECT_EQ(send("inventory", "{not json", {.content_type = "text/plain"}), std::nullopt);
    EXPECT_EQ(send("", "{}"), error_code::invalid_argument);
    EXPECT_EQ(messages(), 1);
}

TEST_F(node_transaction, refuses_an_id_that_was_used_before) {
    const auto id = orders.send("inventory", "OrderApproved", "{}");
    EXPECT_EQ(code_of([&] { orders.send("inventory", "OrderApproved", "{}", {.id = id}); }),
              error_code::duplicate_id);
    EXPECT_EQ(messages(), 1);
}

/// A coroutine that nobody waits for but through what it is given.
struct fire_and_forget {
    struct promise_type {
        fire_and_forget get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

fire_and_forget place_and_send(node& orders, std::promise<uuid>& sent) {
    co_await async::transact(orders, place);
    const uuid id = co_await async::send(orders, "inventory", "OrderApproved", "{}");
    sent.set_value(id);
}

fire_and_forget fail_to_place(node& orders, std::promise<std::string>& failed) {
    try {
        co_await async::transact(orders, [](transaction& tx) {
            place(tx);
            throw out_of_stock("none left");
        });
    } catch (const out_of_stock& why) {
        failed.set_value(why.what());
    }
}

TEST_F(node_transaction, can_be_awaited) {
    std::promise<uuid> sent;
    place_and_send(orders, sent);
    const auto id = sent.get_future().get();
    EXPECT_EQ(rows(), 1);
    EXPECT_EQ(messages(), 2);
    EXPECT_EQ(text(orders, "SELECT message_id FROM outbox_messages ORDER BY seq DESC"),
              id.to_string());
}

TEST_F(node_transaction, throws_into_the_coroutine_that_awaits_it) {
    std::promise<std::string> failed;
    fail_to_place(orders, failed);
    EXPECT_EQ(failed.get_future().get(), "none left");
    EXPECT_EQ(rows(), 0);
}

}  // namespace
}  // namespace posthorn::integration
