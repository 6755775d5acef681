#include "engine/engine.hpp"

#include <fstream>

#include <gmock/gmock.h>

#include "unit/engine/shop.hpp"

namespace shop {
namespace {

using namespace std::chrono_literals;

workflow<receipt> approve(flow<phase>& f, order o) {
    co_await f.call<stock>(reserve{o.id}).undo(release{o.id});
    f.state.now = "waiting";
    const auto answer =
        co_await f.wait(the<&decided::order_id> == o.id && the<&decided::level> >= 2).within(72h);
    if (!answer) throw posthorn::failed("nothing was decided");
    if (!answer->approved) throw posthorn::failed("refused by " + answer->by);
    f.state = {"paying", answer->by};
    co_return co_await f.call<billing>(charge{o.id, o.cents});
}
POSTHORN_WORKFLOW(approve, "Approve", 1)

workflow<std::int64_t> count_up(flow<>& f, std::string key) {
    std::int64_t sum = 0;
    for (int i = 1; i <= 3; ++i)
        sum += co_await f.transact([key, i](posthorn::transaction& tx) {
            tx.execute("INSERT INTO counted VALUES (?, ?)", key, i);
            return std::int64_t{i};
        });
    co_return sum;
}
POSTHORN_WORKFLOW(count_up, "CountUp", 1)

workflow<std::string> naps(flow<>& f) {
    const auto before = f.now();
    co_await f.sleep(20ms);
    co_return f.now() - before >= 20ms ? "in time" : "early";
}
POSTHORN_WORKFLOW(naps, "Naps", 1)

workflow<std::string> hears(flow<>& f, std::string id) {
    const auto heard = co_await f.wait(the<&decided::order_id> == id);
    co_return heard.by;
}
POSTHORN_WORKFLOW(hears, "Hears", 1)

workflow<std::string> hears_alone(flow<>& f, std::string id) {
    const auto heard = co_await f.wait(the<&decided::order_id> == id).exclusive();
    co_return heard.by;
}
POSTHORN_WORKFLOW(hears_alone, "HearsAlone", 1)

workflow<std::string> hears_of_version(flow<>& f, std::string id) {
    const auto heard = co_await f.wait<till_v2>(the<&closed::order_id> == id);
    co_return heard.order_id;
}
POSTHORN_WORKFLOW(hears_of_version, "HearsOfVersion", 1)

workflow<std::int64_t> placed(flow<>&, order_placed what) { co_return what.cents; }
POSTHORN_WORKFLOW(placed, "Placed", 1)

workflow<std::string> refused_work(flow<>& f) {
    try {
        co_await f.transact([](posthorn::transaction& tx) {
            tx.execute("INSERT INTO counted VALUES ('undone', 1)");
            throw posthorn::permanent("no");
        });
    } catch (const posthorn::permanent& why) {
        co_return why.what();
    }
    co_return "yes";
}
POSTHORN_WORKFLOW(refused_work, "RefusedWork", 1)

std::atomic<int> outside = 0;
workflow<std::int64_t> works_outside(flow<>& f) {
    co_return co_await f.run([](const posthorn::uuid&) -> std::int64_t {
        if (++outside == 1) throw std::runtime_error("not yet");
        return 7;
    });
}
POSTHORN_WORKFLOW(works_outside, "WorksOutside", 1)

workflow<void> has_a_bug(flow<>& f) {
    co_await f.sleep(1ms);
    throw std::logic_error("off by one");
}
POSTHORN_WORKFLOW(has_a_bug, "HasABug", 1)

}  // namespace
}  // namespace shop

namespace posthorn {
namespace {

using ::testing::HasSubstr;
using namespace shop;
using namespace std::chrono_literals;

class an_engine : public engine_test {
protected:
    an_engine() {
        run(shop_node, "CREATE TABLE counted (key TEXT, n INTEGER)");
        run(stock_node, "CREATE TABLE done (what TEXT, id TEXT)");
        run(billing_node, "CREATE TABLE done (what TEXT, id TEXT)");
        const auto note = [](std::string what, std::string answer) {
            return [=](context& tx, const message& received) {
                tx.execute("INSERT INTO done VALUES (?, ?)", what, received.payload);
                return answer;
            };
        };
        stock_node.handle("stock/v1/Reserve", note("reserve", ""));
        stock_node.handle("stock/v1/Release", [this, note](context& tx, const message& received) {
            if (shelf_is_full) throw permanent("there is no room");
            return note("release", "")(tx, received);
        });
        billing_node.handle("billing/v1/Charge",
                            [this, note](context& tx, const message& received) {
                                if (card_is_blocked) throw permanent("the card is blocked");
                                return note("charge", R"({"number":"r1"})")(tx, received);
                            });
    }
    void start() {
        stock_node.start();
        billing_node.start();
        shop_node.start();
    }

    std::atomic<bool> card_is_blocked = false;
    std::atomic<bool> shelf_is_full = false;
    node stock_node{options("stock")};
    node billing_node{options("billing")};
    node shop_node{options("shop")};
};

TEST_F(an_engine, runs_a_workflow_to_its_result_and_calls_each_service_once) {
    shop_node.add(approve);
    start();
    shop_node.transact([](transaction& tx) { tx.start(approve, "o1", order{"o1", 995}); });
    EXPECT_TRUE(becomes(shop_node, approve, "o1", [](const workflow_view& seen) {
        return seen.state == R"({"now":"waiting","by":""})";
    }));
    shop_node.signal(decided{"o1", "trainee", true, 1});  // Of too low a level.
    shop_node.signal(decided{"o1", "ann", true, 3});
    ASSERT_TRUE(ends_as(shop_node, approve, "o1", flow_status::completed)) << logged();
    const auto seen = shop_node.find(approve, "o1");
    EXPECT_EQ(seen->result, R"({"number":"r1"})");
    EXPECT_EQ(shop_node.state<phase>(approve, "o1")->by, "ann");
    EXPECT_EQ(number(stock_node, "SELECT count(*) FROM done"), 1);
    EXPECT_EQ(number(billing_node, "SELECT count(*) FROM done"), 1);
    for (const auto* table : {"mailbox", "waits", "timers", "calls", "runs"})
        EXPECT_EQ(number(shop_node, fmt::format("SELECT count(*) FROM workflow_{}", table)), 0)
            << table;
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_unclaimed WHERE shape = ''"), 1);
}

TEST_F(an_engine, undoes_what_was_called_when_a_later_call_is_refused_for_good) {
    card_is_blocked = true;
    shop_node.add(approve);
    start();
    shop_node.transact([](transaction& tx) { tx.start(approve, "o2", order{"o2", 5}); });
    shop_node.signal(decided{"o2", "bob", true, 2});  // Early: it is kept.
    ASSERT_TRUE(ends_as(shop_node, approve, "o2", flow_status::failed)) << logged();
    EXPECT_THAT(shop_node.find(approve, "o2")->reason, HasSubstr("the card is blocked"));
    EXPECT_EQ(number(stock_node, "SELECT count(*) FROM done WHERE what = 'release'"), 1);
    EXPECT_EQ(shop_node.stats().dead, 0) << "the dead call was told to its workflow";
}

TEST_F(an_engine, holds_a_workflow_whose_undo_was_given_up_until_a_person_has_seen_to_it) {
    shelf_is_full = true;
    shop_node.add(approve);
    start();
    shop_node.transact([](transaction& tx) { tx.start(approve, "o6", order{"o6", 5}); });
    shop_node.signal(decided{"o6", "bob", false, 2});
    ASSERT_TRUE(ends_as(shop_node, approve, "o6", flow_status::quarantined)) << logged();
    const auto reason = shop_node.find(approve, "o6")->reason;
    EXPECT_THAT(reason, HasSubstr("stock/v1/Release, which undoes command 1, was given up"));
    EXPECT_THAT(reason, HasSubstr("there is no room"));
    EXPECT_EQ(shop_node.stats().dead, 1);
    shelf_is_full = false;
    const auto id = shop_node.transact([](transaction& tx) {
        return tx.query_value<std::string>(
            "SELECT message_id FROM outbox_messages WHERE endpoint = 'stock/v1/Release'");
    });
    EXPECT_TRUE(shop_node.requeue(*uuid::parse(*id)));
    shop_node.transact([](transaction& tx) {
        tx.execute("UPDATE workflow_instances SET status = 'running', reason = NULL");
        tx.execute(
            "INSERT INTO workflow_mailbox (instance, kind)"
            " SELECT instance, 'resume' FROM workflow_instances");
    });
    ASSERT_TRUE(ends_as(shop_node, approve, "o6", flow_status::failed)) << logged();
    EXPECT_EQ(shop_node.find(approve, "o6")->reason, "refused by bob");
    EXPECT_EQ(number(stock_node, "SELECT count(*) FROM done WHERE what = 'release'"), 1);
}

TEST_F(an_engine, is_right_without_any_workflow_in_memory) {
    std::ofstream(directory.file("forgetful.toml")) << "[service]\nid = \"forgetful\"\n"
                                                       "[workflow]\ncache_bytes = 0\n";
    auto from = load(directory.file("forgetful.toml"));
    const auto wanted = options("forgetful");
    from.options.store = wanted.store;
    from.options.listen = wanted.listen;
    from.options.default_route = wanted.default_route;
    from.options.log_sink = wanted.log_sink;
    stock_node.start();
    billing_node.start();
    node forgetful(std::move(from));
    run(forgetful, "CREATE TABLE counted (key TEXT, n INTEGER)");
    forgetful.add(approve);
    forgetful.add(count_up);
    forgetful.start();
    forgetful.transact([](transaction& tx) {
        tx.start(approve, "o7", order{"o7", 5});
        tx.start(count_up, "c", "c");
        tx.signal(decided{"o7", "ann", true, 2});
    });
    EXPECT_EQ(forgetful.wait_for_end(approve, "o7", 30s).status, flow_status::completed);
    EXPECT_EQ(forgetful.wait_for_end(count_up, "c", 30s).result, "6");
    EXPECT_EQ(number(forgetful, "SELECT count(*) FROM counted"), 3);
    EXPECT_EQ(number(stock_node, "SELECT count(*) FROM done"), 1);
}

TEST_F(an_engine, ends_as_cancelled_and_undoes_first) {
    shop_node.add(approve);
    start();
    shop_node.transact([](transaction& tx) { tx.start(approve, "o3", order{"o3", 5}); });
    ASSERT_TRUE(becomes(shop_node, approve, "o3",
                        [](const workflow_view& seen) { return seen.steps == 2; }));
    EXPECT_TRUE(shop_node.cancel(approve, "o3", "changed our mind"));
    ASSERT_TRUE(ends_as(shop_node, approve, "o3", flow_status::cancelled)) << logged();
    EXPECT_EQ(shop_node.find(approve, "o3")->reason, "changed our mind");
    EXPECT_EQ(number(stock_node, "SELECT count(*) FROM done WHERE what = 'release'"), 1);
    EXPECT_FALSE(shop_node.cancel(approve, "o3"));
}

TEST_F(an_engine, goes_on_where_it_was_after_a_restart) {
    shop_node.add(approve);
    start();
    shop_node.transact([](transaction& tx) { tx.start(approve, "o4", order{"o4", 5}); });
    ASSERT_TRUE(becomes(shop_node, approve, "o4",
                        [](const workflow_view& seen) { return seen.steps == 2; }));
    shop_node.stop();
    node again(options("shop"));
    again.add(approve);
    again.start();
    again.signal(decided{"o4", "ann", true, 3});
    ASSERT_TRUE(ends_as(again, approve, "o4", flow_status::completed)) << logged();
    EXPECT_EQ(number(stock_node, "SELECT count(*) FROM done"), 1);
    EXPECT_EQ(number(billing_node, "SELECT count(*) FROM done"), 1);
}

TEST_F(an_engine, writes_in_the_commit_of_a_step_each_once) {
    shop_node.add(count_up);
    start();
    shop_node.transact([](transaction& tx) {
        for (int i = 0; i < 50; ++i) {
            const auto id = "c" + std::to_string(i);
            tx.start(count_up, id, id);
        }
    });
    for (int i = 0; i < 50; ++i)
        ASSERT_TRUE(ends_as(shop_node, count_up, "c" + std::to_string(i), flow_status::completed));
    EXPECT_EQ(shop_node.find(count_up, "c7")->result, "6");
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM counted"), 150);
}

TEST_F(an_engine, tells_a_workflow_that_its_transaction_was_refused_and_stores_nothing_of_it) {
    shop_node.add(refused_work);
    start();
    shop_node.transact([](transaction& tx) { tx.start(refused_work, "r"); });
    ASSERT_TRUE(ends_as(shop_node, refused_work, "r", flow_status::completed)) << logged();
    EXPECT_EQ(shop_node.find(refused_work, "r")->result, R"("no")");
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM counted"), 0);
}

TEST_F(an_engine, does_work_outside_again_until_it_is_done) {
    shop_node.add(works_outside);
    start();
    shop_node.transact([](transaction& tx) { tx.start(works_outside, "w"); });
    ASSERT_TRUE(ends_as(shop_node, works_outside, "w", flow_status::completed)) << logged();
    EXPECT_EQ(shop_node.find(works_outside, "w")->result, "7");
    EXPECT_EQ(outside, 2);
}

TEST_F(an_engine, ends_a_sleep_in_its_time_and_never_early) {
    shop_node.add(naps);
    start();
    shop_node.transact([](transaction& tx) { tx.start(naps, "n"); });
    ASSERT_TRUE(ends_as(shop_node, naps, "n", flow_status::completed)) << logged();
    EXPECT_EQ(shop_node.find(naps, "n")->result, R"("in time")");
}

TEST_F(an_engine, gives_a_signal_to_every_workflow_that_waits_and_to_one_of_the_exclusive) {
    shop_node.add(hears);
    shop_node.add(hears_alone);
    start();
    shop_node.transact([](transaction& tx) {
        for (const auto* id : {"a", "b"}) {
            tx.start(hears, id, "x");
            tx.start(hears_alone, id, "x");
        }
    });
    ASSERT_TRUE(test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_waits") == 4; }));
    shop_node.signal(decided{"x", "ann", true, 1});
    ASSERT_TRUE(ends_as(shop_node, hears, "a", flow_status::completed));
    ASSERT_TRUE(ends_as(shop_node, hears, "b", flow_status::completed));
    ASSERT_TRUE(ends_as(shop_node, hears_alone, "a", flow_status::completed));
    EXPECT_EQ(shop_node.find(hears_alone, "b")->status, flow_status::running);
    shop_node.signal(hears_alone, "b", decided{"x", "bob", true, 1});
    ASSERT_TRUE(ends_as(shop_node, hears_alone, "b", flow_status::completed));
    EXPECT_EQ(shop_node.find(hears_alone, "b")->result, R"("bob")");
}

TEST_F(an_engine, is_started_and_told_by_other_services_and_by_plain_sql) {
    shop_node.add(placed, {.starts_on = the<&order_placed::id>});
    shop_node.add(hears);
    start();
    stock_node.send("shop", order_placed{"p1", 12});
    ASSERT_TRUE(ends_as(shop_node, placed, "p1", flow_status::completed)) << logged();
    EXPECT_EQ(shop_node.find(placed, "p1")->result, "12");
    run(shop_node, R"(INSERT INTO workflow_instances (workflow, id, arguments)
                      VALUES ('Hears', 'plain', '["y"]'))");
    run(shop_node, R"(INSERT INTO workflow_signals (signal, payload) VALUES
        ('Decided', '{"orderId":"y","by":"sql","approved":true,"level":1}'))");
    ASSERT_TRUE(ends_as(shop_node, hears, "plain", flow_status::completed)) << logged();
    EXPECT_EQ(shop_node.find(hears, "plain")->result, R"("sql")");
}

TEST_F(an_engine, gives_a_signal_of_a_service_to_those_who_wait_for_its_version) {
    shop_node.add(hears_of_version);
    start();
    shop_node.transact([](transaction& tx) { tx.start(hears_of_version, "v", "o1"); });
    run(shop_node, R"(INSERT INTO workflow_signals (signal, payload)
                      VALUES ('till/v1/Closed', '{"orderId":"o1"}'))");
    ASSERT_TRUE(test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_unclaimed") > 0; }));
    EXPECT_EQ(shop_node.find(hears_of_version, "v")->status, flow_status::running);
    stock_node.send("shop", "till/v2/Closed", R"({"orderId":"o1"})");
    ASSERT_TRUE(ends_as(shop_node, hears_of_version, "v", flow_status::completed)) << logged();
}

TEST_F(an_engine, refuses_a_second_start_under_the_same_id) {
    shop_node.add(hears);
    start();
    const auto begin = [&] {
        shop_node.transact([](transaction& tx) { tx.start(hears, "same", "z"); });
    };
    begin();
    try {
        begin();
        FAIL() << "nothing was thrown";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), error_code::duplicate_id);
    }
}

TEST_F(an_engine, quarantines_a_workflow_with_a_bug_and_no_other) {
    shop_node.add(has_a_bug);
    shop_node.add(naps);
    start();
    shop_node.transact([](transaction& tx) {
        tx.start(has_a_bug, "b");
        tx.start(naps, "n");
    });
    ASSERT_TRUE(ends_as(shop_node, has_a_bug, "b", flow_status::quarantined)) << logged();
    EXPECT_THAT(shop_node.find(has_a_bug, "b")->reason, HasSubstr("step 2: the code threw"));
    EXPECT_THAT(shop_node.find(has_a_bug, "b")->reason, HasSubstr("off by one"));
    ASSERT_TRUE(ends_as(shop_node, naps, "n", flow_status::completed));
    EXPECT_TRUE(test::eventually([&] { return shop_node.health().level == health_level::yellow; }));
}

TEST_F(an_engine, is_red_about_open_workflows_whose_code_is_missing_and_leaves_them_alone) {
    shop_node.add(hears);
    start();
    run(shop_node,
        "INSERT INTO workflow_instances (workflow, id, version) VALUES ('Gone', 'g', 3)");
    ASSERT_TRUE(test::eventually([&] { return shop_node.health().level == health_level::red; }));
    EXPECT_THAT(shop_node.health().reasons,
                ::testing::Contains(HasSubstr("1 open workflow of Gone, version 3")));
    EXPECT_EQ(
        number(shop_node, "SELECT count(*) FROM workflow_instances WHERE status = 'starting'"), 1);
}

TEST_F(an_engine, names_the_step_that_the_code_now_takes_otherwise) {
    shop_node.add(hears);
    start();
    shop_node.transact([](transaction& tx) { tx.start(hears, "d", "q"); });
    ASSERT_TRUE(
        becomes(shop_node, hears, "d", [](const workflow_view& seen) { return seen.steps == 1; }));
    shop_node.stop();
    node again(options("shop"));
    run(again, "UPDATE workflow_history SET did = replace(did, 'Decided', 'Judged')");
    again.add(hears);
    again.start();
    again.signal(decided{"q", "ann", true, 1});
    ASSERT_TRUE(ends_as(again, hears, "d", flow_status::quarantined)) << logged();
    EXPECT_EQ(again.find(hears, "d")->reason,
              "step 1: recorded wait for Judged, the code now waits for Decided");
}

TEST_F(an_engine, quarantines_a_workflow_whose_history_is_damaged) {
    shop_node.add(hears);
    start();
    shop_node.transact([](transaction& tx) { tx.start(hears, "d", "q"); });
    ASSERT_TRUE(
        becomes(shop_node, hears, "d", [](const workflow_view& seen) { return seen.steps == 1; }));
    shop_node.stop();
    node again(options("shop"));
    run(again, "UPDATE workflow_history SET did = '{\"comm'");
    again.add(hears);
    again.start();
    again.signal(decided{"q", "ann", true, 1});
    ASSERT_TRUE(ends_as(again, hears, "d", flow_status::quarantined)) << logged();
    EXPECT_THAT(again.find(hears, "d")->reason, HasSubstr("step 1: its row is damaged"));
}

TEST_F(an_engine, believes_no_response_of_a_stranger) {
    shop_node.add(approve);
    start();
    stock_node.stop();  // So that nothing answers.
    shop_node.transact([](transaction& tx) { tx.start(approve, "o5", order{"o5", 5}); });
    ASSERT_TRUE(test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_calls") == 1; }));
    const auto name = shop_node.find(approve, "o5")->instance.to_string();
    billing_node.send("shop", "stock/v1/Reserve", "null",
                      {.type = message_type::response, .correlation_id = "wf/" + name + "/1/1"});
    billing_node.send("shop", "stock/v1/Reserve", "null",
                      {.type = message_type::response, .correlation_id = "wf/nonsense"});
    ASSERT_TRUE(test::eventually([&] { return billing_node.stats().sent == 2; }));
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_calls"), 1);
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_mailbox"), 0);
}

TEST_F(an_engine, takes_one_response_of_a_call_and_none_of_one_that_was_never_made) {
    shop_node.add(approve);
    start();
    shop_node.transact([](transaction& tx) { tx.start(approve, "o8", order{"o8", 5}); });
    ASSERT_TRUE(becomes(shop_node, approve, "o8",
                        [](const workflow_view& seen) { return seen.steps == 2; }));
    const auto name = shop_node.find(approve, "o8")->instance.to_string();
    for (const auto* command : {"/1/1", "/1/99", "/2/1"})
        stock_node.send("shop", "stock/v1/Reserve", "null",
                        {.type = message_type::response, .correlation_id = "wf/" + name + command});
    ASSERT_TRUE(test::eventually([&] { return stock_node.stats().sent == 4; })) << logged();
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_mailbox"), 0);
    EXPECT_EQ(shop_node.find(approve, "o8")->steps, 2U);
    EXPECT_THAT(logged(), HasSubstr("stock answered stock/v1/Reserve for wf/" + name +
                                    "/1/99, which is not called"));
    shop_node.signal(decided{"o8", "ann", true, 2});
    EXPECT_TRUE(ends_as(shop_node, approve, "o8", flow_status::completed)) << logged();
}

}  // namespace
}  // namespace posthorn
