#include "queue/queue.hpp"

#include <gmock/gmock.h>

#include "support/row_fuzz.hpp"
#include "unit/inbox/inbox_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

class queue : public inbox_fixture {
protected:
    queue() { handle("Ship", {.run = make_queue_handler(loop.time())}); }

    message send(std::string payload, std::string order_key = "") {
        auto one = from_orders("Ship", std::move(payload));
        one.order_key = std::move(order_key);
        EXPECT_EQ(receive(one).what, outcome::delivered);
        return one;
    }
    std::vector<queued_message> take(std::string owner, std::int64_t limit = 10) {
        std::vector<queued_message> taken;
        const queue_take asked{
            .endpoint = "Ship", .owner = std::move(owner), .limit = limit, .lease = 60s};
        EXPECT_TRUE(loop.run(commit(database(), [&](store_transaction& tx) -> result<> {
            auto given = take_queued(tx, asked, loop.time().wall());
            if (!given) return std::unexpected(given.error());
            taken = *std::move(given);
            return {};
        })));
        return taken;
    }
    std::int64_t acknowledge(const queued_message& one, std::string owner) {
        return in_unit([&](store_transaction& tx) {
            return acknowledge_queued(tx, {{one.seq}, std::move(owner)});
        });
    }
    std::int64_t release(const queued_message& one, std::string owner) {
        return in_unit([&](store_transaction& tx) {
            return release_queued(tx, {{one.seq}, std::move(owner)}, loop.time().wall());
        });
    }
    std::int64_t length() { return number("SELECT count(*) FROM posthorn_queue"); }

private:
    std::int64_t in_unit(const std::function<result<std::int64_t>(store_transaction&)>& work) {
        std::int64_t count = -1;
        EXPECT_TRUE(loop.run(commit(database(), [&](store_transaction& tx) -> result<> {
            const auto changed = work(tx);
            if (!changed) return std::unexpected(changed.error());
            count = *changed;
            return {};
        })));
        return count;
    }
};

TEST_F(queue, holds_a_message_once_with_all_that_is_known_of_it) {
    auto one = from_orders("Ship", R"({"a":1})");
    one.correlation_id = "c";
    one.tenant = "t";
    one.headers = R"({"h":"1"})";
    EXPECT_EQ(receive(one).what, outcome::delivered);
    EXPECT_TRUE(receive(one).duplicate);
    const auto taken = take("w1");
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken[0].message_id, one.id.to_string());
    EXPECT_EQ(taken[0].source, "orders");
    EXPECT_EQ(taken[0].endpoint, "Ship");
    EXPECT_EQ(taken[0].message_type, "Signal");
    EXPECT_EQ(taken[0].correlation_id, "c");
    EXPECT_EQ(taken[0].tenant, "t");
    EXPECT_EQ(taken[0].payload, R"({"a":1})");
    EXPECT_EQ(taken[0].headers, R"({"h":"1"})");
    EXPECT_EQ(taken[0].received_at, loop.time().wall());
    EXPECT_EQ(taken[0].taken_until, loop.time().wall() + 60s);
    EXPECT_EQ(taken[0].attempts, 1);
}

TEST_F(queue, gives_the_oldest_first_and_to_one_owner_at_a_time) {
    send("1");
    send("2");
    send("3");
    const auto first = take("w1", 2);
    ASSERT_EQ(first.size(), 2U);
    EXPECT_EQ(first[0].payload, "1");
    EXPECT_EQ(first[1].payload, "2");
    const auto second = take("w2");
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0].payload, "3");
    EXPECT_TRUE(take("w3").empty());
}

TEST_F(queue, gives_again_what_was_not_done_within_its_lease) {
    send("1");
    const auto first = take("w1");
    loop.run(loop.time().sleep_for(60s));
    const auto second = take("w2");
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0].attempts, 2);
    EXPECT_EQ(acknowledge(first[0], "w1"), 0);  // Too late: it is another's now.
    EXPECT_EQ(length(), 1);
    EXPECT_EQ(acknowledge(second[0], "w2"), 1);
    EXPECT_EQ(length(), 0);
}

TEST_F(queue, gives_again_at_once_what_was_given_back) {
    send("1");
    const auto first = take("w1");
    EXPECT_EQ(release(first[0], "w2"), 0);
    EXPECT_TRUE(take("w2").empty());
    EXPECT_EQ(release(first[0], "w1"), 1);
    EXPECT_EQ(take("w2").size(), 1U);
}

TEST_F(queue, keeps_the_order_of_messages_with_one_order_key) {
    send("1", "k");
    send("2", "k");
    send("3", "other");
    ASSERT_EQ(take("w1", 1).at(0).payload, "1");
    const auto others = take("w2");
    ASSERT_EQ(others.size(), 1U);
    EXPECT_EQ(others[0].payload, "3");
}

TEST_F(queue, gives_no_message_of_an_order_key_while_another_has_a_later_one) {
    send("1", "k");
    send("2", "k");
    const auto both = take("w1");
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(release(both[0], "w1"), 1);
    EXPECT_TRUE(take("w2").empty());
    EXPECT_EQ(take("w1").at(0).payload, "1");  // Who has the rest may have it back.
    EXPECT_EQ(release(both[0], "w1"), 1);
    EXPECT_EQ(release(both[1], "w1"), 1);
    EXPECT_EQ(take("w2").size(), 2U);
}

TEST_F(queue, gives_rows_of_every_type_and_extreme_and_those_beside_them) {
    test::row_fuzz rows(20'261'117, test::row_fuzz::database::sqlite);
    std::int64_t accepted = 0;
    for (int i = 0; i < 300; ++i) {
        const auto sql = rows.queue_row("Ship");
        const auto done = loop.run(commit(database(), [&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.execute(sql, {}));
            return {};
        }));
        accepted += done ? 1 : 0;
    }
    EXPECT_GT(accepted, 0);
    EXPECT_LT(accepted, 300);
    send("{}");
    for (auto taken = take("first"); !taken.empty(); taken = take("first"))
        for (const auto& one : taken) EXPECT_EQ(acknowledge(one, "first"), 1);
    EXPECT_EQ(length(), 0);
}

}  // namespace
}  // namespace posthorn
