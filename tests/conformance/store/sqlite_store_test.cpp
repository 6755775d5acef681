// What is true of the store on SQLite alone: its files, its directory, its query plans.
#include "store/sqlite/commit/sqlite_store.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "conformance/store/storage/sqlite_connection.hpp"
#include "conformance/store/storage/sqlite_storage.hpp"
#include "conformance/store/suite.hpp"
#include "conformance/store/temporary_directory.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::conformance {
namespace {

using ::testing::HasSubstr;

class sqlite_store : public ::testing::Test {
protected:
    result<std::unique_ptr<posthorn::store>> open(const std::filesystem::path& path) {
        return sqlite::open({.path = path.string(), .service = "orders"},
                            {.time = time_, .writer = writer_, .log = log_});
    }
    void make(const std::filesystem::path& path) {
        auto opened = open(path);
        ASSERT_TRUE(succeeded(opened));
        (*opened)->stop();
    }

    temporary_directory place_;
    std::filesystem::path path_ = place_.path() / "orders.db";
    real_clock time_;
    inline_executor writer_;
    logger log_ = logger::null();
};

/// Not the superuser for a while, whom no file refuses anything.
class ordinary_user {
public:
    ordinary_user() {
        if (was_ == 0) EXPECT_EQ(::seteuid(65534), 0);
    }
    ~ordinary_user() {
        if (was_ == 0) EXPECT_EQ(::seteuid(0), 0);
    }
    ordinary_user(const ordinary_user&) = delete;
    ordinary_user& operator=(const ordinary_user&) = delete;

private:
    ::uid_t was_ = ::geteuid();
};

TEST_F(sqlite_store, a_file_that_may_only_be_read_is_refused_as_such) {
    make(path_);
    std::filesystem::permissions(place_.path(), std::filesystem::perms{0755});
    std::filesystem::permissions(path_, std::filesystem::perms{0444});
    const ordinary_user nobody;
    const auto opened = open(path_);
    EXPECT_TRUE(refused_with(opened, error_code::store_read_only));
    EXPECT_THAT(opened.error().what(), HasSubstr(path_.string()));
}

TEST_F(sqlite_store, a_directory_that_is_missing_is_said_to_be_missing) {
    const auto opened = open(place_.path() / "missing" / "orders.db");
    EXPECT_TRUE(refused_with(opened, error_code::store_unavailable));
    EXPECT_THAT(opened.error().what(), HasSubstr((place_.path() / "missing").string()));
    EXPECT_THAT(opened.error().what(), HasSubstr("does not exist"));
}

TEST_F(sqlite_store, a_file_of_another_service_is_refused_with_both_names) {
    make(path_);
    const auto other = sqlite::open({.path = path_.string(), .service = "sales"},
                                    {.time = time_, .writer = writer_, .log = log_});
    EXPECT_TRUE(refused_with(other, error_code::invalid_configuration));
    EXPECT_THAT(other.error().what(), HasSubstr("'orders'"));
    EXPECT_THAT(other.error().what(), HasSubstr("'sales'"));
    const auto tool = sqlite::open({.path = path_.string(), .service = ""},
                                   {.time = time_, .writer = writer_, .log = log_});
    EXPECT_TRUE(succeeded(tool));
    make(path_);
}

TEST_F(sqlite_store, a_file_with_a_table_of_a_name_it_needs_is_refused_and_left_alone) {
    for (const std::string name : {"changes", "Outbox_messages", "inbox_messages", "posthorn_x"}) {
        SCOPED_TRACE(name);
        const auto path = place_.path() / (name + ".db");
        std::ofstream(path).close();
        sqlite_connection user(path.string(), nullptr, durability::full);
        ASSERT_EQ(user.run("CREATE TABLE " + name + " (id TEXT)"), std::nullopt);
        const auto opened = open(path);
        EXPECT_TRUE(refused_with(opened, error_code::invalid_configuration));
        EXPECT_THAT(opened.error().what(), HasSubstr("'" + name + "'"));
        EXPECT_EQ(user.text("PRAGMA journal_mode"), "delete");
        EXPECT_EQ(user.number("SELECT count(*) FROM sqlite_schema"), 1);
    }
}

TEST_F(sqlite_store, a_database_in_memory_is_refused_as_such) {
    const auto opened = open(":memory:");
    EXPECT_TRUE(refused_with(opened, error_code::store_unavailable));
    EXPECT_THAT(opened.error().what(), HasSubstr("in memory"));
}

TEST_F(sqlite_store, a_path_that_is_a_directory_is_unavailable) {
    EXPECT_TRUE(refused_with(open(place_.path()), error_code::store_unavailable));
}

TEST_F(sqlite_store, a_file_that_is_no_database_is_corrupt_and_is_left_alone) {
    const std::string text(10'000, 'x');
    std::ofstream(path_) << text;
    EXPECT_TRUE(refused_with(open(path_), error_code::store_corrupt));
    std::ifstream file(path_);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
}

TEST_F(sqlite_store, a_truncated_file_is_corrupt) {
    make(path_);
    std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);
    EXPECT_TRUE(refused_with(open(path_), error_code::store_corrupt));
}

TEST_F(sqlite_store, a_file_with_business_tables_gets_ours_beside_them) {
    {
        sqlite3* raw = nullptr;
        ASSERT_EQ(sqlite3_open(path_.c_str(), &raw), SQLITE_OK);
        ASSERT_EQ(sqlite3_exec(raw, "CREATE TABLE orders(id); INSERT INTO orders VALUES (1)",
                               nullptr, nullptr, nullptr),
                  SQLITE_OK);
        sqlite3_close(raw);
    }
    make(path_);
    sqlite_connection other(path_.string(), nullptr, durability::full);
    EXPECT_EQ(other.number("SELECT count(*) FROM orders"), 1);
    EXPECT_EQ(other.number("SELECT count(*) FROM outbox_messages"), 0);
    EXPECT_EQ(other.text("PRAGMA journal_mode"), "wal");
}

TEST_F(sqlite_store, a_second_store_on_the_same_file_opens_and_both_commit) {
    auto first = open(path_);
    auto second = open(path_);
    ASSERT_TRUE(succeeded(first));
    ASSERT_TRUE(succeeded(second));
    int committed = 0;
    for (int i = 0; i < 10; ++i) {
        for (auto* db : {first->get(), second->get()}) {
            db->submit({.work = execute("INSERT INTO outbox_messages(destination, endpoint, "
                                        "payload) VALUES ('billing', 'Charge', '')"),
                        .done = [&](const result<>& outcome) {
                            EXPECT_TRUE(succeeded(outcome));
                            ++committed;
                        }});
        }
    }
    EXPECT_EQ(committed, 20);
    EXPECT_EQ((*first)->changed_by_others(), true);
    (*second)->stop();
    (*first)->stop();
    sqlite_connection other(path_.string(), nullptr, durability::full);
    EXPECT_EQ(other.number("SELECT count(*) FROM outbox_messages"), 20);
}

TEST_F(sqlite_store, a_foreign_writer_gets_its_turn_beside_a_busy_shared_store) {
    const auto disk = sqlite_on_files();
    auto opened = disk->open({.shared = true, .checkpoints_often = true});
    ASSERT_TRUE(succeeded(opened));
    constexpr std::size_t foreign_commits = 50;
    std::atomic<bool> busy = true;
    std::atomic<std::size_t> submitted = 0;
    answers arrived;
    constexpr auto insert =
        "INSERT INTO outbox_messages(destination, endpoint, payload) VALUES ('{}', 'Charge', '')";
    {
        const std::jthread sender([&] {
            while (busy) {
                const auto index = submitted++;
                (*opened)->submit({.work = execute(fmt::format(fmt::runtime(insert), "ours")),
                                   .done = arrived.to(index)});
                if (index > 200) arrived.wait_for(index - 200);
            }
        });
        const auto other = disk->connect();
        for (std::size_t i = 0; i < foreign_commits; ++i)
            EXPECT_EQ(other->run(fmt::format(fmt::runtime(insert), "theirs")), std::nullopt);
        busy = false;
    }
    arrived.wait_for(submitted);
    for (std::size_t i = 0; i < submitted; ++i) EXPECT_TRUE(succeeded(arrived.at(i)));
    (*opened)->stop();
    const auto count = [&](const std::string& whose) {
        return static_cast<std::size_t>(disk->connect()->number(
            fmt::format("SELECT count(*) FROM outbox_messages WHERE destination = '{}'", whose)));
    };
    EXPECT_EQ(count("theirs"), foreign_commits);
    EXPECT_EQ(count("ours"), submitted);
}

TEST_F(sqlite_store, the_views_show_times_for_people) {
    make(path_);
    sqlite_connection other(path_.string(), nullptr, durability::full);
    ASSERT_EQ(other.run("INSERT INTO outbox_messages(destination, endpoint, payload, created_at) "
                        "VALUES ('billing', 'Charge', '', 1900000000123)"),
              std::nullopt);
    EXPECT_EQ(other.text("SELECT created_at FROM posthorn_outbox"), "2030-03-17T17:46:40.123Z");
    EXPECT_EQ(other.rows("SELECT * FROM posthorn_inbox").size(), 0U);
}

// Every connection that the store opens is caught as it opens.

std::vector<sqlite3*>& caught() {
    static std::vector<sqlite3*> handles;
    return handles;
}

int catch_connection(sqlite3* handle, const char**, const void*) {
    caught().push_back(handle);
    return SQLITE_OK;
}

TEST_F(sqlite_store, its_views_show_times_as_people_write_them_and_the_other_documents_names) {
    make(path_);
    sqlite_connection other(path_.string(), nullptr, durability::full);
    ASSERT_EQ(other.run("INSERT INTO outbox_messages (destination, endpoint, payload, status,"
                        " retry_count, created_at, sent_at, expires_at) VALUES"
                        " ('b', 'Charge', '{}', 'Sent', 2, 1771070400123, 1771070401000,"
                        "  1771156800123), ('b', 'Charge', '{}', 'Dead', 5, 1771070400123, NULL,"
                        "  1771156800123)"),
              std::nullopt);
    using row = foreign_connection::row;
    EXPECT_EQ(other.rows("SELECT status, created_at, sent_at FROM posthorn_outbox").at(0),
              (row{"Sent", "2026-02-14T12:00:00.123Z", "2026-02-14T12:00:01.000Z"}));
    const auto events = other.rows(
        "SELECT EventType, Status, RetryCount, CreatedAt, PublishedAt FROM posthorn_events");
    EXPECT_EQ(events.at(0), (row{"Charge", "Published", "2", "2026-02-14T12:00:00.123Z",
                                 "2026-02-14T12:00:01.000Z"}));
    EXPECT_EQ(events.at(1).at(1), "DeadLetter");
    const auto calls =
        other.rows("SELECT MethodName, Status, Retries, ExpiresAt, Payload FROM posthorn_calls");
    EXPECT_EQ(calls.at(0), (row{"Charge", "Completed", "2", "2026-02-15T12:00:00.123Z", "{}"}));
    EXPECT_EQ(other.rows("SELECT CallId FROM posthorn_calls"),
              other.rows("SELECT message_id FROM outbox_messages"));
    EXPECT_EQ(calls.at(1).at(1), "DeadLetter");
}

TEST_F(sqlite_store, its_view_of_events_has_every_field_of_the_other_document) {
    make(path_);
    sqlite_connection other(path_.string(), nullptr, durability::full);
    ASSERT_EQ(other.run("INSERT INTO outbox_messages (message_id, destination, endpoint, payload,"
                        " correlation_id, status, retry_count, last_error, created_at, expires_at)"
                        " VALUES ('0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001', 'b', 'shop.OrderPlaced',"
                        " '{\"a\":1}', 'c-1', 'Pending', 3, 'no', 1771070400123, 1771156800123)"),
              std::nullopt);
    using row = foreign_connection::row;
    EXPECT_EQ(other
                  .rows("SELECT Id, EventType, Payload, CreatedAt, PublishedAt, Error, RetryCount,"
                        " Status, CorrelationId FROM posthorn_events")
                  .at(0),
              (row{"0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001", "shop.OrderPlaced", "{\"a\":1}",
                   "2026-02-14T12:00:00.123Z", std::nullopt, "no", "3", "Pending", "c-1"}));
}

TEST_F(sqlite_store, a_table_of_the_application_stays_where_a_view_would_be) {
    std::ofstream(path_).close();
    sqlite_connection other(path_.string(), nullptr, durability::full);
    ASSERT_EQ(other.run("CREATE TABLE OutboxMessages (mine)"), std::nullopt);
    ASSERT_EQ(other.run("INSERT INTO OutboxMessages VALUES ('kept')"), std::nullopt);
    make(path_);
    EXPECT_EQ(other.rows("SELECT mine FROM OutboxMessages").at(0).at(0), "kept");
    EXPECT_TRUE(other.rows("SELECT Id FROM DeliveryAttempts").empty());
}

TEST_F(sqlite_store, its_inbox_can_be_read_by_time_range) {
    make(path_);
    sqlite_connection other(path_.string(), nullptr, durability::full);
    for (const auto* at : {"1771070400000", "1771074000000", "1771077600000"})
        ASSERT_EQ(other.run(std::string("INSERT INTO inbox_messages (source_service_id, message_id,"
                                        " endpoint, body_hash, processed_at, expires_at) VALUES"
                                        " ('orders', ") +
                            at + ", 'Charge', x'00', " + at + ", 1771156800000)"),
                  std::nullopt);
    const auto found = other.rows(
        "SELECT processed_at FROM posthorn_inbox WHERE processed_at >= '2026-02-14T12:30:00.000Z'"
        " AND processed_at < '2026-02-14T13:30:00.000Z'");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().front(), "2026-02-14T13:00:00.000Z");
}

std::string pragma(sqlite3* handle, const std::string& name) {
    std::string value;
    const auto keep = [](void* to, int, char** columns, char**) {
        *static_cast<std::string*>(to) = columns[0] == nullptr ? "" : columns[0];
        return 0;
    };
    sqlite3_exec(handle, ("PRAGMA " + name).c_str(), keep, &value, nullptr);
    return value;
}

TEST_F(sqlite_store, its_writer_has_the_settings_that_its_promises_rest_on) {
    const auto hook = reinterpret_cast<void (*)()>(catch_connection);
    for (const auto& [sync, number] :
         {std::pair(sqlite::synchronous::full, "2"), std::pair(sqlite::synchronous::normal, "1")}) {
        ASSERT_EQ(sqlite3_auto_extension(hook), SQLITE_OK);
        caught().clear();
        auto opened = sqlite::open({.path = path_.string(), .service = "orders", .sync = sync},
                                   {.time = time_, .writer = writer_, .log = log_});
        sqlite3_cancel_auto_extension(hook);
        ASSERT_TRUE(succeeded(opened));
        ASSERT_FALSE(caught().empty());
        auto* const writer = caught().front();  // Opened before the readers.
        EXPECT_EQ(pragma(writer, "journal_mode"), "wal");
        EXPECT_EQ(pragma(writer, "synchronous"), number);
        EXPECT_EQ(pragma(writer, "cache_size"), "-8000");
        EXPECT_EQ(pragma(writer, "cache_spill"), "0");
        EXPECT_EQ(pragma(writer, "foreign_keys"), "1");
        EXPECT_EQ(pragma(writer, "temp_store"), "2");
        EXPECT_EQ(pragma(writer, "mmap_size"), "0");
        EXPECT_EQ(pragma(writer, "wal_autocheckpoint"), "0");
        EXPECT_EQ(pragma(writer, "auto_vacuum"), "2");
        caught().clear();
        (*opened)->stop();
    }
}

/// Whether a step looks at every row of a table or an index, under whichever name.
bool scans(const std::string& step) {
    // What a subquery finds, which is a step of its own.
    static constexpr std::array few{"SCAN (subquery-", "SCAN CONSTANT ROW", "SCAN sqlite_schema",
                                    "SCAN outbox_paused",
                                    // Of the dead those that are new.
                                    "SCAN outbox_closed USING INDEX idx_outbox_closed_new"};
    return step.starts_with("SCAN") &&
           std::ranges::none_of(few, [&](const char* one) { return step.starts_with(one); });
}

TEST_F(sqlite_store, every_statement_it_keeps_finds_its_rows_through_an_index) {
    std::vector<std::string_view> made;
    sqlite::statement::made_here() = &made;
    auto opened = open(path_);
    sqlite::statement::made_here() = nullptr;
    ASSERT_TRUE(succeeded(opened));
    const std::set<std::string> statements(made.begin(), made.end());
    sqlite_connection other(path_.string(), nullptr, durability::full);
    std::string all;
    int searches = 0;
    for (const auto& sql : statements) {
        if (sql.find("count(*)") != std::string::npos) continue;  // For people, now and then.
        if (sql.find("FROM sqlite_master") != std::string::npos) continue;  // Of the schema alone.
        SCOPED_TRACE(sql);
        for (const auto& row : other.rows("EXPLAIN QUERY PLAN " + sql)) {
            const auto& step = row.at(3).value();
            all += step + '\n';
            searches += step.starts_with("SEARCH") ? 1 : 0;
            EXPECT_THAT(step, ::testing::Not(HasSubstr("TEMP B-TREE")));
            EXPECT_FALSE(scans(step)) << step;
        }
    }
    EXPECT_GT(searches, 15);  // Otherwise nothing was caught.
    for (const auto* index : {"idx_outbox_status_retry", "idx_outbox_sent", "idx_inbox_expires"})
        EXPECT_THAT(all, HasSubstr(std::string("INDEX ") + index));
    (*opened)->stop();
}

TEST_F(sqlite_store, its_index_of_due_messages_holds_pending_ones_alone) {
    make(path_);
    sqlite_connection other(path_.string(), nullptr, durability::full);
    const auto sql = other.text(
        "SELECT sql FROM sqlite_master WHERE type = 'index' AND name = 'idx_outbox_status_retry'");
    EXPECT_THAT(sql, HasSubstr("next_retry_at"));
    EXPECT_THAT(sql, HasSubstr("WHERE status = 'Pending'"));
}

/// The system's files, on which waiting for a lock is counted for each thread, and takes no time if
/// it need not.
class counted_waits {
public:
    counted_waits() {
        static sqlite3_vfs ours;
        ours = *sqlite3_vfs_find(nullptr);
        ours.zName = name;
        ours.pNext = nullptr;
        ours.xSleep = [](sqlite3_vfs*, int microseconds) {
            waited_us += microseconds;
            auto* const system = sqlite3_vfs_find(nullptr);
            return takes_time ? system->xSleep(system, microseconds) : microseconds;
        };
        ours.xCurrentTimeInt64 = [](sqlite3_vfs*, sqlite3_int64* into) {
            auto* const system = sqlite3_vfs_find(nullptr);
            const int code = system->xCurrentTimeInt64(system, into);
            *into += waited_us * seen_times / 1'000;
            return code;
        };
        sqlite3_vfs_register(&ours, 0);
        waited_us = 0;
        takes_time = true;
        seen_times = 0;
    }
    static constexpr const char* name = "counted-waits";
    static inline thread_local std::int64_t waited_us = 0;
    static inline std::atomic<bool> takes_time = true;
    static inline std::atomic<int> seen_times = 0;  // So many times as long by the clock.
};

class sqlite_store_at_locks : public sqlite_store {
protected:
    sqlite_store_at_locks() {
        auto opened =
            sqlite::open({.path = path_.string(), .service = "orders", .vfs = counted_waits::name},
                         {.time = time_, .writer = writer_, .log = log_});
        EXPECT_TRUE(succeeded(opened));
        store_ = *std::move(opened);
    }
    ~sqlite_store_at_locks() override { store_->stop(); }

    result<> run(work what) {
        result<> answer = fail(error_code::closed, "not answered");
        store_->submit(
            {.work = std::move(what), .done = [&](result<> value) { answer = std::move(value); }});
        return answer;
    }

    counted_waits waits_;
    std::unique_ptr<posthorn::store> store_;
};

TEST_F(sqlite_store_at_locks, waits_five_seconds_for_another_writer_and_then_says_so) {
    sqlite_connection other(path_.string(), nullptr, durability::full);
    ASSERT_EQ(other.run("BEGIN IMMEDIATE"), std::nullopt);
    waits_.takes_time = false;
    EXPECT_TRUE(refused_with(run(execute("CREATE TABLE t (n)")), error_code::store_busy));
    EXPECT_GE(waits_.waited_us, 5'000'000);
    EXPECT_LT(waits_.waited_us, 6'000'000);
    ASSERT_EQ(other.run("ROLLBACK"), std::nullopt);
    EXPECT_TRUE(succeeded(run(execute("CREATE TABLE t (n)"))));
}

TEST_F(sqlite_store_at_locks, waits_no_longer_where_a_busy_machine_lets_it_sleep_too_long) {
    sqlite_connection other(path_.string(), nullptr, durability::full);
    ASSERT_EQ(other.run("BEGIN IMMEDIATE"), std::nullopt);
    waits_.takes_time = false;
    waits_.seen_times = 10;
    EXPECT_TRUE(refused_with(run(execute("CREATE TABLE t (n)")), error_code::store_busy));
    EXPECT_LT(waits_.waited_us, 600'000) << "five seconds by the clock";
    EXPECT_GT(waits_.waited_us, 0);
}

// Their transactions overlap in every way, while at each moment one of them does something: what
// remains to be waited for are the locks that a transaction holds.
TEST_F(sqlite_store_at_locks, readers_the_writer_and_cleanup_do_not_wait_for_one_another) {
    constexpr int rounds = 100;
    constexpr int old_messages = 2'000;
    ASSERT_TRUE(succeeded(run(execute("CREATE TABLE t (n)"))));
    ASSERT_TRUE(succeeded(run(execute(
        fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {})"
                    " INSERT INTO outbox_messages (destination, endpoint, payload, status, sent_at)"
                    " SELECT 'billing', 'Charge', '1', 'Sent', 1 FROM n",
                    old_messages)))));
    const auto rows_seen = [](store_reader& reader) {
        std::int64_t rows = -1;
        EXPECT_TRUE(succeeded(reader.query("SELECT count(*) FROM t", {},
                                           [&](const sql_row& row) { rows = row.integer(0); })));
        return rows;
    };
    // Another thread reads while this one's transaction is open, and ends before it does.
    const auto read_meanwhile = [&](std::int64_t rows) {
        std::jthread([&] {
            EXPECT_TRUE(succeeded(store_->read([&](store_reader& reader) -> result<> {
                EXPECT_EQ(rows_seen(reader), rows);
                return {};
            })));
            EXPECT_EQ(waits_.waited_us, 0) << "a reader waited for the writer";
        }).join();
    };
    waits_.waited_us = 0;
    // One reader looks for as long as all the others work, and sees nothing of it.
    ASSERT_TRUE(succeeded(store_->read([&](store_reader& long_one) -> result<> {
        EXPECT_EQ(rows_seen(long_one), 0);
        std::size_t purged = 0;
        for (int i = 0; i < rounds; ++i) {
            EXPECT_TRUE(succeeded(run([&](store_transaction& tx) -> result<> {
                POSTHORN_TRY(tx.execute("INSERT INTO t VALUES (1)", {}));
                read_meanwhile(i);
                return {};
            })));
            EXPECT_TRUE(succeeded(run([&](store_transaction& tx) -> result<> {
                const slice room(time_, old_messages / rounds, std::chrono::minutes{1});
                POSTHORN_LET(gone, tx.old().purge(row_kind::sent, time_.wall(), room));
                purged += gone.rows;
                read_meanwhile(i + 1);
                return {};
            })));
        }
        EXPECT_EQ(purged, static_cast<std::size_t>(old_messages));
        EXPECT_EQ(rows_seen(long_one), 0);
        return {};
    })));
    EXPECT_EQ(waits_.waited_us, 0) << "the writer, cleanup or the long reader waited";
}

}  // namespace
}  // namespace posthorn::conformance
