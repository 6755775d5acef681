// Rows of every type and extreme in the tables of a node at work: it lives, the good messages beside
// them arrive, and each bad one is refused by the database or says why it was not sent.
#include "support/odd_rows.hpp"

#include <cstdlib>

namespace posthorn::integration {
namespace {

class node_odd_rows : public odd_rows {
protected:
    std::optional<std::string> outside(const std::string& sql) override {
        try {
            file().run(sql);
            return std::nullopt;
        } catch (const std::runtime_error& why) {
            return why.what();
        }
    }
    [[nodiscard]] std::int64_t number(const std::string& sql) override {
        return file().integer(sql);
    }
    [[nodiscard]] std::string first(const std::string& sql) override { return file().text(sql); }
    void swallow(const std::string& table) override {
        for (const auto* change : {"INSERT", "UPDATE", "DELETE"})
            file().run(
                fmt::format("CREATE TRIGGER hush_{0} BEFORE {0} ON {1} BEGIN "
                            "SELECT RAISE(IGNORE); END",
                            change, table));
    }
    void swallow_no_more(const std::string&) override {
        for (const auto* change : {"INSERT", "UPDATE", "DELETE"})
            file().run(fmt::format("DROP TRIGGER hush_{}", change));
    }
    std::vector<std::string> describe() override {
        return test::split_at(file().lines(test::describe_in_file(
                                  "(t.name LIKE 'outbox%' OR t.name IN"
                                  " ('inbox_messages', 'posthorn_leases', 'changes'))")),
                              '\n');
    }
    database& file() {
        if (!file_) {
            file_.emplace(path("orders"));
            file_->run("PRAGMA synchronous = OFF");
            file_->run("PRAGMA busy_timeout = 10000");
        }
        return *file_;
    }
    /// More than usual, where a person asks for it.
    static int rows() {
        const char* const asked = std::getenv("POSTHORN_ODD_ROWS");
        return asked == nullptr ? 400 : std::atoi(asked);
    }

private:
    std::optional<database> file_;
};

TEST_F(node_odd_rows, stop_neither_the_node_nor_the_messages_beside_them) {
    node orders(options("orders"));
    take_messages(orders);
    orders.start();
    test::row_fuzz fuzz(20'261'117, test::row_fuzz::database::sqlite);
    write_rows(fuzz, rows());
    expect_all_in_order();
    update_rows(fuzz, 2);
    expect_all_in_order();
    orders.send("orders", "Take", "{}");
    orders.stop();
    node again(options("orders"));  // It starts with them, too.
}

TEST_F(node_odd_rows, whose_outcome_a_trigger_refuses_hold_up_no_others) {
    node orders(options("orders"));
    take_messages(orders);
    orders.start();
    expect_one_held_back(orders,
                         "CREATE TRIGGER refusing BEFORE UPDATE OF status ON outbox_messages "
                         "WHEN OLD.endpoint = 'Odd' BEGIN SELECT RAISE(ABORT, 'not this one'); END",
                         "DROP TRIGGER refusing");
}

TEST_F(node_odd_rows, whose_outcome_vanishes_hold_up_no_others) {
    node orders(options("orders"));
    take_messages(orders);
    orders.start();
    expect_one_held_back(orders,
                         "CREATE TRIGGER refusing BEFORE UPDATE OF status ON outbox_messages "
                         "WHEN OLD.endpoint = 'Odd' BEGIN SELECT RAISE(IGNORE); END",
                         "DROP TRIGGER refusing");
}

TEST_F(node_odd_rows, are_not_lost_to_triggers_that_let_changes_vanish) {
    node orders(options("orders"));
    take_messages(orders);
    orders.start();
    expect_nothing_lost(orders,
                        "SELECT name FROM sqlite_master WHERE type = 'table' AND (name LIKE "
                        "'outbox%' OR name LIKE 'inbox%' OR name LIKE 'posthorn%')");
}

}  // namespace
}  // namespace posthorn::integration
