// The queue of a service on PostgreSQL, from which several take at a time.
#include "queue/queue.hpp"

#include <functional>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "postgres/node.hpp"
#include "queue/queue_view.hpp"
#include "support/queue_page.hpp"
#include "support/row_fuzz.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

class postgres_queue : public on_postgres {
protected:
    void put(int count, const std::string& order_key) {
        EXPECT_EQ(
            test::postgres_client(place_.url())
                .run(fmt::format(
                    "INSERT INTO posthorn_queue (message_id, source, endpoint, message_type,"
                    " order_key, payload, content_type, received_at) SELECT i::text, 'orders',"
                    " 'Ship', 'Signal', {}, '{{}}', 'application/json', 0"
                    " FROM generate_series(1, {}) AS i",
                    order_key, count)),
            std::nullopt);
    }
    static std::vector<queued_message> take(a_store& from, std::string owner, std::int64_t limit) {
        std::vector<queued_message> taken;
        EXPECT_TRUE(succeeded(from.run([&](store_transaction& tx) -> result<> {
            auto given = take_queued(
                tx, {.endpoint = "Ship", .owner = owner, .limit = limit, .lease = 60s}, noon);
            if (!given) return std::unexpected(given.error());
            taken = std::move(given->messages);
            return {};
        })));
        return taken;
    }

    /// Work in a transaction of the first store; a failure fails the test.
    template <class T>
    T in_unit(const std::function<result<T>(store_transaction&)>& work) {
        T answer{};
        EXPECT_TRUE(succeeded(first_.run([&](store_transaction& tx) -> result<> {
            auto done = work(tx);
            if (!done) return std::unexpected(done.error());
            answer = *std::move(done);
            return {};
        })));
        return answer;
    }
    std::vector<queue_numbers> look() {
        std::vector<queue_numbers> seen;
        EXPECT_TRUE(succeeded(first_.get().read([&](store_reader& from) -> result<> {
            POSTHORN_LET(found, look_at_queues(from, {"Ship"}, noon));
            seen = std::move(found);
            return {};
        })));
        return seen;
    }
    void put_command(const std::string& correlation_id) {
        run("INSERT INTO posthorn_queue (message_id, source, endpoint, message_type,"
            " correlation_id, payload, content_type, received_at) VALUES"
            " ('0199a0b1-0000-7000-8000-000000000001', 'shop', 'Ship', 'Command', " +
            correlation_id + ", '{}', 'application/json', 0)");
    }
    void run(const std::string& sql) {
        EXPECT_EQ(test::postgres_client(place_.url()).run(sql), std::nullopt) << sql;
    }
    std::vector<test::postgres_client::row> responses() {
        return test::postgres_client(place_.url())
            .rows(
                "SELECT destination, endpoint, correlation_id, payload, content_type FROM"
                " outbox_messages WHERE message_type = 'Response' ORDER BY seq");
    }

    seeded_random random_{42};
    real_clock clock_;
    uuid_generator ids_{[this] { return clock_.wall(); }, random_};
    message_maker maker_{{.source = "orders"}, clock_, ids_};
    a_store first_{place_, "orders", {queue_tables()}};
    a_store second_{place_, "orders", {queue_tables()}};
};

TEST_F(postgres_queue, gives_each_message_to_one_of_two_that_take_at_the_same_time) {
    put(300, "NULL");
    std::vector<queued_message> theirs;
    std::jthread other([&] {
        for (int i = 0; i < 15; ++i)
            for (auto& one : take(second_, "w2", 10)) theirs.push_back(std::move(one));
    });
    std::multiset<std::int64_t> seqs;
    for (int i = 0; i < 15; ++i)
        for (const auto& one : take(first_, "w1", 10)) seqs.insert(one.seq);
    other.join();
    for (const auto& one : theirs) seqs.insert(one.seq);
    EXPECT_EQ(seqs.size(), 300U);
    EXPECT_EQ(std::set(seqs.begin(), seqs.end()).size(), 300U);
}

TEST_F(postgres_queue, gives_messages_of_one_order_key_to_one_at_a_time) {
    put(3, "'k'");
    const auto ours = take(first_, "w1", 1);
    ASSERT_EQ(ours.size(), 1U);
    EXPECT_TRUE(take(second_, "w2", 10).empty());
    EXPECT_TRUE(succeeded(first_.run([&](store_transaction& tx) -> result<> {
        const auto gone = acknowledge_queued(tx, maker_, {{ours[0].seq}, "w1"});
        if (!gone) return std::unexpected(gone.error());
        EXPECT_EQ(*gone, 1);
        return {};
    })));
    EXPECT_EQ(take(second_, "w2", 10).size(), 2U);
}

TEST_F(postgres_queue, keeps_order_keys_for_workers_with_the_sql_of_the_page) {
    put(3, "'k'");
    put(1, "NULL");
    const auto ask = [&](test::postgres_client& worker, std::string_view name) {
        auto sql = test::taking_sql(POSTHORN_SOURCE, "WITH taken AS", name, 1000);
        for (auto at = sql.find("outbox."); at != sql.npos; at = sql.find("outbox."))
            sql.erase(at, 7);
        std::vector<std::string> seqs;
        for (const auto& row : worker.rows(sql)) seqs.push_back(row.at(0).value_or("none"));
        return seqs;
    };
    using seqs = std::vector<std::string>;
    test::postgres_client a(place_.url()), b(place_.url()), c(place_.url());
    EXPECT_EQ(a.run("BEGIN"), std::nullopt);  // B asks before A's take is committed.
    EXPECT_EQ(ask(a, "a"), (seqs{"1", "4"})) << "one of the key, sorted";
    EXPECT_EQ(ask(b, "b"), seqs{});
    EXPECT_EQ(a.run("COMMIT"), std::nullopt);
    EXPECT_EQ(ask(c, "c"), seqs{});
    EXPECT_EQ(a.run("BEGIN; DELETE FROM posthorn_queue WHERE seq = 1 AND taken_by = 'a'"),
              std::nullopt);
    EXPECT_EQ(ask(b, "b"), seqs{}) << "it is not finished yet";
    EXPECT_EQ(a.run("COMMIT"), std::nullopt);
    EXPECT_EQ(ask(b, "b"), seqs{"2"});
    run("UPDATE posthorn_queue SET given_up_at = 1000, taken_until = 9223372036854775807"
        " WHERE seq = 2");
    EXPECT_EQ(ask(c, "c"), seqs{}) << "what was given up holds back";
}

TEST_F(postgres_queue, gives_rows_of_every_type_and_extreme_and_those_beside_them) {
    test::row_fuzz rows(20'261'117, test::row_fuzz::database::postgres);
    test::postgres_client outsider(place_.url());
    int accepted = 0;
    for (int i = 0; i < 300; ++i) accepted += outsider.run(rows.queue_row("Ship")) ? 0 : 1;
    EXPECT_GT(accepted, 0);
    EXPECT_LT(accepted, 300);
    put(1, "NULL");
    std::vector<std::int64_t> seqs;
    for (auto taken = take(first_, "first", 10); !taken.empty();
         taken = take(first_, "first", 10)) {
        seqs.clear();
        for (const auto& one : taken) seqs.push_back(one.seq);
        EXPECT_TRUE(succeeded(first_.run([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(acknowledge_queued(tx, maker_, {.seqs = seqs, .owner = "first"}));
            return {};
        })));
    }
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_queue"), 0);
}

TEST_F(postgres_queue, gives_up_what_fails_every_time_and_an_operator_lets_it_be_tried_again) {
    const queue_rules rules{.attempts_max = 2};
    put(1, "NULL");
    for (int i = 0; i < 2; ++i) {
        const auto taken = take(first_, "w1", 1);
        ASSERT_EQ(taken.size(), 1U);
        const auto released = in_unit<queue_released>([&](store_transaction& tx) {
            return release_queued(tx, {{taken[0].seq}, "w1"},
                                  {.delay = 0ms, .error = "no such sku"}, rules, noon);
        });
        EXPECT_EQ(released.count, 1);
        EXPECT_EQ(released.given_up.size(), i == 1 ? 1U : 0U);
    }
    EXPECT_TRUE(take(second_, "w2", 1).empty());
    std::vector<queue_job> jobs;
    EXPECT_TRUE(succeeded(first_.get().read([&](store_reader& from) -> result<> {
        POSTHORN_LET(found,
                     list_jobs(from, {.endpoint = "Ship", .state = job_state::given_up}, noon));
        jobs = std::move(found);
        return {};
    })));
    ASSERT_EQ(jobs.size(), 1U);
    EXPECT_EQ(look().at(0), (queue_numbers{.endpoint = "Ship",
                                           .given_up = 1,
                                           .first_given_up = noted_job{jobs[0].seq, noon}}));
    EXPECT_EQ(jobs[0].error, "no such sku");
    EXPECT_EQ(jobs[0].attempts, 2);
    EXPECT_EQ(
        in_unit<std::int64_t>([](store_transaction& tx) { return retry_given_up(tx, "Ship"); }), 1);
    EXPECT_EQ(look().at(0),
              (queue_numbers{.endpoint = "Ship", .waiting = 1, .oldest_waiting = wall_time{}}));
    EXPECT_EQ(take(second_, "w2", 1).at(0).attempts, 1);
    EXPECT_EQ(look().at(0),
              (queue_numbers{.endpoint = "Ship", .taken = 1, .workers = 1, .attempts_max = 1}));
}

TEST_F(postgres_queue, names_the_job_behind_which_others_of_its_order_key_wait) {
    put(1, "'a'");
    put(1, "'a'");
    put(1, "'b'");
    ASSERT_EQ(take(first_, "w1", 1).size(), 1U);
    in_unit<queue_released>([&](store_transaction& tx) {
        return release_queued(tx, {{1}, "w1"}, {.gives_up = true}, {}, noon);
    });
    EXPECT_EQ(look().at(0).parked, 1);
    std::vector<queue_job> jobs;
    EXPECT_TRUE(succeeded(first_.get().read([&](store_reader& from) -> result<> {
        POSTHORN_LET(found, list_jobs(from, {.state = job_state::waiting}, noon));
        jobs = std::move(found);
        return {};
    })));
    ASSERT_EQ(jobs.size(), 2U);
    ASSERT_TRUE(jobs[0].waits_behind);
    EXPECT_EQ(jobs[0].waits_behind->seq, 1);
    EXPECT_FALSE(jobs[1].waits_behind);
}

TEST_F(postgres_queue, gives_up_what_its_workers_leave_lying) {
    put(1, "NULL");
    ASSERT_EQ(take(first_, "w1", 1).size(), 1U);
    const auto spent = [&](wall_time now) {
        return in_unit<std::vector<given_up_job>>(
            [&](store_transaction& tx) { return give_up_spent(tx, {.attempts_max = 1}, now); });
    };
    EXPECT_TRUE(spent(noon + 59s).empty());
    ASSERT_EQ(spent(noon + 60s).size(), 1U);
    EXPECT_TRUE(spent(noon + 60s).empty());
}

TEST_F(postgres_queue, answers_a_command_however_it_is_finished) {
    put_command("'c1'");
    put_command("NULL");
    put_command("'c3'");
    put_command("'c4'");
    ASSERT_EQ(take(first_, "w1", 1).size(), 1U);
    EXPECT_EQ(in_unit<std::int64_t>([&](store_transaction& tx) {
                  return acknowledge_queued(tx, maker_, {{1}, "w1"}, R"({"ok":true})");
              }),
              1);
    run("DELETE FROM posthorn_queue WHERE seq = 2");
    run(R"(UPDATE posthorn_queue SET response = '{"ok":1}' WHERE seq = 3)");
    run("DELETE FROM posthorn_queue WHERE seq = 3");
    run("UPDATE posthorn_queue SET response = 'no' WHERE seq = 4");
    run("DELETE FROM posthorn_queue WHERE seq = 4");
    put(1, "NULL");
    run("DELETE FROM posthorn_queue");
    using rows = std::vector<test::postgres_client::row>;
    EXPECT_EQ(
        responses(),
        (rows{{"shop", "Ship", "c1", R"({"ok":true})", "application/json"},
              {"shop", "Ship", "0199a0b1-0000-7000-8000-000000000001", "null", "application/json"},
              {"shop", "Ship", "c3", R"({"ok":1})", "application/json"},
              {"shop", "Ship", "c4", "no", "text/plain"}}));
}

TEST(postgres_queue_of_before, keeps_its_jobs_when_its_table_is_brought_up_to_date) {
    const test::postgres_place place;
    auto before = queue_tables();
    before.postgres.steps = before.postgres.steps.first(1);
    {
        const a_store older{place, "orders", {before}};
    }
    EXPECT_EQ(test::postgres_client(place.url())
                  .run("INSERT INTO posthorn_queue (message_id, source, endpoint, message_type,"
                       " payload, content_type, received_at, taken_by, attempts) VALUES ('i',"
                       " 'shop', 'Ship', 'Command', '{}', 'application/json', 0, 'w1', 1)"),
              std::nullopt);
    const a_store newer{place, "orders", {queue_tables()}};
    EXPECT_EQ(test::postgres_client(place.url()).run("DELETE FROM posthorn_queue"), std::nullopt);
    EXPECT_EQ(test::postgres_client(place.url())
                  .rows("SELECT correlation_id FROM outbox_messages WHERE payload = 'null'")
                  .at(0)
                  .at(0),
              "i");
}

}  // namespace
}  // namespace posthorn::conformance
