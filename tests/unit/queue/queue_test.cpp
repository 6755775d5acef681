#include "queue/queue.hpp"

#include <gmock/gmock.h>

#include "support/queue_page.hpp"
#include "support/row_fuzz.hpp"
#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"
#include "unit/inbox/inbox_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

class queue : public inbox_fixture {
protected:
    queue() {
        handle("Ship", {.run = make_queue_handler(loop.time()),
                        .takes_responses = false,
                        .answers_later = true});
    }

    message send(std::string payload, std::string order_key = "") {
        auto one = from_orders("Ship", std::move(payload));
        one.order_key = std::move(order_key);
        EXPECT_EQ(receive(one).what, outcome::delivered);
        return one;
    }
    message command(std::string correlation_id = "") {
        auto one = from_orders("Ship", "{}");
        one.type = message_type::command;
        one.correlation_id = std::move(correlation_id);
        EXPECT_EQ(receive(one).what, outcome::delivered);
        return one;
    }
    queue_taken take(const queue_take& asked) {
        return in_unit<queue_taken>([&](store_transaction& tx) -> result<queue_taken> {
            POSTHORN_TRY(give_up_spent(tx, rules, loop.time().wall()));
            return take_queued(tx, asked, loop.time().wall());
        });
    }
    std::vector<queued_message> take(std::string owner, std::int64_t limit = 10) {
        return take(queue_take{.endpoint = "Ship", .owner = std::move(owner), .limit = limit})
            .messages;
    }
    std::int64_t acknowledge(const queued_message& one, std::string owner,
                             std::string_view response = "") {
        return in_unit<std::int64_t>([&](store_transaction& tx) {
            return acknowledge_queued(tx, maker, {{one.seq}, std::move(owner)}, response);
        });
    }
    std::int64_t release(const queued_message& one, std::string owner,
                         queue_release how = {.delay = 0ms}) {
        return in_unit<queue_released>([&](store_transaction& tx) {
                   return release_queued(tx, {{one.seq}, std::move(owner)}, how, rules,
                                         loop.time().wall());
               })
            .count;
    }
    /// Its error's code, if it is refused.
    std::optional<error_code> refused(const std::function<result<>(store_transaction&)>& work) {
        const auto done = loop.run(commit(database(), work));
        return done ? std::nullopt : std::optional(done.error().code());
    }
    std::optional<error_code> retry(std::int64_t seq) {
        return refused(
            [&](store_transaction& tx) { return retry_queued(tx, seq, loop.time().wall()); });
    }
    std::optional<error_code> finish(std::int64_t seq, std::string_view response = "") {
        return refused([&](store_transaction& tx) {
            return finish_queued(tx, maker, seq, response, loop.time().wall());
        });
    }
    std::int64_t length() { return number("SELECT count(*) FROM posthorn_queue"); }
    std::int64_t given_up(const std::string& error) {
        return number(
            "SELECT count(*) FROM posthorn_queue WHERE given_up_at IS NOT NULL AND error"
            " = '" +
            error + "'");
    }
    std::int64_t responses(const std::string& correlation_id, const std::string& payload,
                           const std::string& content_type = "application/json") {
        return number(
            "SELECT count(*) FROM outbox_messages WHERE message_type = 'Response' AND "
            "destination = 'orders' AND endpoint = 'Ship' AND correlation_id = '" +
            correlation_id + "' AND payload = '" + payload + "' AND content_type = '" +
            content_type + "'");
    }

    /// What a worker gets by the statement of the page.
    std::vector<std::string> take_by_sql(std::string_view owner) {
        const auto sql = test::taking_sql(POSTHORN_SOURCE, "UPDATE posthorn_queue", owner,
                                          loop.time().wall().time_since_epoch().count());
        return in_unit<std::vector<std::string>>(
            [&](store_transaction& tx) -> result<std::vector<std::string>> {
                std::vector<std::string> payloads;
                POSTHORN_TRY(tx.query(
                    sql, {}, [&](const sql_row& row) { payloads.emplace_back(row.text(4)); }));
                return payloads;
            });
    }
    void execute(std::string sql) {
        in_unit<std::int64_t>([&](store_transaction& tx) { return tx.execute(sql, {}); });
    }

    queue_rules rules{};

private:
    template <class T>
    T in_unit(const std::function<result<T>(store_transaction&)>& work) {
        T answer{};
        EXPECT_TRUE(loop.run(commit(database(), [&](store_transaction& tx) -> result<> {
            auto done = work(tx);
            if (!done) return std::unexpected(done.error());
            answer = *std::move(done);
            return {};
        })));
        return answer;
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

TEST_F(queue, lets_a_message_wait_that_a_trigger_does_not_let_in) {
    change("CREATE TRIGGER hush BEFORE INSERT ON posthorn_queue BEGIN SELECT RAISE(IGNORE); END");
    const auto one = from_orders("Ship", "1");
    const auto answer = receive(one);
    EXPECT_EQ(answer.what, outcome::throttled);
    EXPECT_EQ(answer.code, error_code::store_busy) << "a queue does not answer, so it is not asked";
    EXPECT_THAT(answer.error, testing::HasSubstr("left posthorn_queue as it was"));
    change("DROP TRIGGER hush");
    EXPECT_EQ(receive(one).what, outcome::delivered);
}

TEST_F(queue, ends_a_command_without_a_source_though_none_can_be_answered) {
    command();
    change(
        "INSERT INTO posthorn_queue (message_id, source, endpoint, message_type, payload,"
        " content_type, received_at) VALUES ('i', '', 'Ship', 'Command', '1',"
        " 'application/json', 0)");
    const auto taken = take("w1");
    ASSERT_EQ(taken.size(), 2U);
    for (const auto& each : taken) EXPECT_EQ(acknowledge(each, "w1", "1"), 1);
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_queue"), 0);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), 1) << "one Response";
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

TEST_F(queue, keeps_order_keys_for_workers_with_the_sql_of_the_page) {
    for (const auto* payload : {"1", "2", "3"}) send(payload, "k");
    send("4");
    using payloads = std::vector<std::string>;
    EXPECT_EQ(take_by_sql("a"), (payloads{"1", "4"})) << "one of the key";
    EXPECT_EQ(take_by_sql("b"), payloads{});
    EXPECT_EQ(take_by_sql("c"), payloads{});
    execute("DELETE FROM posthorn_queue WHERE payload = '1' AND taken_by = 'a'");
    EXPECT_EQ(take_by_sql("b"), payloads{"2"});
    EXPECT_EQ(take_by_sql("c"), payloads{});
    execute(
        "UPDATE posthorn_queue SET given_up_at = 1, taken_until = 9223372036854775807"
        " WHERE payload = '2'");
    EXPECT_EQ(take_by_sql("c"), payloads{}) << "what was given up holds back";
}

TEST_F(queue, gives_rows_of_every_type_and_extreme_and_those_beside_them) {
    test::row_fuzz rows(20'261'117, test::row_fuzz::database::sqlite);
    rules.attempts_max = 0;
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

TEST_F(queue, gives_no_more_bytes_at_once_than_it_may_and_always_one_job) {
    for (int i = 0; i < 4; ++i) send("\"aaaaaaaa\"");  // With ids and names, 74 bytes.
    const queue_take asked{.endpoint = "Ship", .owner = "w1", .limit = 10, .octets_max = 1};
    EXPECT_EQ(take(asked).messages.size(), 1U);
    auto more = asked;
    more.octets_max = 170;
    EXPECT_EQ(take(more).messages.size(), 2U);
}

TEST_F(queue, gives_up_what_is_too_large_for_any_worker_and_gives_the_rest) {
    send("1", "k");
    change(  // To length() it has one character.
        "INSERT INTO posthorn_queue (message_id, source, endpoint, message_type, order_key, "
        "payload,"
        " content_type, received_at) VALUES ('large', 'orders', 'Ship', 'Signal', 'k',"
        " 'x' || char(0) || CAST(zeroblob(2000) AS TEXT), 'text/plain', 0)");
    send("2", "k");
    send("3");
    const queue_take asked{.endpoint = "Ship", .owner = "w1", .limit = 10, .job_octets_max = 1'000};
    const auto taken = take(asked);
    ASSERT_EQ(taken.messages.size(), 2U);
    EXPECT_EQ(taken.messages[0].payload, "1");
    EXPECT_EQ(taken.messages[1].payload, "3") << "the one behind it keeps its order";
    ASSERT_EQ(taken.given_up.size(), 1U);
    EXPECT_EQ(taken.given_up[0].message_id, "large");
    EXPECT_THAT(taken.given_up[0].error, testing::StartsWith("it has 2"));
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_queue WHERE given_up_at IS NOT NULL"), 1);
}

TEST_F(queue, says_so_where_a_trigger_does_not_let_a_finished_job_go) {
    command();
    send("1");
    const auto taken = take("w1");
    ASSERT_EQ(taken.size(), 2U);
    change("CREATE TRIGGER hush BEFORE DELETE ON posthorn_queue BEGIN SELECT RAISE(IGNORE); END");
    for (const auto& each : taken)
        EXPECT_EQ(refused([&](store_transaction& tx) -> result<> {
                      POSTHORN_TRY(acknowledge_queued(tx, maker, {{each.seq}, "w1"}, "1"));
                      return {};
                  }),
                  error_code::statement_failed);
    EXPECT_EQ(outbox_rows(), 0) << "it was not done, so it was not answered";
    change("DROP TRIGGER hush");
    for (const auto& each : taken) EXPECT_EQ(acknowledge(each, "w1", "1"), 1);
    EXPECT_EQ(outbox_rows(), 1);
    EXPECT_EQ(length(), 0);
}

TEST_F(queue, an_operator_frees_what_is_held_for_longer_than_a_worker_may) {
    send("1");
    const auto until = loop.time().wall() + std::chrono::hours{24 * 3650};
    change("UPDATE posthorn_queue SET attempts = 1, taken_by = 'w1', taken_until = " +
           std::to_string(until.time_since_epoch().count()));
    EXPECT_TRUE(take("w2").empty());
    EXPECT_EQ(retry(1), std::nullopt);
    EXPECT_EQ(take("w2").size(), 1U);
    EXPECT_EQ(retry(1), error_code::state_changed) << "this one is at work";
}

TEST_F(queue, puts_off_what_fails_for_longer_and_longer) {
    EXPECT_EQ(pause_after(1), 1s);
    EXPECT_EQ(pause_after(2), 2s);
    EXPECT_EQ(pause_after(9), 256s);
    EXPECT_EQ(pause_after(10), 5min);
    EXPECT_EQ(pause_after(1'000'000), 5min);

    send("1");
    release(take("w1").at(0), "w1", {});
    EXPECT_TRUE(take("w1").empty());
    loop.run(loop.time().sleep_for(1s));
    release(take("w1").at(0), "w1", {});
    loop.run(loop.time().sleep_for(1s));
    EXPECT_TRUE(take("w1").empty());
    loop.run(loop.time().sleep_for(1s));
    EXPECT_EQ(take("w1").at(0).attempts, 3);
}

TEST_F(queue, gives_up_a_job_that_fails_every_time_and_keeps_it_with_its_reason) {
    rules.attempts_max = 3;
    send("poison");
    for (int i = 1; i <= 3; ++i) {
        EXPECT_EQ(given_up("no such sku"), 0);
        EXPECT_EQ(release(take("w1").at(0), "w1", {.delay = 0ms, .error = "no such sku"}), 1);
    }
    EXPECT_TRUE(take("w1").empty());
    loop.run(loop.time().sleep_for(std::chrono::hours{1000}));
    EXPECT_TRUE(take("w1").empty());
    EXPECT_EQ(given_up("no such sku"), 1);
}

TEST_F(queue, gives_up_a_job_whose_workers_die_every_time) {
    rules.attempts_max = 2;
    send("poison");
    const auto first = take("w1");
    loop.run(loop.time().sleep_for(60s));
    const auto last = take("w2");
    ASSERT_EQ(last.size(), 1U);
    EXPECT_TRUE(take("w3").empty());
    EXPECT_EQ(given_up("no worker finished it in its time"), 0);  // Its last worker is at it.
    loop.run(loop.time().sleep_for(60s));
    EXPECT_TRUE(take("w3").empty());
    EXPECT_EQ(given_up("no worker finished it in its time"), 1);
    // Its last worker was slow, not dead: what is done is done.
    EXPECT_EQ(acknowledge(last[0], "w2"), 1);
    EXPECT_EQ(length(), 0);
}

TEST_F(queue, gives_up_at_once_what_a_worker_says_is_hopeless) {
    send("1");
    EXPECT_EQ(release(take("w1").at(0), "w1", {.error = "not a parcel", .gives_up = true}), 1);
    EXPECT_EQ(given_up("not a parcel"), 1);
}

TEST_F(queue, never_gives_up_if_it_is_told_so) {
    rules.attempts_max = 0;
    send("1");
    for (int i = 1; i <= 100; ++i) release(take("w1").at(0), "w1");
    EXPECT_EQ(take("w1").at(0).attempts, 101);
}

TEST_F(queue, statements_that_do_not_know_of_it_do_not_take_what_was_given_up) {
    send("1");
    release(take("w1").at(0), "w1", {.error = "why", .gives_up = true});
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_queue WHERE endpoint = 'Ship' AND taken_until"
                     " <= 4102444800000"),
              0);
}

TEST_F(queue, one_that_was_given_up_holds_back_the_later_ones_of_its_order_key_alone) {
    send("1", "k");
    send("2", "k");
    send("3", "other");
    const auto first = take("w1", 1);
    release(first[0], "w1", {.error = "why", .gives_up = true});
    EXPECT_EQ(take("w2").at(0).payload, "3");
    EXPECT_TRUE(take("w2").empty());
    EXPECT_EQ(retry(first[0].seq), std::nullopt);
    const auto rest = take("w2");
    ASSERT_EQ(rest.size(), 2U);
    EXPECT_EQ(rest[0].payload, "1");
    EXPECT_EQ(rest[0].attempts, 1);  // With all its attempts.
}

TEST_F(queue, an_earlier_one_of_a_key_does_not_wait_for_a_later_one_that_was_given_up) {
    send("1", "k");
    send("2", "k");
    const auto both = take("w1");
    release(both[1], "w1", {.error = "why", .gives_up = true});
    release(both[0], "w1");
    EXPECT_EQ(take("w2").at(0).payload, "1");
}

TEST_F(queue, an_operator_cannot_change_what_a_worker_is_at) {
    send("1");
    const auto taken = take("w1");
    EXPECT_EQ(retry(taken[0].seq), error_code::state_changed);
    EXPECT_EQ(finish(taken[0].seq), error_code::state_changed);
    EXPECT_EQ(retry(4711), error_code::not_found);
    loop.run(loop.time().sleep_for(60s));
    EXPECT_EQ(finish(taken[0].seq), std::nullopt);
    EXPECT_EQ(length(), 0);
}

TEST_F(queue, a_command_is_answered_when_it_is_finished_and_not_before) {
    const auto one = command();
    EXPECT_EQ(outbox_rows(), 0);
    const auto taken = take("w1");
    EXPECT_EQ(acknowledge(taken[0], "w2", "{}"), 0);  // Not its own, so it answers nothing.
    EXPECT_EQ(outbox_rows(), 0);
    EXPECT_EQ(acknowledge(taken[0], "w1", R"({"shipped":true})"), 1);
    EXPECT_EQ(responses(one.id.to_string(), R"({"shipped":true})"), 1);
    EXPECT_EQ(acknowledge(taken[0], "w1", "{}"), 0);
    EXPECT_EQ(outbox_rows(), 1);
}

TEST_F(queue, a_command_that_is_finished_without_a_word_is_answered_with_null) {
    const auto one = command("file 7");
    EXPECT_EQ(acknowledge(take("w1").at(0), "w1"), 1);
    EXPECT_EQ(responses("file 7", "null"), 1);
    command("file 8");
    EXPECT_EQ(finish(take("w1").at(0).seq), error_code::state_changed);
    loop.run(loop.time().sleep_for(60s));
    EXPECT_EQ(finish(2, "lost at sea"), std::nullopt);
    EXPECT_EQ(responses("file 8", "lost at sea", "text/plain"), 1);
    EXPECT_EQ(outbox_rows(), 2);
}

TEST_F(queue, a_signal_is_not_answered) {
    send("1");
    EXPECT_EQ(acknowledge(take("w1").at(0), "w1", "{}"), 1);
    EXPECT_EQ(outbox_rows(), 0);
}

TEST_F(queue, a_command_that_a_worker_deletes_with_its_own_sql_is_answered_too) {
    const auto first = command();
    command("file 7");
    command("file 8");
    change("DELETE FROM posthorn_queue WHERE seq = 1");
    EXPECT_EQ(responses(first.id.to_string(), "null"), 1);
    change(R"(UPDATE posthorn_queue SET response = '{"shipped":true}' WHERE seq = 2)");
    change("DELETE FROM posthorn_queue WHERE seq = 2");
    EXPECT_EQ(responses("file 7", R"({"shipped":true})"), 1);
    change("UPDATE posthorn_queue SET response = 'no' WHERE seq = 3");
    change("DELETE FROM posthorn_queue WHERE seq = 3");
    EXPECT_EQ(responses("file 8", "no", "text/plain"), 1);
    send("a Signal");
    change("DELETE FROM posthorn_queue");
    EXPECT_EQ(outbox_rows(), 3);
}

TEST(queue_of_before, keeps_its_jobs_when_its_table_is_brought_up_to_date) {
    const test::temporary_directory folder;
    virtual_loop loop;
    inline_executor writer;
    logger log = logger::null();
    const auto open = [&](table_set tables) {
        return sqlite::open(
                   {.path = folder.file("stock.db"), .service = "stock", .above = {tables}},
                   {.time = loop.time(), .writer = writer, .log = log})
            .value();
    };
    auto before = queue_tables();
    before.sqlite.steps = before.sqlite.steps.first(1);
    open(before)->stop();
    test::sqlite_file file(folder.file("stock.db"));
    file.run(
        "INSERT INTO posthorn_queue (message_id, source, endpoint, message_type, payload,"
        " content_type, received_at, taken_by, attempts) VALUES ('i', 'orders', 'Ship',"
        " 'Command', '{}', 'application/json', 0, 'w1', 1)");
    open(queue_tables())->stop();
    file.run("DELETE FROM posthorn_queue");
    EXPECT_EQ(file.text("SELECT correlation_id FROM outbox_messages WHERE payload = 'null'"), "i");
}

}  // namespace
}  // namespace posthorn
