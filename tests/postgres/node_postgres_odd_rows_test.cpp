// Rows of every type and extreme in the schema of a node at work, as
// tests/integration/node/odd_rows_test.cpp does it to a file.
#include "support/odd_rows.hpp"
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
    std::vector<std::string> describe() override {
        std::vector<std::string> all;
        for (const auto& row : client_.rows(test::describe_on_server(
                 place_.schema(),
                 "(t.relname LIKE 'outbox%' OR t.relname IN ('inbox_messages',"
                 " 'posthorn_leases', 'posthorn_commits', 'changes'))")))
            all.push_back(row.at(0).value_or(""));
        return all;
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
    update_rows(fuzz, 2);
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

TEST_F(node_postgres_odd_rows, are_found_again_though_what_leads_to_them_was_deleted) {
    {
        node orders(on_server());
        take_messages(orders);
    }
    // A message with an order key has its row in outbox_due at once.
    for (int i = 0; i < 3; ++i)
        ASSERT_EQ(outside(fmt::format("INSERT INTO outbox_messages (destination, endpoint, payload,"
                                      " order_key) VALUES ('orders', 'Take', '{{}}', 'k{}')",
                                      i)),
                  std::nullopt);
    ASSERT_EQ(number("SELECT count(*) FROM outbox_due"), 3);
    ASSERT_EQ(outside("DELETE FROM outbox_due"), std::nullopt);
    ASSERT_EQ(outside("UPDATE outbox_intake SET seen = pg_current_snapshot(), seen_but_for = '{}'"),
              std::nullopt);
    node orders(on_server());
    orders.handle("Take", [](context& here, const message& got) {
        here.execute("INSERT INTO taken (id, endpoint) VALUES (?, ?)", got.id.to_string(),
                     got.endpoint);
    });
    orders.start();
    EXPECT_TRUE(test::eventually([&] { return number("SELECT count(*) FROM taken") == 3; }));
}

TEST_F(node_postgres_odd_rows, let_no_follower_pass_a_dead_one_whose_account_was_deleted) {
    const auto add = [&](const std::string& endpoint, const std::string& key) {
        ASSERT_EQ(outside("INSERT INTO outbox_messages (destination, endpoint, payload, order_key)"
                          " VALUES ('orders', '" +
                          endpoint + "', '{}', '" + key + "')"),
                  std::nullopt);
    };
    const auto with_handlers = [](node& orders) {
        orders.handle("Refuse", [](context&, const message&) { throw permanent("no"); });
        orders.handle("Take", [](context& here, const message& got) {
            here.execute("INSERT INTO taken (id, endpoint) VALUES (?, ?)", got.id.to_string(),
                         got.order_key);
        });
    };
    {
        node orders(on_server());
        with_handlers(orders);
        orders.transact(
            [](transaction& tx) { tx.execute("CREATE TABLE taken (id text, endpoint text)"); });
        orders.start();
        for (const auto* const key : {"a", "b"}) {
            add("Refuse", key);
            add("Take", key);
        }
        ASSERT_TRUE(test::eventually([&] { return orders.stats().dead == 2; }));
    }
    // The one is dead still, the other is gone.
    ASSERT_EQ(outside("DELETE FROM outbox_closed"), std::nullopt);
    ASSERT_EQ(outside("DELETE FROM outbox_messages WHERE order_key = 'b' AND endpoint = 'Refuse'"),
              std::nullopt);
    node orders(on_server());
    with_handlers(orders);
    orders.start();
    ASSERT_TRUE(test::eventually([&] { return number("SELECT count(*) FROM taken") > 0; }));
    EXPECT_EQ(first("SELECT string_agg(endpoint, ' ') FROM taken"), "b");
    EXPECT_EQ(orders.stats().dead, 1U);
}

TEST_F(node_postgres_odd_rows, that_cannot_be_taken_in_are_told_by_health_and_hold_up_no_others) {
    node orders(on_server());
    take_messages(orders);
    orders.start();
    ASSERT_EQ(
        outside("CREATE FUNCTION boom() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                "IF NEW.destination = 'evil' THEN RAISE EXCEPTION 'boom'; END IF; RETURN NEW; "
                "END $$; CREATE TRIGGER boom BEFORE INSERT ON outbox_due FOR EACH ROW "
                "EXECUTE FUNCTION boom()"),
        std::nullopt);
    ASSERT_EQ(outside("INSERT INTO outbox_messages (destination, endpoint, payload)"
                      " VALUES ('evil', 'Take', '{}')"),
              std::nullopt);
    const auto says_why = [&] {
        const auto seen = orders.health();
        return seen.level == health_level::red &&
               std::ranges::any_of(seen.reasons,
                                   [](const auto& why) { return why.contains("boom"); });
    };
    EXPECT_TRUE(test::eventually(says_why));
    for (int i = 0; i < 5; ++i)
        ASSERT_EQ(outside("INSERT INTO outbox_messages (destination, endpoint, payload)"
                          " VALUES ('orders', 'Take', '{}'), ('evil', 'Take', '{}')"),
                  std::nullopt);
    EXPECT_TRUE(test::eventually([&] { return number("SELECT count(*) FROM taken") == 5; }));
    EXPECT_TRUE(says_why());
    EXPECT_TRUE(test::eventually([&] { return orders.stats().pending == 6; }));
    ASSERT_EQ(outside("DROP TRIGGER boom ON outbox_due"), std::nullopt);
    EXPECT_TRUE(test::eventually([&] { return !says_why(); }));
}

}  // namespace
}  // namespace posthorn::integration
