// Versions of a workflow side by side, on real nodes.
#include <atomic>

#include <gmock/gmock.h>

#include "engine/engine.hpp"
#include "unit/engine/shop.hpp"

namespace shop {
namespace {

using namespace std::chrono_literals;

struct kept {
    std::string now = "new";
};

workflow<std::string> order_v1(flow<kept>& f, std::string id) {
    co_await f.wait(the<&decided::order_id> == id);
    f.state.now = "decided";
    co_await f.wait(the<&closed::order_id> == id);
    co_return "first";
}
POSTHORN_WORKFLOW(order_v1, "Order", 1)

/// Other only after what was decided.
workflow<std::string> order_v2(flow<kept>& f, std::string id) {
    co_await f.wait(the<&decided::order_id> == id);
    f.state.now = "decided";
    co_await f.first(f.wait(the<&closed::order_id> == id), f.sleep(24h));
    co_return "second";
}
POSTHORN_WORKFLOW(order_v2, "Order", 2)

workflow<std::string> order_v3(flow<kept>& f, std::string id, bool) {
    co_await f.wait(the<&decided::order_id> == id);
    co_return "third";
}
POSTHORN_WORKFLOW(order_v3, "Order", 3)

workflow<std::string> placed_v1(flow<>&, order_placed) { co_return "first"; }
POSTHORN_WORKFLOW(placed_v1, "PlacedTwice", 1)
workflow<std::string> placed_v2(flow<>&, order_placed) { co_return "second"; }
POSTHORN_WORKFLOW(placed_v2, "PlacedTwice", 2)

std::atomic<int> unrecorded = 0;  // What a workflow must not look at.
workflow<void> looks_elsewhere(flow<>& f) {
    for (;;) {
        const auto seen = ++unrecorded;
        co_await f.wait(the<&decided::order_id> == std::to_string(seen > 2 ? 1 : 0));
    }
}
POSTHORN_WORKFLOW(looks_elsewhere, "LooksElsewhere", 1)

}  // namespace
}  // namespace shop

namespace posthorn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace shop;
using namespace std::chrono_literals;

class versions_of_an_engine : public engine_test {
protected:
    static void start_two(node& on) {
        on.transact([](transaction& tx) {
            tx.start(order_v1, "young", "young");
            tx.start(order_v1, "old", "old");
        });
        ASSERT_TRUE(test::eventually(
            [&] { return number(on, "SELECT count(*) FROM workflow_waits") == 2; }));
        on.signal(decided{"old", "ann", true, 1});
        ASSERT_TRUE(becomes(on, order_v1, "old", [](const workflow_view& seen) {
            return seen.state.contains("decided");
        }));
    }
};

TEST_F(versions_of_an_engine, leave_what_is_in_flight_to_its_own_and_give_new_ones_the_latest) {
    {
        node before(options("shop"));
        before.add(order_v1);
        before.start();
        start_two(before);
    }
    node after(options("shop"));
    after.add(order_v1);
    after.add(order_v2);
    after.start();
    run(after, R"(INSERT INTO workflow_instances (workflow, id, arguments)
                  VALUES ('Order', 'fresh', '["fresh"]'))");
    for (const auto* const id : {"young", "old", "fresh"}) {
        after.signal(decided{id, "ann", true, 1});
        after.signal(closed{id});
    }
    EXPECT_EQ(after.wait_for_end(order_v2, "young", 60s).result, R"("first")") << logged();
    EXPECT_EQ(after.wait_for_end(order_v2, "old", 60s).result, R"("first")");
    EXPECT_EQ(after.wait_for_end(order_v2, "fresh", 60s).result, R"("second")");
    EXPECT_EQ(number(after,
                     "SELECT count(*) FROM workflow_history h JOIN workflow_instances i"
                     " ON i.instance = h.instance WHERE h.version <> i.version"),
              0);
}

TEST_F(versions_of_an_engine,
       that_a_signal_starts_begin_with_the_newest_whichever_was_added_first) {
    node shop_node(options("shop"));
    shop_node.add(placed_v2, {.starts_on = the<&order_placed::id>});
    shop_node.add(placed_v1, {.starts_on = the<&order_placed::id>});
    shop_node.start();
    shop_node.signal(order_placed{"o1", 5});
    ASSERT_TRUE(test::eventually([&] { return shop_node.find(placed_v1, "o1").has_value(); }));
    EXPECT_EQ(shop_node.wait_for_end(placed_v1, "o1", 60s).result, R"("second")");
}

TEST_F(versions_of_an_engine, that_the_program_has_not_are_an_alarm_that_names_who_needs_them) {
    {
        node before(options("shop"));
        before.add(order_v1);
        before.start();
        start_two(before);
    }
    node after(options("shop"));
    after.add(order_v2);
    after.start();
    ASSERT_TRUE(test::eventually([&] {
        const auto health = after.health();
        return health.level == health_level::red &&
               std::ranges::any_of(health.reasons, [](const std::string& why) {
                   return why.contains("2 open workflows of Order, version 1 cannot go on") &&
                          why.contains("young, old") && why.contains("--version 1");
               });
    })) << logged();
    after.signal(decided{"young", "ann", true, 1});
    ASSERT_TRUE(test::eventually(
        [&] { return number(after, "SELECT count(*) FROM workflow_mailbox") == 1; }));
    EXPECT_EQ(after.find(order_v1, "young")->steps, 1U) << "it waits, and is not guessed at";
}

TEST_F(versions_of_an_engine, are_verified_by_a_sample_that_finds_what_is_not_recorded) {
    unrecorded = 0;
    auto with = options("shop");
    node shop_node(with);
    shop_node.add(looks_elsewhere);
    shop_node.start();
    shop_node.transact([](transaction& tx) { tx.start(looks_elsewhere, "l"); });
    for (int i = 0; i < 400; ++i) shop_node.signal(decided{"0", "ann", true, 1});
    for (int i = 0; i < 400; ++i) shop_node.signal(decided{"1", "ann", true, 1});
    const auto end = shop_node.wait_for_end(looks_elsewhere, "l", 60s);
    EXPECT_EQ(end.status, flow_status::quarantined);
    EXPECT_THAT(end.reason, HasSubstr("with other comparisons"));
    EXPECT_THAT(logged(), HasSubstr("is quarantined"));
}

}  // namespace
}  // namespace posthorn
