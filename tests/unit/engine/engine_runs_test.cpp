// Runs of a workflow that follow one another, on a real node.
#include <semaphore>

#include <gmock/gmock.h>

#include "unit/engine/shop.hpp"

namespace shop {
namespace {

using namespace std::chrono_literals;

struct sums {
    std::int64_t count = 0;
    std::vector<std::string> by;
};

/// Hears three in each run, so that what is recorded has a bound.
workflow<std::int64_t> hears_for_ever(flow<sums>& f, std::string id, std::int64_t rounds) {
    for (int heard = 0; heard < 3; ++heard) {
        const auto one = co_await f.wait(the<&decided::order_id> == id);
        ++f.state.count;
        f.state.by.push_back(one.by);
        if (!one.approved) co_return f.state.count;
    }
    co_await f.again(hears_for_ever, id, rounds + 1);
}
POSTHORN_WORKFLOW(hears_for_ever, "HearsForEver", 1)

/// Two at once: of the second a signal comes that the first run has no step for any more. The last
/// run has other numbers for its waits, so that it can take no signal by the number of another's.
workflow<std::int64_t> hears_two(flow<sums>& f, std::string id, bool is_last) {
    if (is_last) co_await f.sleep(1ms);
    auto first = f.wait(the<&decided::order_id> == id);
    auto second = f.wait(the<&closed::order_id> == id);
    co_await f.first(first, second);
    ++f.state.count;
    if (is_last) co_return f.state.count;
    co_await f.again(hears_two, id, true);
}
POSTHORN_WORKFLOW(hears_two, "HearsTwo", 1)

workflow<void> naps_before(flow<sums>& f) {
    co_await f.sleep(1ms);
    co_await f.again(hears_for_ever, std::string("x"), 1);
}
POSTHORN_WORKFLOW(naps_before, "NapsBefore", 1)

std::counting_semaphore<> let_first_end{0};
/// The work of the first run is under way when the next one begins its own.
workflow<std::string> works_in_runs(flow<sums>& f, std::string id, int round) {
    auto work = f.run([round] {
        if (round == 1) let_first_end.acquire();
        return "of round " + std::to_string(round);
    });
    if (round == 2) co_return co_await work;
    co_await f.wait(the<&decided::order_id> == id);
    co_await f.again(works_in_runs, id, 2);
}
POSTHORN_WORKFLOW(works_in_runs, "WorksInRuns", 1)

}  // namespace
}  // namespace shop

namespace posthorn {
namespace {

using ::testing::HasSubstr;
using namespace shop;
using namespace std::chrono_literals;

class runs_of_an_engine : public engine_test {
protected:
    void start() {
        shop_node.add(hears_for_ever);
        shop_node.add(hears_two);
        shop_node.add(naps_before);
        shop_node.add(works_in_runs);
        shop_node.start();
    }
    node shop_node{options("shop")};
};

TEST_F(runs_of_an_engine, follow_one_another_with_the_state_and_leave_their_history_behind) {
    start();
    shop_node.transact([](transaction& tx) { tx.start(hears_for_ever, "h", "x", 1); });
    for (int i = 0; i < 20; ++i) shop_node.signal(decided{"x", std::to_string(i), true, 1});
    shop_node.signal(decided{"x", "last", false, 1});
    const auto end = shop_node.wait_for_end(hears_for_ever, "h", 60s);
    EXPECT_EQ(end.status, flow_status::completed) << logged();
    EXPECT_EQ(end.result, "21");
    EXPECT_EQ(end.run, 7);
    EXPECT_EQ(shop_node.state<sums>(hears_for_ever, "h")->by.size(), 21U);
    EXPECT_EQ(number(shop_node, "SELECT min(run) FROM workflow_history"), 6) << "the last is kept";
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_waits"), 0);
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_unclaimed"), 0);
}

TEST_F(runs_of_an_engine, get_every_signal_also_one_that_many_got_and_a_run_had_no_step_for) {
    start();
    shop_node.transact([](transaction& tx) {
        tx.start(hears_two, "a", "x", false);
        tx.start(hears_two, "b", "x", false);
    });
    ASSERT_TRUE(test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_waits") == 4; }));
    // All of it lies in their mailboxes before any of the two takes a step.
    run(shop_node, "UPDATE workflow_instances SET status = 'paused'");
    shop_node.transact([](transaction& tx) {
        tx.signal(decided{"x", "ann", true, 1});
        tx.signal(closed{"x"});
    });
    ASSERT_TRUE(test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_mailbox") == 4; }));
    shop_node.transact([](transaction& tx) {
        tx.execute("UPDATE workflow_instances SET status = 'running'");
        tx.execute(
            "INSERT INTO workflow_mailbox (instance, kind)"
            " SELECT instance, 'resume' FROM workflow_instances");
    });
    EXPECT_EQ(shop_node.wait_for_end(hears_two, "a", 60s).result, "2") << logged();
    EXPECT_EQ(shop_node.wait_for_end(hears_two, "b", 60s).result, "2") << logged();
}

TEST_F(runs_of_an_engine, are_not_given_what_the_work_of_the_run_before_gave) {
    start();
    shop_node.transact([](transaction& tx) { tx.start(works_in_runs, "w", "x", 1); });
    const bool waits = test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_waits") == 1; });
    shop_node.signal(decided{"x", "ann", true, 1});
    const bool is_next = becomes(shop_node, works_in_runs, "w", [](const workflow_view& seen) {
        return seen.run == 2 && seen.steps > 0;
    });
    let_first_end.release();
    ASSERT_TRUE(waits && is_next) << logged();
    EXPECT_EQ(shop_node.wait_for_end(works_in_runs, "w", 60s).result, R"("of round 2")")
        << logged();
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_runs"), 0);
}

TEST_F(runs_of_an_engine, go_on_after_a_restart_where_they_were) {
    {
        node before(options("other"));
        before.add(hears_for_ever);
        before.start();
        before.transact([](transaction& tx) { tx.start(hears_for_ever, "h", "x", 1); });
        for (int i = 0; i < 4; ++i) before.signal(decided{"x", "ann", true, 1});
        ASSERT_TRUE(becomes(before, hears_for_ever, "h", [](const workflow_view& seen) {
            return seen.run == 2 && seen.state.contains(R"("count":4)");
        })) << logged();
    }
    node after(options("other"));
    after.add(hears_for_ever);
    after.start();
    after.signal(decided{"x", "bob", false, 1});
    EXPECT_EQ(after.wait_for_end(hears_for_ever, "h", 60s).result, "5") << logged();
}

TEST_F(runs_of_an_engine, are_held_before_they_become_another_workflow) {
    start();
    shop_node.transact([](transaction& tx) { tx.start(naps_before, "n"); });
    const auto end = shop_node.wait_for_end(naps_before, "n", 60s);
    EXPECT_EQ(end.status, flow_status::quarantined);
    EXPECT_EQ(end.run, 1);
    EXPECT_THAT(end.reason, HasSubstr("step 2: the next run of NapsBefore would be HearsForEver"));
}

}  // namespace
}  // namespace posthorn
