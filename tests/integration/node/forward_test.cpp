// Work that a site holds until its target takes it, through the public API.
#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>

#include <posthorn/error.hpp>
#include <posthorn/node.hpp>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"

namespace posthorn::integration {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class node_forward : public node_test {
protected:
    /// What the target does with the next attempt; it is counted.
    void answer_with(std::function<bool()> how) {
        const std::scoped_lock lock(mutex_);
        how_ = std::move(how);
    }
    bool deliver(const forward_message& work) {
        std::function<bool()> how;
        {
            const std::scoped_lock lock(mutex_);
            seen_.push_back(work);
            how = how_;
        }
        ++attempts_;
        return how();
    }
    [[nodiscard]] forward_message last_seen() {
        const std::scoped_lock lock(mutex_);
        return seen_.back();
    }
    void start(node& site, forward_category how = {.retry_interval = 1ms}) {
        site.forward_handler(
            "ExternalSystem", [this](const forward_message& work) { return deliver(work); }, how);
        site.start();
    }
    static std::string status(node& site, const uuid& id) {
        const auto found = site.tracking(id.to_string());
        return found ? found->status : "";
    }

    std::atomic<int> attempts_ = 0;

private:
    std::mutex mutex_;
    std::function<bool()> how_ = [] { return true; };
    std::vector<forward_message> seen_;
};

TEST_F(node_forward, what_is_taken_at_once_is_not_held) {
    node site(options("site"));
    start(site);
    const auto done = site.forward("ExternalSystem", "erp", R"({"order":1})",
                                   {.origin_instance = "line 3",
                                    .execution_id = "e1",
                                    .source_script = "ship.lua",
                                    .parent_execution_id = "e0"});
    EXPECT_TRUE(done.accepted);
    EXPECT_FALSE(done.buffered);
    const auto seen = last_seen();
    EXPECT_EQ(seen.id, done.id);
    EXPECT_EQ(seen.category, "ExternalSystem");
    EXPECT_EQ(seen.target, "erp");
    EXPECT_EQ(seen.payload, R"({"order":1})");
    EXPECT_EQ(seen.origin_instance, "line 3");
    EXPECT_EQ(seen.execution_id, "e1");
    EXPECT_EQ(seen.source_script, "ship.lua");
    EXPECT_EQ(seen.parent_execution_id, "e0");
    EXPECT_EQ(status(site, done.id), "Delivered");
    EXPECT_EQ(integer(site, "SELECT count(*) FROM sf_messages"), 0);
}

TEST_F(node_forward, what_is_refused_at_once_is_told_to_the_caller_and_not_held) {
    node site(options("site"));
    answer_with([] { return false; });
    start(site);
    const auto done = site.forward("ExternalSystem", "erp", "{}");
    EXPECT_FALSE(done.accepted);
    EXPECT_FALSE(done.buffered);
    EXPECT_THAT(done.error, HasSubstr("refused"));
    EXPECT_EQ(status(site, done.id), "Failed");
    EXPECT_EQ(integer(site, "SELECT count(*) FROM sf_messages"), 0);
    EXPECT_EQ(site.stats().dead, 0);
}

TEST_F(node_forward, what_fails_is_held_and_tried_until_it_is_taken) {
    node site(options("site"));
    answer_with([this]() -> bool {
        if (attempts_ <= 3) throw std::runtime_error("no paper");
        return true;
    });
    start(site, {.retry_interval = 50ms});
    const auto done = site.forward("ExternalSystem", "erp", "{}");
    EXPECT_TRUE(done.accepted);
    EXPECT_TRUE(done.buffered);
    EXPECT_TRUE(test::eventually([&] { return status(site, done.id) == "Delivered"; }));
    EXPECT_EQ(attempts_, 4);
    EXPECT_EQ(site.tracking(done.id.to_string())->retry_count, 2) << "the first is not counted";
    EXPECT_EQ(last_seen().retry_count, 2);
}

TEST_F(node_forward, what_is_only_stored_counts_each_attempt_as_a_retry) {
    node site(options("site"));
    answer_with([]() -> bool { throw 7; });
    start(site);
    const auto id = *uuid::parse("0123456789ABCDEF0123456789abcdef");
    const auto done = site.forward("ExternalSystem", "erp", "{}",
                                   {.id = id, .max_retries = 3, .attempt_now = false});
    EXPECT_EQ(done.id, id);
    EXPECT_TRUE(done.buffered);
    ASSERT_TRUE(test::eventually([&] { return status(site, done.id) == "Parked"; }));
    EXPECT_EQ(attempts_, 3);
    EXPECT_EQ(site.tracking("0123456789abcdef0123456789abcdef")->retry_count, 3);
    EXPECT_THAT(site.tracking(done.id.to_string())->last_error, HasSubstr("unknown"));
}

TEST_F(node_forward, what_fails_too_often_is_parked_and_can_be_retried_or_discarded) {
    node site(options("site"));
    answer_with([]() -> bool { throw std::runtime_error("no paper"); });
    start(site);
    const auto done = site.forward("ExternalSystem", "erp", "{}", {.max_retries = 2});
    ASSERT_TRUE(test::eventually([&] { return status(site, done.id) == "Parked"; }));
    EXPECT_EQ(attempts_, 3) << "the first attempt and two retries";
    EXPECT_EQ(text(site, "SELECT last_error FROM sf_messages WHERE status = 2"), "no paper");
    answer_with([] { return true; });
    execute(site, "UPDATE sf_messages SET status = 0 WHERE status = 2");
    EXPECT_TRUE(test::eventually([&] { return status(site, done.id) == "Delivered"; }));
}

TEST_F(node_forward, a_refusal_after_it_was_held_parks_it_at_once) {
    node site(options("site"));
    answer_with([this]() -> bool {
        if (attempts_ == 1) throw std::runtime_error("no paper");
        return false;
    });
    start(site);
    const auto done = site.forward("ExternalSystem", "erp", "{}");
    EXPECT_TRUE(done.buffered);
    ASSERT_TRUE(test::eventually([&] { return status(site, done.id) == "Parked"; }));
    EXPECT_EQ(attempts_, 2);
}

TEST_F(node_forward, a_target_that_cannot_be_reached_charges_nothing_and_holds_no_other_up) {
    node site(options("site"));
    site.forward_handler("ExternalSystem", [this](const forward_message& work) {
        ++attempts_;
        if (work.target == "erp") throw unreachable("no route to host");
        return true;
    });
    site.start();
    const auto held = site.forward("ExternalSystem", "erp", "{}", {.max_retries = 1});
    EXPECT_TRUE(held.buffered);
    EXPECT_TRUE(site.forward("ExternalSystem", "erp", "{}").buffered) << "at once: it is out";
    EXPECT_FALSE(site.forward("ExternalSystem", "crm", "{}").buffered);
    EXPECT_EQ(integer(site, "SELECT sum(retry_count) FROM outbox_messages"), 0);
    EXPECT_EQ(integer(site, "SELECT count(*) FROM sf_messages WHERE status = 0"), 2);
}

TEST_F(node_forward, work_without_a_handler_waits_and_is_done_when_there_is_one) {
    uuid id;
    {
        node site(options("site"));
        site.start();
        id = site.forward("CachedDbWrite", "plant.db", "{}").id;
        EXPECT_EQ(status(site, id), "Submitted");
        EXPECT_TRUE(test::eventually([&] {
            return integer(site,
                           "SELECT count(*) FROM outbox_messages WHERE last_error LIKE"
                           " '%no handler for category CachedDbWrite%'") == 1;
        }));
        EXPECT_EQ(integer(site, "SELECT retry_count FROM outbox_messages"), 0);
    }
    node site(options("site"));
    site.forward_handler("CachedDbWrite", [](const forward_message&) { return true; });
    site.start();
    execute(site, "UPDATE outbox_messages SET next_retry_at = 0");
    EXPECT_TRUE(test::eventually([&] { return status(site, id) == "Delivered"; }));
}

TEST_F(node_forward, a_row_of_plain_sql_is_delivered_like_any_other) {
    node site(options("site"));
    start(site);
    database(path("site"))
        .run(
            "INSERT INTO sf_messages (category, target, payload_json, origin_instance)"
            " VALUES (0, 'erp', '{\"from\":\"sql\"}', 'line 3')");
    ASSERT_TRUE(test::eventually([&] {
        return integer(site,
                       "SELECT count(*) FROM OperationTracking"
                       " WHERE Status = 'Delivered'") == 1;
    }));
    EXPECT_EQ(last_seen().payload, R"({"from":"sql"})");
    EXPECT_EQ(last_seen().origin_instance, "line 3");
}

TEST_F(node_forward, commits_with_the_transaction_or_not_at_all) {
    node site(options("site"));
    start(site);
    EXPECT_THROW(site.transact([](transaction& tx) {
        tx.forward("ExternalSystem", "erp", "{}");
        throw std::runtime_error("changed my mind");
    }),
                 std::runtime_error);
    EXPECT_EQ(integer(site, "SELECT count(*) FROM outbox_messages"), 0);
    const auto id =
        site.transact([](transaction& tx) { return tx.forward("ExternalSystem", "erp", "{}"); });
    EXPECT_TRUE(test::eventually([&] { return status(site, id) == "Delivered"; }));
    EXPECT_EQ(attempts_, 1);
}

TEST_F(node_forward, a_category_of_ones_own_gets_a_number_and_keeps_it) {
    for (int round = 0; round < 2; ++round) {
        node site(options("site"));
        site.forward_handler("Samples", [](const forward_message&) { return true; },
                             {.tracked = false, .max_retries = 7, .retry_interval = 5s});
        site.start();
        EXPECT_EQ(integer(site, "SELECT number FROM forward_categories WHERE name = 'Samples'"), 3);
        EXPECT_EQ(
            integer(site, "SELECT max_retries FROM forward_categories WHERE name = 'Samples'"), 7);
        const auto done = site.forward("Samples", "historian", "{}");
        EXPECT_FALSE(done.buffered);
        EXPECT_FALSE(site.tracking(done.id.to_string()));
    }
}

TEST_F(node_forward, an_observer_is_told_of_every_attempt_in_the_transaction_that_records_it) {
    node site(options("site"));
    execute(site,
            "CREATE TABLE told (outcome TEXT, retries INTEGER, error TEXT, channel TEXT,"
            " instance TEXT, execution TEXT, site TEXT)");
    site.on_forward_attempt([](transaction& tx, const forward_attempt& made) {
        tx.execute("INSERT INTO told VALUES (?, ?, ?, ?, ?, ?, ?)", made.outcome,
                   std::int64_t{made.retry_count}, made.last_error, made.channel,
                   made.source_instance, made.execution_id, made.source_site);
    });
    answer_with([this]() -> bool {
        if (attempts_ <= 2) throw std::runtime_error("no paper");
        return true;
    });
    site.forward_handler("Untold", [](const forward_message&) { return true; }, {.tracked = false});
    start(site);
    site.forward("Untold", "erp", "{}");
    const auto done = site.forward("ExternalSystem", "erp", "{}",
                                   {.origin_instance = "line 3", .execution_id = "e1"});
    ASSERT_TRUE(test::eventually([&] { return status(site, done.id) == "Delivered"; }));
    EXPECT_EQ(database(path("site"))
                  .lines("SELECT outcome || ' ' || retries || ' ' || error"
                         " FROM told ORDER BY rowid"),
              "TransientFailure 0 no paper\nTransientFailure 1 no paper\nDelivered 1 \n");
    EXPECT_EQ(text(site, "SELECT DISTINCT channel || instance || execution || site FROM told"),
              "ApiOutboundline 3e1$unknown-site");
}

TEST_F(node_forward, an_observer_that_throws_leaves_nothing_behind_and_changes_nothing) {
    node site(options("site"));
    execute(site, "CREATE TABLE told (outcome TEXT)");
    std::atomic<int> calls = 0;
    site.on_forward_attempt([&](transaction& tx, const forward_attempt& made) {
        tx.execute("INSERT INTO told VALUES (?)", made.outcome);
        ++calls;
        throw std::runtime_error("no room");
    });
    start(site);
    const auto done = site.forward("ExternalSystem", "erp", "{}");
    EXPECT_TRUE(done.accepted);
    EXPECT_FALSE(done.buffered);
    EXPECT_EQ(status(site, done.id), "Delivered");
    EXPECT_GE(calls, 1);
    EXPECT_EQ(attempts_, 1);
    EXPECT_EQ(integer(site, "SELECT count(*) FROM told"), 0);
}

TEST_F(node_forward, tells_what_happens_to_the_work_it_holds) {
    node site(options("site"));
    std::mutex mutex;
    std::vector<std::string> heard;
    site.on_forward_activity([&](const forward_activity& one) {
        const std::scoped_lock lock(mutex);
        heard.push_back(one.what);
        throw std::runtime_error("the log is full");  // Which changes nothing.
    });
    answer_with([]() -> bool { throw std::runtime_error("no paper"); });
    start(site, {.retry_interval = 300ms});
    const auto done = site.forward("ExternalSystem", "erp", "{}", {.max_retries = 1});
    ASSERT_TRUE(test::eventually([&] { return status(site, done.id) == "Parked"; }));
    answer_with([] { return true; });
    execute(site, "UPDATE sf_messages SET status = 0");
    ASSERT_TRUE(test::eventually([&] {
        const std::scoped_lock lock(mutex);
        return heard.size() == 5;
    }));
    EXPECT_THAT(heard,
                testing::UnorderedElementsAre("Retried", "Queued", "Parked", "Retry", "Delivered"));
    answer_with([] { return false; });
    const auto other =
        site.transact([](transaction& tx) { return tx.forward("ExternalSystem", "erp", "{}"); });
    ASSERT_TRUE(test::eventually([&] { return status(site, other) == "Parked"; }));
    execute(site, "DELETE FROM sf_messages WHERE status = 2");
    EXPECT_TRUE(test::eventually([&] {
        const std::scoped_lock lock(mutex);
        return std::ranges::count(heard, "Discard") == 1;
    }));
}

TEST_F(node_forward, is_tracked_as_delivered_when_its_caller_is_told_so) {
    node site(options("site"));
    start(site);
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(status(site, site.forward("ExternalSystem", "erp", "{}").id), "Delivered") << i;
}

TEST_F(node_forward, a_refusal_of_what_was_said_to_be_held_parks_it) {
    node site(options("site"));
    answer_with([this]() -> bool {
        if (attempts_ == 1) throw unreachable("no route to host");
        return false;
    });
    start(site);
    const auto held = site.forward("ExternalSystem", "erp", "{}");
    EXPECT_TRUE(held.buffered);
    execute(site, "UPDATE outbox_messages SET next_retry_at = 0");
    EXPECT_TRUE(test::eventually([&] { return status(site, held.id) == "Parked"; }));
    const auto in_transaction =
        site.transact([](transaction& tx) { return tx.forward("ExternalSystem", "crm", "{}"); });
    EXPECT_TRUE(test::eventually([&] { return status(site, in_transaction) == "Parked"; }))
        << "no caller waits to be told";
    EXPECT_EQ(integer(site, "SELECT count(*) FROM sf_messages WHERE status = 2"), 2);
}

TEST_F(node_forward, is_tried_again_after_its_interval_which_never_grows) {
    node site(options("site"));
    answer_with([]() -> bool { throw std::runtime_error("no paper"); });
    start(site, {.max_retries = 0, .retry_interval = 1h});
    const auto done = site.forward("ExternalSystem", "erp", "{}");
    for (int attempt = 1; attempt <= 4; ++attempt) {
        EXPECT_EQ(attempts_, attempt);
        EXPECT_EQ(integer(site, "SELECT next_retry_at - last_attempt_at FROM outbox_messages"),
                  std::chrono::milliseconds(1h).count());
        EXPECT_EQ(integer(site, "SELECT retry_count FROM sf_messages WHERE status = 0"),
                  attempt - 1);
        execute(site, "UPDATE outbox_messages SET next_retry_at = 0");  // Its time has come.
        EXPECT_TRUE(test::eventually(
            [&] { return integer(site, "SELECT retry_count FROM sf_messages") == attempt; }));
    }
    EXPECT_EQ(status(site, done.id), "Retrying");
}

TEST_F(node_forward, is_done_as_often_as_it_was_forwarded_but_an_id_is_taken_once) {
    node site(options("site"));
    start(site);
    const auto one = site.forward("ExternalSystem", "erp", "{}");
    const auto two = site.forward("ExternalSystem", "erp", "{}");
    EXPECT_NE(one.id, two.id);
    EXPECT_EQ(attempts_, 2) << "nothing is deduplicated";
    EXPECT_EQ(code_of([&] { site.forward("ExternalSystem", "erp", "{}", {.id = one.id}); }),
              error_code::duplicate_id);
    EXPECT_EQ(attempts_, 2);
}

TEST_F(node_forward, makes_ids_and_takes_them_with_hyphens_or_without) {
    node site(options("site"));
    start(site);
    const auto made = site.forward("ExternalSystem", "erp", "{}").id.to_string();
    EXPECT_THAT(made, testing::MatchesRegex("[0-9a-f-]{36}"));
    auto bare = made;
    std::erase(bare, '-');
    EXPECT_EQ(site.tracking(bare)->id, site.tracking(made)->id);
    const auto given = *uuid::parse("0123456789ABCDEF0123456789ABCDEF");
    EXPECT_EQ(site.forward("ExternalSystem", "erp", "{}", {.id = given}).id, given);
    EXPECT_EQ(site.tracking("01234567-89ab-cdef-0123-456789abcdef")->status, "Delivered");
}

TEST_F(node_forward, a_row_that_is_damaged_is_parked_alone_and_the_lane_goes_on) {
    uuid bad;
    {
        node site(options("site"));
        answer_with([]() -> bool { throw unreachable("no route to host"); });
        start(site);
        bad = site.forward("ExternalSystem", "erp", "{}").id;
    }
    database file(path("site"));
    file.run("PRAGMA ignore_check_constraints = ON");
    file.run("UPDATE outbox_messages SET payload = x'ff00ff', next_retry_at = 0");
    node site(options("site"));
    answer_with([] { return true; });
    start(site);
    const auto good = site.forward("ExternalSystem", "erp", "{}").id;
    EXPECT_TRUE(test::eventually([&] { return status(site, bad) == "Parked"; }));
    EXPECT_FALSE(site.tracking(bad.to_string())->last_error.empty());
    EXPECT_TRUE(test::eventually([&] { return status(site, good) == "Delivered"; }));
    EXPECT_EQ(integer(site, "SELECT count(*) FROM sf_messages WHERE status = 2"), 1);
}

TEST_F(node_forward, is_tried_once_at_a_time_and_stopping_waits_for_that) {
    std::promise<void> goes_on;
    const auto gate = goes_on.get_future().share();
    uuid id;
    {
        node site(options("site"));
        std::atomic<int> slow = 0;
        site.forward_handler("ExternalSystem", [&, gate](const forward_message& work) {
            if (work.target == "erp") {
                ++slow;
                gate.wait();
            }
            return true;
        });
        site.start();
        id = site.transact(
            [](transaction& tx) { return tx.forward("ExternalSystem", "erp", "{}"); });
        ASSERT_TRUE(test::eventually([&] { return slow == 1; }));
        execute(site, "UPDATE outbox_messages SET next_retry_at = 0");
        EXPECT_FALSE(site.forward("ExternalSystem", "crm", "{}").buffered) << "it is not held up";
        EXPECT_EQ(slow, 1);
        auto stopped = std::async(std::launch::async, [&] { site.stop(); });
        goes_on.set_value();
        stopped.get();
    }
    EXPECT_EQ(database(path("site"))
                  .text("SELECT Status FROM OperationTracking WHERE TrackedOperationId = '" +
                        id.to_string() + "'"),
              "Delivered");
}

TEST_F(node_forward, what_ends_after_its_time_is_late_and_its_work_is_done_again_uncharged) {
    std::promise<void> goes_on;
    const auto gate = goes_on.get_future().share();
    std::atomic<int> late = 0;
    node site(options("site"));
    site.on_forward_activity([&](const forward_activity& one) { late += one.what == "Late"; });
    answer_with([this, gate] {
        if (attempts_ == 1) gate.wait();
        return true;
    });
    start(site, {.retry_interval = 1ms, .timeout = 20ms});
    const auto id =
        site.transact([](transaction& tx) { return tx.forward("ExternalSystem", "erp", "{}"); });
    EXPECT_TRUE(test::eventually([&] { return status(site, id) == "Delivered"; }));
    EXPECT_EQ(site.tracking(id.to_string())->retry_count, 0);
    EXPECT_EQ(late, 0);
    goes_on.set_value();
    EXPECT_TRUE(test::eventually([&] { return late == 1; }));
    EXPECT_EQ(status(site, id), "Delivered");
}

TEST_F(node_forward, tells_the_observer_all_that_is_known_of_an_attempt) {
    node site(options("site"));
    std::mutex mutex;
    std::vector<forward_attempt> told;
    site.on_forward_attempt([&](transaction&, const forward_attempt& made) {
        const std::scoped_lock lock(mutex);
        told.push_back(made);
    });
    site.forward_handler("CachedDbWrite",
                         [](const forward_message&) -> bool { throw std::runtime_error("locked"); },
                         {.retry_interval = 1ms});
    answer_with([] { return false; });
    start(site);
    const auto refused = site.forward("ExternalSystem", "erp", "{}");
    const auto spent = site.forward("CachedDbWrite", "plant.db", "{}",
                                    {.max_retries = 1,
                                     .attempt_now = false,
                                     .origin_instance = "press",
                                     .execution_id = "e1",
                                     .source_script = "ship.lua",
                                     .parent_execution_id = "e0"});
    ASSERT_TRUE(test::eventually([&] { return status(site, spent.id) == "Parked"; }));
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0].id, refused.id);
    EXPECT_EQ(told[0].outcome, "PermanentFailure");
    EXPECT_EQ(told[0].channel, "ApiOutbound");
    const auto& last = told[1];
    EXPECT_EQ(last.id, spent.id);
    EXPECT_EQ(last.outcome, "ParkedMaxRetries");
    EXPECT_EQ(last.channel, "DbOutbound");
    EXPECT_EQ(last.category, "CachedDbWrite");
    EXPECT_EQ(last.target, "plant.db");
    EXPECT_EQ(last.source_site, "$unknown-site");
    EXPECT_EQ(last.retry_count, 1);
    EXPECT_EQ(last.last_error, "locked");
    EXPECT_FALSE(last.http_status);
    EXPECT_EQ(to_iso8601(last.created_at), site.tracking(spent.id.to_string())->created_at);
    EXPECT_GE(last.occurred_at, last.created_at);
    EXPECT_GE(last.duration, 0ms);
    EXPECT_EQ(last.source_instance, "press");
    EXPECT_EQ(last.execution_id, "e1");
    EXPECT_EQ(last.source_script, "ship.lua");
    EXPECT_EQ(last.parent_execution_id, "e0");
    EXPECT_EQ(integer(site, "SELECT count(*) FROM forward_audit"), 2) << "and each is written down";
}

TEST_F(node_forward, a_number_that_is_too_large_for_a_category_is_a_large_one) {
    node site(options("site"));
    start(site);
    execute(site, "UPDATE forward_categories SET max_retries = 4294967296");
    EXPECT_FALSE(site.forward("ExternalSystem", "erp", "{}").buffered);
    EXPECT_EQ(integer(site, "SELECT max_retries FROM outbox_messages"), 2147483646);
}

TEST_F(node_forward, refuses_what_makes_no_sense) {
    node site(options("site"));
    EXPECT_EQ(code_of([&] { site.forward_handler("a/b", [](const auto&) { return true; }); }),
              error_code::invalid_argument);
    start(site);
    EXPECT_EQ(code_of([&] { site.forward("ExternalSystem", std::string(65'536, 'x'), "{}"); }),
              error_code::invalid_argument);
    EXPECT_EQ(code_of([&] { site.forward("Unheard", "erp", "{}"); }), error_code::invalid_argument);
    EXPECT_EQ(code_of([&] { site.forward("ExternalSystem", "erp", "not json"); }),
              error_code::invalid_payload);
    EXPECT_EQ(code_of([&] { site.forward("ExternalSystem", "erp", "{}", {.max_retries = -1}); }),
              error_code::invalid_argument);
    EXPECT_EQ(code_of([&] { static_cast<void>(site.tracking("17")); }),
              error_code::invalid_argument);
    execute(site, "UPDATE forward_categories SET max_retries = -7 WHERE name = 'CachedDbWrite'");
    EXPECT_EQ(code_of([&] { site.forward("CachedDbWrite", "plant.db", "{}"); }),
              error_code::invalid_argument);
    EXPECT_EQ(integer(site, "SELECT count(*) FROM outbox_messages"), 0);
    EXPECT_EQ(attempts_, 0);
}

}  // namespace
}  // namespace posthorn::integration
