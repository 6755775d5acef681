// Rows of every type and extreme in the schema of a node at work, as
// tests/integration/node_odd_rows_test.cpp does it to a file.
#include "integration/odd_rows.hpp"
#include "support/postgres/postgres_server.hpp"

namespace posthorn::integration {
namespace {

class node_postgres_odd_rows : public odd_rows {
protected:
    std::optional<std::string> outside(const std::string& sql) override { return client_.run(sql); }
    [[nodiscard]] std::int64_t number(const std::string& sql) override {
        return std::stoll(client_.rows(sql).at(0).at(0).value_or("-1"));
    }
    [[nodiscard]] std::string first(const std::string& sql) override {
        const auto found = client_.rows(sql);
        return found.empty() ? std::string() : found[0].at(0).value_or("");
    }
    void swallow(const std::string& table) override {
        EXPECT_EQ(outside("CREATE OR REPLACE FUNCTION hush() RETURNS trigger LANGUAGE plpgsql AS "
                          "$$ BEGIN RETURN NULL; END $$; "
                          "CREATE TRIGGER hush BEFORE INSERT OR UPDATE OR DELETE ON " +
                          table + " FOR EACH ROW EXECUTE FUNCTION hush()"),
                  std::nullopt);
    }
    void swallow_no_more(const std::string& table) override {
        EXPECT_EQ(outside("DROP TRIGGER hush ON " + table), std::nullopt);
    }
    [[nodiscard]] node_options on_server() const {
        auto with = options("orders");
        with.store.database = place_.url();
        with.store.schema = place_.schema();
        return with;
    }

private:
    test::postgres_place place_;
    test::postgres_client client_{place_.url()};
};

TEST_F(node_postgres_odd_rows, stop_neither_the_node_nor_the_messages_beside_them) {
    node orders(on_server());
    take_messages(orders);
    orders.start();
    test::row_fuzz fuzz(20'261'117, test::row_fuzz::database::postgres);
    write_rows(fuzz, test::number_from("POSTHORN_ODD_ROWS", 400));
    expect_all_in_order();
    orders.stop();
    node again(on_server());  // It starts with them, too.
}

TEST_F(node_postgres_odd_rows, whose_outcome_a_trigger_refuses_hold_up_no_others) {
    node orders(on_server());
    take_messages(orders);
    orders.start();
    expect_one_held_back(
        orders,
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF OLD.endpoint = 'Odd' THEN RAISE EXCEPTION 'not this one'; END IF; RETURN NEW; END $$; "
        "CREATE TRIGGER refusing BEFORE UPDATE ON outbox_messages FOR EACH ROW "
        "EXECUTE FUNCTION refuse()",
        "DROP TRIGGER refusing ON outbox_messages");
}

TEST_F(node_postgres_odd_rows, whose_outcome_vanishes_hold_up_no_others) {
    node orders(on_server());
    take_messages(orders);
    orders.start();
    expect_one_held_back(orders,
                         "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                         "IF OLD.endpoint = 'Odd' THEN RETURN NULL; END IF; RETURN NEW; END $$; "
                         "CREATE TRIGGER refusing BEFORE UPDATE ON outbox_messages FOR EACH ROW "
                         "EXECUTE FUNCTION refuse()",
                         "DROP TRIGGER refusing ON outbox_messages");
}

TEST_F(node_postgres_odd_rows, are_not_lost_to_triggers_that_let_changes_vanish) {
    node orders(on_server());
    take_messages(orders);
    orders.start();
    expect_nothing_lost(orders,
                        "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace ="
                        " (SELECT relnamespace FROM pg_class WHERE oid = "
                        "'outbox_messages'::regclass) AND (relname LIKE 'outbox%' OR relname "
                        "LIKE 'inbox%' OR relname LIKE 'posthorn%')");
}

}  // namespace
}  // namespace posthorn::integration
