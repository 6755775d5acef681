// Commands that workflows answer, on real nodes.
#include <gmock/gmock.h>

#include "unit/engine/shop.hpp"

namespace shop {
namespace {

using namespace std::chrono_literals;

struct changed {
    std::string card;
};
struct change_card {
    using contract = posthorn::as_command<"ChangeCard", changed>;
    std::string customer, card;
};
struct leave {
    using contract = posthorn::as_command<"Leave">;
    std::string customer;
};
using shop_v1 = posthorn::service<"shop", 1, change_card, leave>;

struct plan {
    std::string card = "none";
};

workflow<std::string> subscribed(flow<plan>& f, std::string customer) {
    for (;;) {
        auto next = co_await f.first(f.receive<shop_v1>(the<&change_card::customer> == customer),
                                     f.receive<shop_v1>(the<&leave::customer> == customer),
                                     f.wait(the<&decided::order_id> == customer));
        if (next.index() == 2) co_return f.state.card;
        if (next.index() == 1) {
            const auto held = std::get<1>(next);
            co_await f.sleep(1h);
            held.answer();
        }
        if (next.index() == 0) {
            const auto& asked = std::get<0>(next);
            if (asked->card.empty()) {
                asked.refuse("a card has a number");
                continue;
            }
            f.state.card = asked->card;
            asked.answer(changed{"now " + asked->card});
        }
    }
}
POSTHORN_WORKFLOW(subscribed, "Subscribed", 1)

/// Another workflow that calls the first.
workflow<std::string> calls_it(flow<>& f, std::string customer, std::string card) {
    const auto answer = co_await f.call<shop_v1>(change_card{customer, card}).as_outcome();
    if (answer) co_return answer->card;
    co_return std::string(answer.error().what()) +
        (answer.error().may_have_taken_effect() ? ", maybe" : ", surely not");
}
POSTHORN_WORKFLOW(calls_it, "CallsIt", 1)

}  // namespace
}  // namespace shop

namespace posthorn {
namespace {

using ::testing::HasSubstr;
using namespace shop;
using namespace std::chrono_literals;

class requests_of_an_engine : public engine_test {
protected:
    requests_of_an_engine() {
        shop_node.add(subscribed);
        desk_node.add(calls_it);
    }
    void start() {
        shop_node.start();
        desk_node.start();
    }
    void subscribe(const std::string& id) {
        shop_node.transact([&](transaction& tx) { tx.start(subscribed, id, id); });
    }
    std::string failure_of(const change_card& asked) {
        try {
            to_shop.call(asked).get(60s);
        } catch (const error& why) {
            return why.what();
        }
        return "nothing was thrown";
    }
    node shop_node{options("shop")};
    node desk_node{options("desk")};
    proxy<shop_v1> to_shop{desk_node};  // Made before the node starts.
};

TEST_F(requests_of_an_engine, are_answered_once_by_the_workflow_that_they_are_for) {
    start();
    subscribe("c1");
    subscribe("c2");
    EXPECT_EQ(to_shop.call(change_card{"c1", "4000"}).get(60s).card, "now 4000") << logged();
    EXPECT_EQ(to_shop.call(change_card{"c2", "5000"}).get(60s).card, "now 5000");
    EXPECT_EQ(shop_node.state<plan>(subscribed, "c1")->card, "4000");
    EXPECT_EQ(
        number(shop_node, "SELECT count(*) FROM outbox_messages WHERE message_type = 'Response'"),
        2);
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_requests"), 0);
}

TEST_F(requests_of_an_engine, are_kept_until_a_workflow_receives_them) {
    start();
    auto early = to_shop.call(change_card{"c1", "4000"});
    ASSERT_TRUE(test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_unclaimed") > 0; }));
    subscribe("c1");
    EXPECT_EQ(early.get(60s).card, "now 4000") << logged();
}

TEST_F(requests_of_an_engine, that_are_refused_are_told_why) {
    start();
    subscribe("c1");
    EXPECT_THAT(failure_of({"c1", ""}), HasSubstr("shop refused the call: a card has a number"));
    desk_node.transact([](transaction& tx) {
        tx.start(calls_it, "bad", "c1", "");
        tx.start(calls_it, "good", "c1", "4000");
    });
    EXPECT_EQ(desk_node.wait_for_end(calls_it, "good", 60s).result, R"("now 4000")") << logged();
    EXPECT_EQ(desk_node.wait_for_end(calls_it, "bad", 60s).result,
              R"("shop/v1/ChangeCard: refused: a card has a number, surely not")");
}

TEST_F(requests_of_an_engine, that_a_workflow_holds_when_it_ends_are_refused) {
    start();
    subscribe("c1");
    auto held = to_shop.call(leave{"c1"});
    ASSERT_TRUE(test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_requests") == 1; }));
    EXPECT_TRUE(shop_node.cancel(subscribed, "c1", "enough"));
    try {
        held.get(60s);
        FAIL();
    } catch (const error& why) {
        EXPECT_THAT(why.what(), HasSubstr("the workflow has ended without an answer"));
    }
}

TEST_F(requests_of_an_engine, that_no_workflow_takes_in_time_are_refused) {
    start();
    subscribe("c1");
    auto late = to_shop.call(change_card{"nobody", "4000"});
    ASSERT_TRUE(test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_unclaimed") > 0; }));
    run(shop_node, "UPDATE workflow_unclaimed SET expires_at = 1");
    shop_node.stop();
    node again(options("shop"));
    again.add(subscribed);
    again.start();
    try {
        late.get(60s);
        FAIL();
    } catch (const error& why) {
        EXPECT_THAT(why.what(), HasSubstr("no workflow has taken it in time"));
    }
}

TEST_F(requests_of_an_engine, are_all_refused_when_their_time_is_over_however_many) {
    shop_node.start();
    shop_node.transact([](transaction& tx) {
        for (int i = 1; i <= 2500; ++i) {
            tx.execute(
                "INSERT INTO workflow_signals (source, message_id, signal, payload,"
                " correlation_id, matched_at) VALUES (?, '01900000-0000-7000-8000-000000000001',"
                " 'shop/v1/Leave', '{}', ?, 1)",
                i == 7 ? std::string(5000, 'x') : "desk", "asked " + std::to_string(i));
            // Each is found by two sets of fields.
            tx.execute(
                "INSERT INTO workflow_unclaimed (signal, shape, key, seq, expires_at)"
                " VALUES ('shop/v1/Leave', '', '', last_insert_rowid(), 1),"
                " ('shop/v1/Leave', 'customer', 'c', last_insert_rowid(), 1)");
        }
    });
    shop_node.stop();
    node again(options("shop"));
    again.add(subscribed);
    again.start();
    ASSERT_TRUE(test::eventually(
        [&] { return number(again, "SELECT count(*) FROM workflow_unclaimed") == 0; }));
    EXPECT_EQ(number(again,
                     "SELECT count(DISTINCT correlation_id) FROM outbox_messages"
                     " WHERE message_type = 'Response'"),
              2499)
        << "one names a sender that none can be";
    EXPECT_EQ(number(again, "SELECT count(*) FROM outbox_messages"), 2499);
}

TEST_F(requests_of_an_engine, that_are_not_what_they_say_are_refused_and_the_wait_goes_on) {
    start();
    subscribe("c1");
    ASSERT_TRUE(test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_waits") == 3; }));
    desk_node.send("shop", "shop/v1/ChangeCard", R"({"customer":"c1","card":7})",
                   {.type = message_type::command});
    ASSERT_TRUE(test::eventually([&] {
        return number(shop_node,
                      "SELECT count(*) FROM outbox_messages WHERE headers LIKE '%refused%'") == 1;
    })) << logged();
    EXPECT_EQ(to_shop.call(change_card{"c1", "4000"}).get(60s).card, "now 4000");
}

}  // namespace
}  // namespace posthorn
