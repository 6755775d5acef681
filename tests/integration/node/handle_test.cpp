// Messages sent on the caller's own SQLite handle, in the caller's own transaction.
#include <filesystem>

#include <gmock/gmock.h>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"

namespace posthorn::integration {
namespace {

class node_own_handle : public node_test {
protected:
    void SetUp() override { execute(orders, "CREATE TABLE orders (id TEXT)"); }

    ticket place() {
        mine.run("INSERT INTO orders VALUES ('o1')");
        return orders.send(mine.handle(), "inventory", "OrderApproved", R"({"orderId":"o1"})");
    }
    std::int64_t rows() { return integer(orders, "SELECT count(*) FROM orders"); }
    std::int64_t messages() { return integer(orders, "SELECT count(*) FROM outbox_messages"); }

    node orders{options("orders")};
    database mine{path("orders")};
};

TEST_F(node_own_handle, commits_the_message_with_the_callers_change) {
    mine.run("BEGIN IMMEDIATE");
    const auto of = place();
    mine.run("COMMIT");
    orders.durable(of);
    EXPECT_EQ(rows(), 1);
    EXPECT_EQ(text(orders, "SELECT message_id FROM outbox_messages"), of.id.to_string());
}

TEST_F(node_own_handle, needs_an_open_transaction) {
    EXPECT_EQ(code_of([&] { place(); }), error_code::no_transaction);
    EXPECT_THAT([&] { place(); }, testing::ThrowsMessage<error>(testing::HasSubstr("BEGIN")));
    EXPECT_EQ(messages(), 0);
}

TEST_F(node_own_handle, is_refused_when_it_is_null) {
    EXPECT_EQ(code_of([&] { orders.send(static_cast<sqlite3*>(nullptr), "a", "B", "{}"); }),
              error_code::invalid_argument);
}

TEST_F(node_own_handle, is_refused_on_another_nodes_file) {
    const node inventory{options("inventory")};
    database theirs{path("inventory")};
    theirs.run("BEGIN IMMEDIATE");
    EXPECT_EQ(code_of([&] { orders.send(theirs.handle(), "a", "B", "{}"); }),
              error_code::invalid_argument);
    theirs.run("COMMIT");
    EXPECT_EQ(theirs.integer("SELECT count(*) FROM outbox_messages"), 0);
}

TEST_F(node_own_handle, is_refused_where_the_nodes_file_is_only_attached) {
    database other{directory.file("other.db"), database::make};
    other.run("ATTACH '" + path("orders") + "' AS orders");
    other.run("BEGIN IMMEDIATE");
    EXPECT_EQ(code_of([&] { orders.send(other.handle(), "a", "B", "{}"); }),
              error_code::invalid_argument);
    other.run("ROLLBACK");
}

TEST_F(node_own_handle, may_know_the_file_by_another_name) {
    std::filesystem::create_symlink(path("orders"), directory.file("alias.db"));
    database alias{directory.file("alias.db")};
    alias.run("BEGIN IMMEDIATE");
    const auto of = orders.send(alias.handle(), "inventory", "OrderApproved", "{}");
    alias.run("COMMIT");
    EXPECT_EQ(code_of([&] { orders.durable(of); }), std::nullopt);
}

TEST_F(node_own_handle, takes_the_message_back_with_a_rollback) {
    mine.run("BEGIN IMMEDIATE");
    const auto of = place();
    mine.run("ROLLBACK");
    EXPECT_EQ(code_of([&] { orders.durable(of); }), error_code::not_committed);
    EXPECT_EQ(rows(), 0);
    EXPECT_EQ(messages(), 0);
}

TEST_F(node_own_handle, takes_the_message_back_with_a_rollback_to_a_savepoint) {
    mine.run("BEGIN IMMEDIATE");
    const auto kept = place();
    mine.run("SAVEPOINT here");
    const auto dropped = place();
    mine.run("ROLLBACK TO here");
    mine.run("COMMIT");
    EXPECT_EQ(code_of([&] { orders.durable(kept); }), std::nullopt);
    EXPECT_EQ(code_of([&] { orders.durable(dropped); }), error_code::not_committed);
    EXPECT_EQ(rows(), 1);
    EXPECT_EQ(messages(), 1);
}

TEST_F(node_own_handle, takes_the_message_back_when_it_is_closed) {
    mine.run("BEGIN IMMEDIATE");
    const auto of = place();
    mine.close();
    EXPECT_EQ(code_of([&] { orders.durable(of); }), error_code::not_committed);
    EXPECT_EQ(rows(), 0);
}

TEST_F(node_own_handle, has_no_durable_message_before_the_commit) {
    mine.run("BEGIN IMMEDIATE");
    const auto of = place();
    EXPECT_EQ(code_of([&] { orders.durable(of); }), error_code::not_committed);
    mine.run("COMMIT");
    orders.durable(of);
}

TEST_F(node_own_handle, says_so_when_it_is_open_on_another_database) {
    database other(path("other"), database::make);
    other.run("BEGIN IMMEDIATE");
    try {
        orders.send(other.handle(), "inventory", "OrderApproved", "{}");
        FAIL() << "it took the message";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), error_code::invalid_argument);
        EXPECT_THAT(refused.what(), testing::HasSubstr("node's own database"));
    }
}

TEST_F(node_own_handle, keeps_its_hooks_and_settings_and_gets_no_statement) {
    const auto settings = [&] {
        std::string all;
        for (const auto* const name :
             {"synchronous", "journal_mode", "wal_autocheckpoint", "busy_timeout", "foreign_keys",
              "cache_size", "temp_store", "mmap_size", "locking_mode", "recursive_triggers"})
            all += mine.text(std::string("PRAGMA ") + name) + " ";
        return all;
    };
    int marks[4] = {};
    auto* const handle = mine.handle();
    sqlite3_commit_hook(
        handle, [](void* mark) { return ++*static_cast<int*>(mark), 0; }, &marks[0]);
    sqlite3_rollback_hook(handle, [](void*) {}, &marks[1]);
    sqlite3_update_hook(
        handle, [](void*, int, const char*, const char*, sqlite3_int64) {}, &marks[2]);
    sqlite3_wal_hook(
        handle, [](void*, sqlite3*, const char*, int) { return SQLITE_OK; }, &marks[3]);
    const auto before = settings();

    mine.run("BEGIN IMMEDIATE");
    const auto of = place();
    EXPECT_EQ(sqlite3_next_stmt(handle, nullptr), nullptr);
    mine.run("COMMIT");
    orders.durable(of);

    EXPECT_EQ(settings(), before);
    EXPECT_EQ(marks[0], 1);
    EXPECT_EQ(sqlite3_commit_hook(handle, nullptr, nullptr), &marks[0]);
    EXPECT_EQ(sqlite3_rollback_hook(handle, nullptr, nullptr), &marks[1]);
    EXPECT_EQ(sqlite3_update_hook(handle, nullptr, nullptr), &marks[2]);
    EXPECT_EQ(sqlite3_wal_hook(handle, nullptr, nullptr), &marks[3]);
    EXPECT_EQ(sqlite3_next_stmt(handle, nullptr), nullptr);
}

TEST_F(node_own_handle, sends_without_being_asked_for_the_ticket) {
    node inventory(options("inventory"));
    inventory.handle("OrderApproved", [](context&, const message&) {});
    inventory.start();
    orders.start();
    mine.run("BEGIN IMMEDIATE");
    place();
    mine.run("COMMIT");
    EXPECT_TRUE(test::eventually([&] { return orders.stats().sent == 1; }));
}

}  // namespace
}  // namespace posthorn::integration
