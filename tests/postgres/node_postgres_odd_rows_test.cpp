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

}  // namespace
}  // namespace posthorn::integration
