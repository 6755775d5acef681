// What is true of the store on PostgreSQL alone: its server, its sessions, and others beside it.
#include <array>
#include <atomic>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/node.hpp"
#include "store/postgres/commit/postgres_store.hpp"
#include "support/eventually.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using test::postgres_client;
using ::testing::HasSubstr;

class postgres_store : public on_postgres {
protected:
    result<std::unique_ptr<posthorn::store>> try_open(const std::string& url) {
        return postgres::open({.url = url, .schema = place_.schema(), .service = "orders"},
                              {time_, writer_, log_});
    }

    real_clock time_;
    std::string logged_;
    logger log_{{.sink = [this](std::string_view line) { logged_ += line; }},
                [this] { return time_.wall(); }};
    worker_threads writer_{"writer"};
};

TEST_F(postgres_store, a_wrong_password_is_a_mistake_of_the_configuration) {
    auto url = test::postgres_url();
    url.replace(url.find(":posthorn@"), 10, ":wrong@");
    const auto opened = try_open(url);
    EXPECT_TRUE(refused_with(opened, error_code::invalid_configuration));
    EXPECT_THAT(opened.error().what(), ::testing::Not(HasSubstr("wrong")));
}

TEST_F(postgres_store, a_server_that_is_not_there_is_unavailable) {
    EXPECT_TRUE(
        refused_with(try_open("postgresql://a@127.0.0.1:1/b"), error_code::store_unavailable));
}

TEST_F(postgres_store, a_missing_right_is_named) {
    {
        const a_store owner(place_);
    }
    postgres_client admin;
    const auto role = "role_" + place_.schema();
    ASSERT_EQ(admin.run("CREATE ROLE " + role + " LOGIN PASSWORD 'p'"), std::nullopt);
    auto url = test::postgres_url();
    url.replace(url.find("posthorn:posthorn@"), 18, role + ":p@");
    const auto opened = try_open(url);
    EXPECT_FALSE(opened);
    if (!opened) EXPECT_THAT(opened.error().what(), HasSubstr("GRANT USAGE ON SCHEMA"));
    admin.run("DROP ROLE " + role);
}

TEST_F(postgres_store, all_rights_that_are_missing_are_logged_at_once) {
    {
        const a_store owner(place_);
    }
    postgres_client admin;
    const auto role = "role_" + place_.schema();
    const auto must = [&](const std::string& sql) {
        ASSERT_EQ(admin.run(sql), std::nullopt) << sql;
    };
    must("CREATE ROLE " + role + " LOGIN PASSWORD 'p'");
    must("GRANT USAGE ON SCHEMA " + place_.schema() + " TO " + role);
    must("GRANT ALL ON ALL TABLES IN SCHEMA " + place_.schema() + " TO " + role);
    must("REVOKE DELETE ON " + place_.schema() + ".outbox_due FROM " + role);
    must("REVOKE SELECT ON " + place_.schema() + ".outbox_pending FROM " + role);
    auto url = test::postgres_url();
    url.replace(url.find("posthorn:posthorn@"), 18, role + ":p@");
    if (const auto opened = try_open(url)) (*opened)->stop();
    EXPECT_THAT(logged_, HasSubstr("outbox_due"));
    EXPECT_THAT(logged_, HasSubstr("outbox_pending"));
    EXPECT_THAT(logged_, HasSubstr("outbox_seq"));
    EXPECT_THAT(logged_, ::testing::Not(HasSubstr("outbox_messages")));
    EXPECT_THAT(logged_, HasSubstr("GRANT USAGE ON ALL SEQUENCES IN SCHEMA"));
    logged_.clear();
    must("GRANT ALL ON ALL TABLES IN SCHEMA " + place_.schema() + " TO " + role);
    must("GRANT USAGE ON ALL SEQUENCES IN SCHEMA " + place_.schema() + " TO " + role);
    auto opened = try_open(url);
    ASSERT_TRUE(succeeded(opened));
    (*opened)->stop();
    EXPECT_EQ(logged_, "");
    opened->reset();
    must("DROP OWNED BY " + role);
    must("DROP ROLE " + role);
}

TEST_F(postgres_store, the_printed_definitions_make_a_schema_that_it_opens_as_it_is) {
    postgres_client admin(place_.url());
    ASSERT_EQ(admin.run(postgres::schema_definitions(place_.schema())), std::nullopt);
    const auto tables = "SELECT count(*) FROM pg_class WHERE relnamespace = '" + place_.schema() +
                        "'::regnamespace";
    const auto before = number(tables);
    a_store node(place_);
    EXPECT_TRUE(succeeded(node.put(sample())));
    EXPECT_EQ(number(tables), before);
}

TEST_F(postgres_store, settling_touches_no_index_of_the_messages) {
    a_store node(place_);
    ASSERT_TRUE(succeeded(node.run([](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.leases().take("dispatcher", "this test", std::nullopt));
        return {};
    })));
    ASSERT_TRUE(succeeded(
        node.run(execute("INSERT INTO outbox_messages (destination, endpoint, payload)"
                         " SELECT 'billing', 'Charge', '{}' FROM generate_series(1, 500)"))));
    take_in(node);
    // Where there is room on their pages, as there is once vacuum has been.
    postgres_client(place_.url()).run("VACUUM outbox_messages");
    for (std::int64_t first = 1; first <= 25; first += 5) {
        std::vector<settlement> some;  // A few on each page.
        for (auto seq = first; seq <= 500; seq += 25) some.push_back({.seq = seq, .at = noon});
        ASSERT_TRUE(succeeded(node.run([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.outbox().settle(some, 1));
            return {};
        })));
    }
    EXPECT_EQ(number("SELECT count(*) FROM outbox_due"), 400);
    // The server tells its counts with the end of this transaction, and not some seconds later.
    ASSERT_TRUE(succeeded(node.run(execute("SELECT pg_stat_force_next_flush()"))));
    EXPECT_EQ(number("SELECT n_tup_upd FROM pg_stat_user_tables WHERE relid = '" + place_.schema() +
                     ".outbox_messages'::regclass"),
              100);
    EXPECT_EQ(number("SELECT n_tup_upd - n_tup_hot_upd FROM pg_stat_user_tables WHERE relid = '" +
                     place_.schema() + ".outbox_messages'::regclass"),
              0);
}

TEST_F(postgres_store, a_plan_made_for_a_small_table_is_not_kept_when_it_has_grown) {
    a_store node(place_);
    ASSERT_TRUE(succeeded(node.run([](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.leases().take("dispatcher", "this test", std::nullopt));
        return {};
    })));
    const auto insert = [&](int rows) {
        const auto made = fmt::format(
            "INSERT INTO outbox_messages (destination, endpoint, payload)"
            " SELECT 'billing', 'Charge', '{{}}' FROM generate_series(1, {})",
            rows);
        ASSERT_EQ(postgres_client(place_.url()).run(made), std::nullopt);
        take_in(node);
    };
    const auto settle = [&](std::int64_t seq) {
        ASSERT_TRUE(succeeded(node.run([&](store_transaction& tx) -> result<> {
            const settlement sent{.seq = seq, .at = noon};
            POSTHORN_TRY(tx.outbox().settle({&sent, 1}, 1));
            return {};
        })));
    };
    const auto rows_read_one_after_the_other = [&] {
        EXPECT_TRUE(succeeded(node.run(execute("SELECT pg_stat_force_next_flush()"))));
        return number("SELECT seq_tup_read FROM pg_stat_user_tables WHERE relid = '" +
                      place_.schema() + ".outbox_messages'::regclass");
    };
    insert(20);
    for (std::int64_t seq = 1; seq <= 10; ++seq) settle(seq);
    insert(2'000);
    node.pass(std::chrono::minutes{1});
    settle(11);
    const auto before = rows_read_one_after_the_other();
    for (std::int64_t seq = 12; seq <= 20; ++seq) settle(seq);
    EXPECT_EQ(rows_read_one_after_the_other(), before);
}

TEST_F(postgres_store, a_settle_does_not_wait_for_a_producer_that_holds_the_key) {
    a_store node(place_);
    const auto head = put_first_of("k", node);
    postgres_client producer(place_.url());
    ASSERT_EQ(producer.run("BEGIN"), std::nullopt);
    ASSERT_EQ(producer.run("INSERT INTO outbox_messages (destination, endpoint, payload, order_key)"
                           " VALUES ('billing', 'Charge', '{}', 'k')"),
              std::nullopt);
    settle_first(head, node);
    ASSERT_EQ(producer.run("COMMIT"), std::nullopt);
    // It believed that the first was in its way. The next commit sets that right, at the latest.
    ASSERT_TRUE(succeeded(node.put(sample())));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_due WHERE next_retry_at = expires_at"), 0);
}

TEST_F(postgres_store, two_nodes_that_open_at_once_make_the_tables_once) {
    std::atomic<int> opened = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&, body = sample()] {
                a_store node(place_);
                opened += node.put(body).has_value();
            });
    }
    EXPECT_EQ(opened, 4);
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_migrations"), 5);
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_commits"), 0) << "each has taken its row along";
}

TEST_F(postgres_store, what_was_dropped_is_made_again_at_the_next_start) {
    {
        const a_store first(place_);
    }
    const std::string all =
        "SELECT string_agg(name, ',' ORDER BY name) FROM (SELECT relname::text AS name "
        "FROM pg_class WHERE relnamespace = '" +
        place_.schema() +
        "'::regnamespace UNION ALL SELECT proname::text FROM pg_proc WHERE pronamespace = '" +
        place_.schema() +
        "'::regnamespace UNION ALL SELECT tgname::text FROM pg_trigger JOIN pg_class "
        "ON pg_class.oid = tgrelid WHERE relnamespace = '" +
        place_.schema() + "'::regnamespace AND NOT tgisinternal) AS n";
    postgres_client outsider(place_.url());
    const auto before = outsider.rows(all).at(0).at(0);
    for (const auto* what : {"INDEX outbox_closed_age", "TRIGGER outbox_gone ON outbox_messages",
                             "TRIGGER due_row_came ON outbox_due", "VIEW posthorn_inbox",
                             "FUNCTION outbox_changed() CASCADE"})
        ASSERT_EQ(outsider.run("DROP " + std::string(what)), std::nullopt) << what;
    ASSERT_NE(outsider.rows(all).at(0).at(0), before);
    {
        const auto opened = try_open(place_.url());
        ASSERT_TRUE(succeeded(opened));
        (*opened)->stop();
    }
    EXPECT_EQ(outsider.rows(all).at(0).at(0), before);
    EXPECT_THAT(logged_, HasSubstr("outbox_gone"));
    EXPECT_THAT(logged_, HasSubstr("outbox_changed"));
    // What only the owner's triggers may run is not for all again.
    EXPECT_EQ(
        outsider
            .rows("SELECT count(*) FROM information_schema.routine_privileges WHERE "
                  "routine_schema = '" +
                  place_.schema() + "' AND routine_name = 'outbox_changed' AND grantee = 'PUBLIC'")
            .at(0)
            .at(0),
        "0");
}

TEST_F(postgres_store, what_was_changed_or_switched_off_is_put_right_at_the_next_start) {
    {
        const a_store first(place_);
    }
    postgres_client outsider(place_.url());
    const std::string source =
        "SELECT prosrc FROM pg_proc WHERE proname = 'outbox_gone' AND pronamespace = '" +
        place_.schema() + "'::regnamespace";
    const auto before = outsider.rows(source).at(0).at(0);
    ASSERT_EQ(outsider.run("CREATE OR REPLACE FUNCTION " + place_.schema() +
                           ".outbox_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN "
                           "NULL; END $$"),
              std::nullopt);
    ASSERT_EQ(outsider.run("ALTER TABLE outbox_messages DISABLE TRIGGER outbox_changed"),
              std::nullopt);
    {
        const auto opened = try_open(place_.url());
        ASSERT_TRUE(succeeded(opened));
        (*opened)->stop();
    }
    EXPECT_EQ(outsider.rows(source).at(0).at(0), before);
    EXPECT_EQ(outsider
                  .rows("SELECT tgenabled FROM pg_trigger WHERE tgname = 'outbox_changed' AND "
                        "tgrelid = 'outbox_messages'::regclass")
                  .at(0)
                  .at(0),
              "O");
    EXPECT_THAT(logged_, HasSubstr("made anew what was not as Posthorn had made it"));
    EXPECT_THAT(logged_, HasSubstr("outbox_changed, outbox_gone"));
    logged_.clear();
    const auto opened = try_open(place_.url());
    ASSERT_TRUE(succeeded(opened));
    (*opened)->stop();
    EXPECT_EQ(logged_, "") << "all is as it was made";
}

TEST_F(postgres_store, a_table_or_a_column_that_is_missing_is_named_with_what_to_do) {
    {
        const a_store first(place_);
    }
    postgres_client outsider(place_.url());
    using words = std::array<const char*, 3>;
    for (const auto& [change, back, named] :
         {words{"ALTER TABLE outbox_causes RENAME COLUMN first_at TO began_at",
                "ALTER TABLE outbox_causes RENAME COLUMN began_at TO first_at",
                "the column first_at of the table outbox_causes, which Posthorn needs"},
          words{"ALTER TABLE outbox_paused RENAME TO paused",
                "ALTER TABLE paused RENAME TO outbox_paused",
                "the table outbox_paused, which Posthorn needs"}}) {
        ASSERT_EQ(outsider.run(change), std::nullopt) << change;
        const auto opened = try_open(place_.url());
        ASSERT_TRUE(refused_with(opened, error_code::store_corrupt));
        EXPECT_THAT(opened.error().what(), HasSubstr(named));
        EXPECT_THAT(opened.error().what(), HasSubstr("restore a backup"));
        ASSERT_EQ(outsider.run(back), std::nullopt) << back;
    }
    const auto opened = try_open(place_.url());
    ASSERT_TRUE(succeeded(opened));
    (*opened)->stop();
}

TEST_F(postgres_store, a_send_says_what_to_do_once_the_numbers_are_used_up) {
    a_store node(place_);
    postgres_client outsider(place_.url());
    for (const auto* const last : {"4611686018427387903", "9223372036854775807"}) {
        ASSERT_EQ(outsider.run(fmt::format("SELECT setval('outbox_seq', {})", last)), std::nullopt);
        const auto refused = node.put(sample());
        ASSERT_FALSE(refused) << last;
        EXPECT_THAT(refused.error().what(), HasSubstr(".outbox_seq', (SELECT")) << last;
    }
    ASSERT_EQ(outsider.run("SELECT setval('outbox_seq', (SELECT coalesce(max(seq), 1) FROM "
                           "outbox_messages))"),
              std::nullopt);
    EXPECT_TRUE(succeeded(node.put(sample())));
}

}  // namespace
}  // namespace posthorn::conformance
