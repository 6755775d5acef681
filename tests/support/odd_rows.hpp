#pragma once

#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"
#include "support/row_fuzz.hpp"

namespace posthorn::integration {

/// A node that sends to itself, and an outsider who writes rows into its tables with plain SQL.
/// The store is said by who derives.
class odd_rows : public node_test {
protected:
    /// What the database said against it; empty if it did as told.
    virtual std::optional<std::string> outside(const std::string& sql) = 0;
    [[nodiscard]] virtual std::int64_t number(const std::string& sql) = 0;

    static void take_messages(node& orders) {
        execute(orders, "CREATE TABLE taken (id TEXT, endpoint TEXT)");
        for (const auto* endpoint : {"Take", "Odd"})
            orders.handle(endpoint, [](context& with, const message& got) {
                with.execute("INSERT INTO taken (id, endpoint) VALUES (?, ?)", got.id.to_string(),
                             got.endpoint);
            });
    }
    /// A good message, by plain SQL.
    std::string send_good() {
        auto id = fmt::format("018f3b1c-0000-7000-9000-{:012x}", ++good_);
        EXPECT_EQ(outside("INSERT INTO outbox_messages (message_id, destination, endpoint, payload)"
                          " VALUES ('" +
                          id + "', 'orders', 'Take', '{}')"),
                  std::nullopt);
        return id;
    }
    /// Writes rows of a seed while the node dispatches, and good ones among them.
    void write_rows(test::row_fuzz& rows, int count) {
        for (int i = 0; i < count; ++i) {
            const auto sql = rows.outbox_row("orders", "Take");
            (outside(sql) ? refused_ : accepted_) += 1;
            if (i % 10 == 0) wanted_.insert(send_good());
            if (i % 4 != 0) continue;
            // What was received before under an id that a message comes with afterwards.
            const auto id = fmt::format("018f3b1c-0000-7000-a000-{:012x}", i);
            outside(rows.inbox_row("orders", id));
            outside(
                "INSERT INTO outbox_messages (message_id, destination, endpoint, payload) "
                "VALUES ('" +
                id + "', 'orders', 'Take', '{}')");
        }
    }
    /// `table|column|is a number|is a key`, a line each, of the store's own tables.
    virtual std::vector<std::string> describe() = 0;
    /// Rows that are there, whatever wrote them, become anything, and good messages come among them:
    /// those alone are left as they are, with what leads to them.
    void update_rows(test::row_fuzz& rows, int of_each) {
        const auto tables = test::read_tables(describe());
        EXPECT_GT(tables.size(), 7U);
        for (const auto& [name, table] : tables) {
            int accepted = 0;
            for (int i = 0; i < of_each; ++i) {
                for (std::size_t at = 0; at < table.columns.size(); ++at) {
                    accepted += outside(rows.row_like_others(table, at)) ? 0 : 1;
                    accepted += outside(rows.update(table, is_free(table), at)) ? 0 : 1;
                }
                accepted += outside(rows.update(table, is_free(table))) ? 0 : 1;
                wanted_.insert(send_good());
            }
            EXPECT_GT(accepted, 0) << name;
        }
    }
    static std::string is_free(const test::described_table& table) {
        const std::string good = "message_id LIKE '018f3b1c-0000-7000-9000-%'";
        for (const auto& each : table.columns) {
            if (each.name == "message_id") return "NOT " + good;
            if (each.name == "seq")
                return "seq NOT IN (SELECT seq FROM outbox_messages WHERE " + good + ")";
        }
        return "1 = 1";
    }
    void expect_all_in_order() {
        for (const auto& id : wanted_)
            EXPECT_TRUE(test::eventually([&] {
                return number("SELECT count(*) FROM taken WHERE id = '" + id + "'") == 1;
            })) << id;
        // Whatever was taken for a message is sent, or says why not. What has its time still to
        // come, or waits for one like that, is neither good nor bad.
        // An hour after the good ones were written.
        const std::string untouched =
            "SELECT count(*) FROM outbox_messages, (SELECT max(created_at) + 3600000 AS soon FROM"
            " outbox_messages WHERE message_id LIKE '018f3b1c-0000-7000-9000-%') AS good"
            " WHERE status = 'Pending' AND last_error IS NULL AND (destination = 'orders'"
            " OR length(destination) NOT BETWEEN 1 AND 255)"  // Another waits for its route.
            " AND next_retry_at < soon AND coalesce(deliver_at, 0) < soon";
        EXPECT_TRUE(test::eventually([&] { return number(untouched) == 0; })) << number(untouched);
        EXPECT_GT(accepted_, 0);
        EXPECT_GT(refused_, 0);
        EXPECT_GT(number("SELECT count(*) FROM outbox_messages WHERE status = 'Dead' AND "
                         "last_error IS NOT NULL"),
                  0);
    }
    /// One of six messages of a batch, whose outcome a trigger refuses.
    void expect_one_held_back(node& orders, const std::string& make_trigger,
                              const std::string& drop_trigger) {
        ASSERT_EQ(outside(make_trigger), std::nullopt);
        orders.transact([](transaction& tx) {
            for (int i = 0; i < 6; ++i) tx.send("orders", i == 2 ? "Odd" : "Take", "{}");
        });
        const std::string sent = "SELECT count(*) FROM outbox_messages WHERE status = 'Sent'";
        EXPECT_TRUE(test::eventually([&] { return number(sent) == 5; })) << number(sent);
        EXPECT_EQ(number("SELECT count(*) FROM outbox_messages WHERE status = 'Pending' AND "
                         "endpoint = 'Odd'"),
                  1);
        EXPECT_TRUE(test::eventually([&] {
            const auto said = orders.health().reasons;
            return said.size() == 1 && said[0].starts_with("what became of 1 message");
        }));
        ASSERT_EQ(outside(drop_trigger), std::nullopt);
        EXPECT_TRUE(test::eventually([&] { return number(sent) == 6; })) << number(sent);
        EXPECT_EQ(number("SELECT count(*) FROM taken"), 6);
    }

    /// Triggers that let every change of a table vanish, without an error.
    virtual void swallow(const std::string& table) = 0;
    virtual void swallow_no_more(const std::string& table) = 0;

    /// With one table after the other like that: what `send` promised arrives once, and what it did
    /// not promise never does.
    void expect_nothing_lost(node& orders, const std::string& tables) {
        std::set<std::string> promised;
        for (std::int64_t i = 0;; ++i) {
            const auto table = first(tables + fmt::format(" ORDER BY 1 LIMIT 1 OFFSET {}", i));
            if (table.empty()) break;
            SCOPED_TRACE(table);
            swallow(table);
            for (int k = 0; k < 3; ++k) try {
                    promised.insert(orders.send("orders", "Take", "{}").to_string());
                } catch (const error& why) {
                    EXPECT_EQ(why.code(), error_code::statement_failed) << why.what();
                    EXPECT_EQ(table, "outbox_messages");
                }
            // What it did of its own accord meanwhile is done, or has come to nothing.
            orders.transact([](transaction&) {});
            swallow_no_more(table);
            for (const auto& id : promised)
                EXPECT_TRUE(test::eventually([&] {
                    return number("SELECT count(*) FROM taken WHERE id = '" + id + "'") == 1;
                })) << id;
            const std::string unsent =
                "SELECT count(*) FROM outbox_messages WHERE status <> 'Sent'";
            EXPECT_TRUE(test::eventually([&] { return number(unsent) == 0; })) << number(unsent);
        }
        EXPECT_GT(promised.size(), 20U);
        EXPECT_EQ(number("SELECT count(*) FROM taken"), std::ssize(promised));
        EXPECT_TRUE(test::eventually([&] { return orders.health().level == health_level::green; }));
    }
    [[nodiscard]] virtual std::string first(const std::string& sql) = 0;

    int accepted_ = 0;
    int refused_ = 0;

private:
    std::set<std::string> wanted_;
    int good_ = 0;
};

}  // namespace posthorn::integration
