// What any program with SQL may do to a file's rows and to what is around them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "conformance/store/storage/sqlite_connection.hpp"
#include "conformance/store/suite.hpp"
#include "conformance/store/temporary_directory.hpp"
#include "store/dead_letters.hpp"
#include "store/old_rows.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"

namespace posthorn::conformance {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class sqlite_rows : public ::testing::Test {
protected:
    void SetUp() override { open(); }
    void TearDown() override {
        if (store_) store_->stop();
    }
    void open() {
        auto opened = sqlite::open({.path = path_, .service = "orders"},
                                   {.time = time_, .writer = writer_, .log = log_});
        ASSERT_TRUE(succeeded(opened));
        store_ = *std::move(opened);
    }
    void reopen() {
        store_->stop();
        store_.reset();
        open();
    }
    void must(const std::string& sql) { ASSERT_EQ(other().run(sql), std::nullopt) << sql; }
    sqlite_connection& other() {
        if (!other_) other_ = std::make_unique<sqlite_connection>(path_, nullptr, durability::full);
        return *other_;
    }
    result<> run(unit::work_type work) {
        result<> answer;
        store_->submit_and_wait(
            {.work = std::move(work), .done = [&](result<> value) { answer = std::move(value); }});
        return answer;
    }
    outbox_page due() {
        outbox_page page;
        EXPECT_TRUE(succeeded(store_->read([&](store_reader& from) -> result<> {
            POSTHORN_LET(found, from.outbox().due(
                                    {.destination = "billing", .now = time_.wall(), .limit = 100}));
            page = std::move(found);
            return {};
        })));
        return page;
    }

    temporary_directory place_;
    std::string path_ = (place_.path() / "orders.db").string();
    real_clock time_;
    inline_executor writer_;
    std::string logged_;
    logger log_{{.sink = [this](std::string_view line) { logged_ += line; }},
                [this] { return time_.wall(); }};
    std::unique_ptr<posthorn::store> store_;
    std::unique_ptr<sqlite_connection> other_;
};

TEST_F(sqlite_rows, a_sweep_takes_no_memory_for_a_row_that_is_too_large) {
    must(
        "INSERT INTO outbox_messages (destination, endpoint, payload) "
        "VALUES ('billing', 'Charge', replace(hex(zeroblob(20000000)), '00', 'x'))");
    other_.reset();
    due();  // So that everything is prepared.
    const auto before = sqlite3_memory_used();
    sqlite3_memory_highwater(1);
    const auto page = due();
    ASSERT_THAT(page.bad, SizeIs(1));
    EXPECT_THAT(page.bad.front().reason, HasSubstr("20000000 bytes"));
    EXPECT_LT(sqlite3_memory_highwater(0) - before, 1'000'000);
}

TEST_F(sqlite_rows, a_payload_that_no_configuration_allows_is_refused) {
    const auto insert = [&](int bytes) {
        return other().run(
            "INSERT INTO outbox_messages (destination, endpoint, payload) "
            "VALUES ('billing', 'Charge', zeroblob(" +
            std::to_string(bytes) + "))");
    };
    EXPECT_THAT(insert(67'108'865).value_or(""), HasSubstr("at most 64 MiB"));
    EXPECT_EQ(insert(2'000'000), std::nullopt);
    EXPECT_THAT(other().run("UPDATE outbox_messages SET payload = zeroblob(67108865)").value_or(""),
                HasSubstr("at most 64 MiB"));
    EXPECT_THAT(due().bad, SizeIs(1));
}

TEST_F(sqlite_rows, a_long_name_is_refused_though_a_NUL_stands_in_it) {
    const std::string long_name = "'d' || char(0) || printf('%.*c', 70000, 'x')";
    for (const auto* column : {"message_id", "tenant", "order_key", "dedupe_key"})
        EXPECT_THAT(other()
                        .run(fmt::format("INSERT INTO outbox_messages (destination, endpoint, "
                                         "payload, {}) VALUES ('billing', 'Charge', '{{}}', {})",
                                         column, long_name))
                        .value_or(""),
                    HasSubstr("at most"))
            << column;
    EXPECT_THAT(other()
                    .run("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES (" +
                         long_name + ", 'Charge', '{}')")
                    .value_or(""),
                HasSubstr("at most 4096 bytes"));
}

TEST_F(sqlite_rows, what_a_replaced_message_leaves_behind_is_cleaned_away) {
    const std::string insert =
        "INTO outbox_messages (message_id, destination, endpoint, payload) "
        "VALUES ('018f3b1c-0000-7000-8000-000000000001', 'billing', 'Charge', '{}')";
    must("INSERT " + insert);
    must("INSERT INTO outbox_attempts VALUES (1, 1, 0, 'refused')");
    must("UPDATE outbox_messages SET status = 'Dead', last_error = 'refused'");
    must("INSERT INTO outbox_ended VALUES (1)");
    ASSERT_TRUE(succeeded(run([](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.dead_letters().group_some(10));
        return {};
    })));
    ASSERT_EQ(other().number("SELECT sum(dead) FROM outbox_causes"), 1);
    must("INSERT OR REPLACE " + insert);
    must(
        "INSERT INTO outbox_messages (destination, endpoint, payload, status) "
        "VALUES ('billing', 'Charge', '{}', 'Dead')");
    must("INSERT INTO outbox_closed (seq, status, at) VALUES (3, 'Dead', 0)");
    std::size_t removed = 0;
    for (bool more = true; more;)
        ASSERT_TRUE(succeeded(run([&](store_transaction& tx) -> result<> {
            const slice room(time_, 1'000, std::chrono::seconds{1});
            POSTHORN_LET(done, tx.old().mend_beside(room));
            removed += done.rows;
            more = done.more;
            return {};
        })));
    EXPECT_EQ(removed, 3U);
    EXPECT_EQ(other().number("SELECT count(*) FROM outbox_closed"), 1) << "of the other one";
    EXPECT_EQ(other().number("SELECT count(*) FROM outbox_attempts"), 0);
    EXPECT_EQ(other().number("SELECT count(*) FROM outbox_ended"), 0);
    EXPECT_EQ(other().number("SELECT sum(dead) FROM outbox_causes"), 0);
    EXPECT_THAT(due().rows, SizeIs(1)) << "the one that came in its place";
}

TEST_F(sqlite_rows, a_send_says_what_to_do_once_the_highest_number_was_given_by_hand) {
    must(
        "INSERT INTO outbox_messages (seq, destination, endpoint, payload) "
        "VALUES (4611686018427387903, 'billing', 'Charge', '{}')");
    const auto send = [&] {
        return run([](store_transaction& tx) -> result<> {
            message body;
            body.source = "orders";
            body.id = uuid::parse("018f3b1c-0000-7000-8000-000000000009").value();
            body.destination = "billing";
            body.endpoint = "Charge";
            body.payload = "{}";
            body.created_at = wall_time(std::chrono::hours{1});
            body.expires_at = wall_time(std::chrono::hours{24});
            POSTHORN_TRY(tx.outbox().insert(body));
            return {};
        });
    };
    const auto refused = send();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what(), HasSubstr("has the highest seq there is"));
    EXPECT_THAT(refused.error().what(), HasSubstr("UPDATE sqlite_sequence"));
    must("DELETE FROM outbox_messages");
    must(
        "UPDATE sqlite_sequence SET seq = (SELECT coalesce(max(seq), 0) FROM outbox_messages) "
        "WHERE name = 'outbox_messages'");
    EXPECT_TRUE(succeeded(send()));
}

TEST_F(sqlite_rows, what_was_dropped_is_made_again_at_the_next_start) {
    const std::string all =
        "SELECT group_concat(name || ' ' || sql, char(10)) FROM "
        "(SELECT name, sql FROM sqlite_master WHERE type <> 'table' ORDER BY name)";
    const auto before = other().text(all);
    for (const auto* what :
         {"INDEX idx_outbox_sent", "INDEX idx_outbox_status_retry", "TRIGGER outbox_gone",
          "TRIGGER outbox_arrival", "VIEW outbox_arriving", "VIEW posthorn_inbox"})
        must("DROP " + std::string(what));
    other_.reset();
    reopen();
    EXPECT_EQ(other().text(all), before);
    for (const auto* name : {"idx_outbox_sent", "outbox_gone", "outbox_arranged", "posthorn_inbox"})
        EXPECT_THAT(logged_, HasSubstr(name));
    logged_.clear();
    other_.reset();
    reopen();
    EXPECT_EQ(logged_, "") << "nothing is missing";
}

TEST_F(sqlite_rows, what_is_not_as_it_was_made_is_made_anew_at_the_next_start) {
    const std::string all =
        "SELECT group_concat(name || ' ' || sql, char(10)) FROM "
        "(SELECT name, sql FROM sqlite_master WHERE type <> 'table' ORDER BY name)";
    const auto before = other().text(all);
    const auto damage = [&](const std::string& name, const std::string& from,
                            const std::string& to) {
        must("UPDATE sqlite_master SET sql = replace(sql, '" + from + "', '" + to +
             "') WHERE name = '" + name + "'");
    };
    must("PRAGMA writable_schema = ON");
    damage("outbox_gone", "outbox_ended", "outbox_enddd");
    damage("outbox_arriving", "FROM outbox_messages", "FROM outbox_messagec");
    must("PRAGMA writable_schema = RESET");
    must("DROP INDEX idx_outbox_sent");
    must("CREATE INDEX idx_outbox_sent ON outbox_messages (sent_at)");
    ASSERT_NE(other().text(all), before);
    other_.reset();
    reopen();
    EXPECT_EQ(other().text(all), before);
    EXPECT_THAT(logged_, HasSubstr("idx_outbox_sent, outbox_arriving, outbox_gone"));
    must(
        "INSERT INTO outbox_messages (destination, endpoint, payload) "
        "VALUES ('billing', 'Charge', '{}')");
    must("DELETE FROM outbox_messages");
    logged_.clear();
    other_.reset();
    reopen();
    EXPECT_EQ(logged_, "") << "all is as it was made";
}

TEST_F(sqlite_rows, a_trigger_of_the_application_under_a_name_of_ours_stays) {
    must("DROP TRIGGER outbox_gone");
    must("CREATE TABLE mine (a)");
    must("CREATE TRIGGER outbox_gone AFTER DELETE ON mine BEGIN SELECT 1; END");
    other_.reset();
    reopen();
    EXPECT_EQ(other().text("SELECT tbl_name FROM sqlite_master WHERE name = 'outbox_gone'"),
              "mine");
}

TEST_F(sqlite_rows, a_column_that_is_missing_is_named_with_what_to_do) {
    must("ALTER TABLE outbox_causes RENAME COLUMN first_at TO began_at");
    other_.reset();
    store_->stop();
    store_.reset();
    const auto opened = sqlite::open({.path = path_, .service = "orders"},
                                     {.time = time_, .writer = writer_, .log = log_});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), error_code::store_corrupt);
    EXPECT_THAT(opened.error().what(),
                HasSubstr("the column first_at of the table outbox_causes, which Posthorn needs"));
    EXPECT_THAT(opened.error().what(), HasSubstr("give it its name back"));
}

TEST_F(sqlite_rows, a_table_that_was_dropped_is_named_with_what_to_do) {
    must("DROP TABLE outbox_paused");
    other_.reset();
    store_->stop();
    store_.reset();
    const auto opened = sqlite::open({.path = path_, .service = "orders"},
                                     {.time = time_, .writer = writer_, .log = log_});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), error_code::store_corrupt);
    EXPECT_THAT(opened.error().what(),
                HasSubstr("the table outbox_paused, which Posthorn needs, was dropped"));
}

TEST_F(sqlite_rows, a_table_of_the_application_in_the_place_of_a_view_stays) {
    must("DROP VIEW OutboxMessages");
    must("CREATE TABLE OutboxMessages (id)");
    other_.reset();
    reopen();
    EXPECT_EQ(other().text("SELECT type FROM sqlite_master WHERE name = 'OutboxMessages'"),
              "table");
}

}  // namespace
}  // namespace posthorn::conformance
