#include "store/sqlite/commit/foreign_handle.hpp"

#include <map>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/random.hpp"
#include "base/time/clock.hpp"
#include "base/uuid_generator.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "unit/store/sqlite/files.hpp"

namespace posthorn::sqlite {
namespace {

class foreign_handle : public on_a_file {
protected:
    foreign_handle() {
        auto opened = open({.path = path_, .service = "orders"},
                           {.time = time_, .writer = writer_, .log = log_});
        EXPECT_TRUE(opened) << opened.error().what();
        store_ = *std::move(opened);
    }
    ~foreign_handle() override { store_->stop(); }

    message sample() {
        message made;
        made.id = ids_.next();
        made.source = "orders";
        made.destination = "billing";
        made.endpoint = "Charge";
        made.payload = "{}";
        made.created_at = time_.wall();
        made.expires_at = made.created_at + std::chrono::hours{1};
        return made;
    }

    real_clock time_;
    inline_executor writer_;
    logger log_ = logger::null();
    seeded_random random_{3};
    uuid_generator ids_{[this] { return time_.wall(); }, random_};
    std::unique_ptr<store> store_;
};

/// How often each hook of a handle was called.
struct calls {
    int wal = 0;
    int commit = 0;
    int roll_back = 0;
    int update = 0;
    int authorizer = 0;
};

void hook_everything(sqlite3* handle, calls& seen) {
    sqlite3_wal_hook(
        handle,
        [](void* to, sqlite3*, const char*, int) -> int {
            ++static_cast<calls*>(to)->wal;
            return SQLITE_OK;
        },
        &seen);
    sqlite3_commit_hook(
        handle,
        [](void* to) -> int {
            ++static_cast<calls*>(to)->commit;
            return 0;
        },
        &seen);
    sqlite3_rollback_hook(handle, [](void* to) { ++static_cast<calls*>(to)->roll_back; }, &seen);
    sqlite3_update_hook(
        handle,
        [](void* to, int, const char*, const char*, sqlite3_int64) {
            ++static_cast<calls*>(to)->update;
        },
        &seen);
    sqlite3_set_authorizer(
        handle,
        [](void* to, int, const char*, const char*, const char*, const char*) -> int {
            ++static_cast<calls*>(to)->authorizer;
            return SQLITE_OK;
        },
        &seen);
}

TEST_F(foreign_handle, keeps_every_hook_of_its_owner) {
    plain_handle db(path_);
    calls seen;
    hook_everything(db.get(), seen);
    ASSERT_EQ(db.run("BEGIN"), SQLITE_OK);
    ASSERT_TRUE(insert_on(db.get(), path_, sample()));
    EXPECT_EQ(seen.update, 1);  // It was theirs that saw the insert.
    EXPECT_GT(seen.authorizer, 0);
    ASSERT_EQ(db.run("COMMIT"), SQLITE_OK);
    EXPECT_EQ(seen.commit, 1);
    EXPECT_EQ(seen.wal, 1);
    ASSERT_EQ(db.run("BEGIN"), SQLITE_OK);
    ASSERT_TRUE(insert_on(db.get(), path_, sample()));
    ASSERT_EQ(db.run("ROLLBACK"), SQLITE_OK);
    EXPECT_EQ(seen.roll_back, 1);
    EXPECT_EQ(db.number("SELECT count(*) FROM outbox_messages"), 1);
}

TEST_F(foreign_handle, gives_the_first_id_for_a_known_dedupe_key_and_stores_nothing) {
    plain_handle db(path_);
    auto first = sample(), again = sample(), elsewhere = sample();
    first.dedupe_key = again.dedupe_key = elsewhere.dedupe_key = "charge-o1";
    elsewhere.destination = "stock";
    ASSERT_EQ(db.run("BEGIN"), SQLITE_OK);
    EXPECT_EQ(insert_on(db.get(), path_, first), first.id);
    EXPECT_EQ(insert_on(db.get(), path_, again), first.id);
    EXPECT_EQ(insert_on(db.get(), path_, elsewhere), elsewhere.id);
    ASSERT_EQ(db.run("COMMIT"), SQLITE_OK);
    EXPECT_EQ(db.number("SELECT count(*) FROM outbox_messages"), 2);
}

TEST_F(foreign_handle, keeps_every_setting_and_no_statement) {
    plain_handle db(path_);
    ASSERT_EQ(db.run("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 77;"
                     "PRAGMA busy_timeout = 123; PRAGMA foreign_keys = OFF;"
                     "PRAGMA cache_size = 55; PRAGMA recursive_triggers = ON"),
              SQLITE_OK);
    const auto settings = [&] {
        std::map<std::string, std::int64_t> values;
        for (const auto* name :
             {"synchronous", "wal_autocheckpoint", "busy_timeout", "foreign_keys", "cache_size",
              "recursive_triggers", "query_only", "temp_store", "mmap_size", "journal_size_limit"})
            values[name] = db.number(std::string("PRAGMA ") + name);
        return values;
    };
    const auto before = settings();
    ASSERT_EQ(db.run("BEGIN"), SQLITE_OK);
    ASSERT_TRUE(insert_on(db.get(), path_, sample()));
    EXPECT_EQ(sqlite3_next_stmt(db.get(), nullptr), nullptr);
    ASSERT_EQ(db.run("COMMIT"), SQLITE_OK);
    EXPECT_EQ(settings(), before);
}

TEST_F(foreign_handle, without_a_transaction_is_refused) {
    plain_handle db(path_);
    const auto refused = insert_on(db.get(), path_, sample());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::no_transaction);
    EXPECT_EQ(db.number("SELECT count(*) FROM outbox_messages"), 0);
}

}  // namespace
}  // namespace posthorn::sqlite
