// Parents, children and those who wait for an end, on a real node.
#include <gmock/gmock.h>

#include "unit/engine/shop.hpp"

namespace shop {
namespace {

using namespace std::chrono_literals;

workflow<std::string> carries(flow<phase>& f, std::string id) {
    f.state.now = "waits";
    const auto heard = co_await f.wait(the<&decided::order_id> == id);
    if (!heard.approved) throw posthorn::failed("refused by " + heard.by);
    co_return heard.by;
}
POSTHORN_WORKFLOW(carries, "Carries", 1)

workflow<std::int64_t> counts_one(flow<>& f, std::int64_t n) {
    co_await f.sleep(1ms);
    co_return n;
}
POSTHORN_WORKFLOW(counts_one, "CountsOne", 1)

workflow<std::int64_t> counts_all(flow<>& f, std::string id, int many) {
    std::vector<posthorn::pending<std::int64_t>> all;
    for (int i = 1; i <= many; ++i)
        all.push_back(f.child(counts_one, id + "/" + std::to_string(i), std::int64_t{i}));
    std::int64_t sum = 0;
    for (const auto n : co_await f.all(std::move(all))) sum += n;
    co_return sum;
}
POSTHORN_WORKFLOW(counts_all, "CountsAll", 1)

workflow<std::string> sends_one(flow<>& f, std::string id) {
    const auto end = co_await f.child(carries, id, id).as_outcome();
    co_return end ? "brought by " + *end : end.error().what();
}
POSTHORN_WORKFLOW(sends_one, "SendsOne", 1)

/// One of each fate.
workflow<void> leaves_them(flow<>& f, std::string id) {
    auto one = f.child(carries, id + "/c", id + "/c");
    auto two =
        f.child(carries, id + "/t", id + "/t").if_parent_ends(posthorn::child_fate::terminate);
    auto three =
        f.child(carries, id + "/a", id + "/a").if_parent_ends(posthorn::child_fate::abandon);
    co_await f.wait(the<&decided::order_id> == id);
}
POSTHORN_WORKFLOW(leaves_them, "LeavesThem", 1)

workflow<std::string> waits_for_another(flow<>& f, std::string id) {
    const auto end = co_await f.attach(carries, id).as_outcome();
    co_return end ? *end : end.error().what();
}
POSTHORN_WORKFLOW(waits_for_another, "WaitsForAnother", 1)

/// Its child begins it, and waits for it.
workflow<std::string> parent(flow<>& f, std::string id);
workflow<std::string> starts_its_parent(flow<>& f, std::string id) {
    const auto begun = co_await f.child(parent, id, id).as_outcome();
    const auto awaited = co_await f.attach(parent, id).as_outcome();
    co_return std::string(begun ? "begun" : begun.error().what()) + "; " +
        (awaited ? "awaited" : awaited.error().what());
}
POSTHORN_WORKFLOW(starts_its_parent, "StartsItsParent", 1)
workflow<std::string> parent(flow<>& f, std::string id) {
    co_return co_await f.child(starts_its_parent, id + "/child", id);
}
POSTHORN_WORKFLOW(parent, "Parent", 1)

workflow<int> nests(flow<>& f, int depth) {
    co_return 1 + co_await f.child(nests, std::to_string(depth + 1), depth + 1);
}
POSTHORN_WORKFLOW(nests, "Nests", 1)

/// Each starts the one of the next day, without an end.
workflow<int> starts_the_next(flow<>& f, int day) {
    if (day < 70) f.start(starts_the_next, std::to_string(day + 1), day + 1);
    co_return day;
}
POSTHORN_WORKFLOW(starts_the_next, "StartsTheNext", 1)
workflow<int> starts_badly(flow<>& f, std::string id) {
    f.start(starts_the_next, id, 70);
    co_return 1;
}
POSTHORN_WORKFLOW(starts_badly, "StartsBadly", 1)

struct round {
    int number = 0;
};
/// The child outlives the run that began it.
workflow<std::string> goes_on(flow<round>& f, std::string id) {
    auto child = f.child(carries, id, id);
    if (++f.state.number == 3) co_return co_await child;
    co_await f.sleep(1ms);
    co_await f.again(goes_on, id);
}
POSTHORN_WORKFLOW(goes_on, "GoesOn", 1)

}  // namespace
}  // namespace shop

namespace posthorn {
namespace {

using ::testing::HasSubstr;
using namespace shop;
using namespace std::chrono_literals;

class families_of_an_engine : public engine_test {
protected:
    void start() {
        shop_node.add(carries);
        shop_node.add(counts_one);
        shop_node.add(counts_all);
        shop_node.add(sends_one);
        shop_node.add(leaves_them);
        shop_node.add(waits_for_another);
        shop_node.add(starts_its_parent);
        shop_node.add(parent);
        shop_node.add(nests);
        shop_node.add(starts_the_next);
        shop_node.add(starts_badly);
        shop_node.add(goes_on);
        shop_node.start();
    }
    [[nodiscard]] bool waits(const std::string& id) {
        return becomes(shop_node, carries, id,
                       [](const workflow_view& seen) { return seen.state.contains("waits"); });
    }
    node shop_node{options("shop")};
};

TEST_F(families_of_an_engine, give_parents_the_results_of_their_children) {
    start();
    shop_node.transact([](transaction& tx) { tx.start(counts_all, "c", "c", 100); });
    EXPECT_EQ(shop_node.wait_for_end(counts_all, "c", 60s).result, "5050") << logged();
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_instances WHERE parent = 1"), 100);
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_watches"), 0);
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_mailbox"), 0);
}

TEST_F(families_of_an_engine, tell_a_parent_why_its_child_ended_otherwise) {
    start();
    shop_node.transact([](transaction& tx) {
        tx.start(sends_one, "a", "x");
        tx.start(sends_one, "b", "y");
    });
    ASSERT_TRUE(waits("x") && waits("y")) << logged();
    shop_node.signal(decided{"x", "ann", false, 1});
    EXPECT_TRUE(shop_node.cancel(carries, "y", "the van is full"));
    EXPECT_EQ(shop_node.wait_for_end(sends_one, "a", 60s).result, R"("Carries: refused by ann")");
    EXPECT_EQ(shop_node.wait_for_end(sends_one, "b", 60s).result, R"("Carries: the van is full")");
}

TEST_F(families_of_an_engine, leave_each_child_as_was_said_when_the_parent_ends) {
    start();
    shop_node.transact([](transaction& tx) { tx.start(leaves_them, "p", "p"); });
    ASSERT_TRUE(waits("p/c") && waits("p/t") && waits("p/a")) << logged();
    shop_node.signal(decided{"p", "ann", true, 1});
    EXPECT_TRUE(ends_as(shop_node, carries, "p/c", flow_status::cancelled)) << logged();
    EXPECT_TRUE(ends_as(shop_node, carries, "p/t", flow_status::cancelled));
    EXPECT_EQ(shop_node.find(carries, "p/t")->reason,
              "LeavesThem p, which has begun it, has ended");
    EXPECT_EQ(shop_node.find(carries, "p/t")->steps, 1U) << "it took no step for that";
    EXPECT_EQ(shop_node.find(carries, "p/c")->steps, 2U);
    shop_node.signal(decided{"p/a", "bob", true, 1});
    EXPECT_EQ(shop_node.wait_for_end(carries, "p/a", 60s).result, R"("bob")");
}

TEST_F(families_of_an_engine, are_cancelled_as_a_tree) {
    start();
    shop_node.transact([](transaction& tx) { tx.start(leaves_them, "p", "p"); });
    ASSERT_TRUE(waits("p/c") && waits("p/t") && waits("p/a")) << logged();
    EXPECT_TRUE(shop_node.cancel(leaves_them, "p", "enough"));
    EXPECT_TRUE(ends_as(shop_node, leaves_them, "p", flow_status::cancelled));
    EXPECT_TRUE(ends_as(shop_node, carries, "p/c", flow_status::cancelled)) << logged();
    EXPECT_TRUE(ends_as(shop_node, carries, "p/t", flow_status::cancelled));
    EXPECT_EQ(shop_node.find(carries, "p/a")->status, flow_status::running);
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_waits"), 1);
}

TEST_F(families_of_an_engine, end_a_child_at_once_that_is_paused_too) {
    start();
    shop_node.transact([](transaction& tx) { tx.start(leaves_them, "p", "p"); });
    ASSERT_TRUE(waits("p/c") && waits("p/t") && waits("p/a")) << logged();
    run(shop_node, "UPDATE workflow_instances SET status = 'paused' WHERE id LIKE 'p/%'");
    shop_node.signal(decided{"p", "ann", true, 1});
    EXPECT_TRUE(ends_as(shop_node, carries, "p/t", flow_status::cancelled)) << logged();
    EXPECT_TRUE(shop_node.find(carries, "p/c")->is_paused) << "it is cancelled once it goes on";
}

TEST_F(families_of_an_engine, let_any_workflow_wait_for_the_end_of_another_before_and_after_it) {
    start();
    shop_node.transact([](transaction& tx) {
        tx.start(carries, "x", "x");
        tx.start(waits_for_another, "early", "x");
        tx.start(waits_for_another, "lost", "nobody");
    });
    ASSERT_TRUE(test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_watches") == 1; }));
    shop_node.signal(decided{"x", "ann", true, 1});
    EXPECT_EQ(shop_node.wait_for_end(waits_for_another, "early", 60s).result, R"("ann")");
    shop_node.transact([](transaction& tx) { tx.start(waits_for_another, "late", "x"); });
    EXPECT_EQ(shop_node.wait_for_end(waits_for_another, "late", 60s).result, R"("ann")");
    EXPECT_EQ(shop_node.wait_for_end(waits_for_another, "lost", 60s).result,
              R"("Carries: there is no workflow Carries nobody")");
}

TEST_F(families_of_an_engine, refuse_a_child_that_begins_its_parent_or_waits_for_it) {
    start();
    shop_node.transact([](transaction& tx) { tx.start(parent, "p", "p"); });
    EXPECT_EQ(shop_node.wait_for_end(parent, "p", 60s).result,
              R"("Parent: Parent p was begun before; each id is used once; Parent: Parent p is )"
              R"(this workflow itself or has begun it, so both would wait for each other")")
        << logged();
}

TEST_F(families_of_an_engine, refuse_a_workflow_that_begins_itself_without_an_end) {
    start();
    shop_node.transact([](transaction& tx) { tx.start(nests, "0", 0); });
    const auto end = shop_node.wait_for_end(nests, "0", 60s);
    EXPECT_EQ(end.status, flow_status::failed);
    EXPECT_THAT(end.reason, HasSubstr("workflows begin others 64 deep at most"));
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_instances"), 65);
}

TEST_F(families_of_an_engine, may_start_one_after_another_without_an_end) {
    start();
    shop_node.transact([](transaction& tx) { tx.start(starts_the_next, "1", 1); });
    EXPECT_TRUE(ends_as(shop_node, starts_the_next, "70", flow_status::completed)) << logged();
}

TEST_F(families_of_an_engine, are_held_when_they_start_what_can_have_no_such_id) {
    start();
    shop_node.transact([](transaction& tx) {
        tx.start(starts_badly, "a", "");
        tx.start(starts_badly, "b", std::string("70\0", 3));
    });
    EXPECT_THAT(
        shop_node.wait_for_end(starts_badly, "a", 60s).reason,
        HasSubstr("command 1: StartsTheNext cannot be started: the id of a workflow has 1"));
    EXPECT_THAT(shop_node.wait_for_end(starts_badly, "b", 60s).reason, HasSubstr("zero byte"));
}

TEST_F(families_of_an_engine, keep_a_child_over_runs_that_follow_one_another) {
    start();
    shop_node.transact([](transaction& tx) { tx.start(goes_on, "g", "x"); });
    ASSERT_TRUE(becomes(shop_node, goes_on, "g", [](const workflow_view& seen) {
        return seen.run == 3 && seen.state.contains("3");
    })) << logged();
    shop_node.signal(decided{"x", "ann", true, 1});
    EXPECT_EQ(shop_node.wait_for_end(goes_on, "g", 60s).result, R"("ann")") << logged();
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_instances"), 2);
}

TEST_F(families_of_an_engine, may_have_ten_thousand_children) {
    start();
    constexpr int many = 9'999;
    shop_node.transact([=](transaction& tx) { tx.start(counts_all, "m", "m", +many); });
    const auto end = shop_node.wait_for_end(counts_all, "m", 300s);
    EXPECT_EQ(end.status, flow_status::completed) << end.reason;
    EXPECT_EQ(end.result, std::to_string(std::int64_t{many} * (many + 1) / 2));
    shop_node.transact([](transaction& tx) { tx.start(counts_all, "n", "n", 10'001); });
    EXPECT_THAT(shop_node.wait_for_end(counts_all, "n", 60s).reason,
                HasSubstr("a step of a workflow makes 10000 commands"));
}

TEST_F(families_of_an_engine, go_on_after_a_restart) {
    {
        node before(options("other"));
        before.add(carries);
        before.add(sends_one);
        before.start();
        before.transact([](transaction& tx) { tx.start(sends_one, "a", "x"); });
        ASSERT_TRUE(becomes(before, carries, "x", [](const workflow_view& seen) {
            return seen.state.contains("waits");
        }));
    }
    node after(options("other"));
    after.add(carries);
    after.add(sends_one);
    after.start();
    after.signal(decided{"x", "ann", true, 1});
    EXPECT_EQ(after.wait_for_end(sends_one, "a", 60s).result, R"("brought by ann")") << logged();
}

}  // namespace
}  // namespace posthorn
