// What dispatch costs beside old rows, in blocks that the server touches: no clock is asked.
#include <atomic>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"
#include "support/postgres/postgres_server.hpp"

namespace posthorn::integration {
namespace {

using test::eventually;

constexpr int messages = 500;

class postgres_size : public node_test {
protected:
    struct cost {
        double blocks = 0;         // Of tables and indexes, for each message.
        std::int64_t scanned = 0;  // Rows that were found otherwise than by a key.
    };
    struct places {
        test::postgres_place ours;
        test::postgres_place theirs;
    };

    [[nodiscard]] node_options on(const std::string& service,
                                  const test::postgres_place& place) const {
        auto with = options(service);
        with.store.database = place.url();
        with.store.schema = place.schema();
        return with;
    }

    static void run(const test::postgres_place& on, const std::vector<std::string>& statements) {
        test::postgres_client client(on.url());
        for (const auto& sql : statements) ASSERT_EQ(client.run(sql), std::nullopt) << sql;
    }
    /// Sent ones here, taken in ones there. Autovacuum would come by amid the counting.
    static void fill(const places& in, int rows) {
        const auto numbered = fmt::format(
            "SELECT '00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0') AS id, to_ms(now()) AS "
            "at"
            " FROM generate_series(1, {}) AS n",
            rows);
        run(in.ours,
            {"ALTER TABLE outbox_messages DISABLE TRIGGER USER",
             "INSERT INTO outbox_messages (message_id, destination, endpoint, payload, status,"
             " sent_at) SELECT id, 'inventory', 'Take', '{\"n\":1}', 'Sent', at FROM (" +
                 numbered + ") AS o",
             "ALTER TABLE outbox_messages ENABLE TRIGGER USER",
             "ALTER TABLE outbox_messages SET (autovacuum_enabled = off)",
             "ALTER TABLE outbox_due SET (autovacuum_enabled = off)",
             "VACUUM ANALYZE outbox_messages"});
        run(in.theirs,
            {"INSERT INTO inbox_messages (source_service_id, message_id, endpoint, body_hash,"
             " processed_at, response_payload, expires_at) SELECT 'orders', id, 'Take',"
             " decode(md5(id), 'hex'), at, '{}', at + 172800000 FROM (" +
                 numbered + ") AS o",
             "ALTER TABLE inbox_messages SET (autovacuum_enabled = off)",
             "VACUUM ANALYZE inbox_messages"});
    }

    static std::int64_t sum(const places& in, const std::string& what) {
        test::postgres_client client;
        const auto found = client.rows(fmt::format(
            "SELECT coalesce(sum({}), 0)::bigint FROM pg_stat_user_tables JOIN "
            "pg_statio_user_tables"
            " USING (relid) WHERE pg_stat_user_tables.schemaname IN ('{}', '{}') AND"
            " pg_stat_user_tables.relname IN ('outbox_messages', 'inbox_messages', 'outbox_due')",
            what, in.ours.schema(), in.theirs.schema()));
        return std::stoll(found.front().front().value_or("0"));
    }
    static std::int64_t blocks(const places& in) {
        return sum(in,
                   "heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit, 0)"
                   " + coalesce(idx_blks_read, 0)");
    }
    static std::int64_t scanned(const places& in) {
        return sum(in,
                   "CASE pg_stat_user_tables.relname WHEN 'outbox_due' THEN 0 ELSE seq_tup_read "
                   "END");
    }
    /// What sessions did shows when they have ended.
    static bool is_quiet(const places& in) {
        test::postgres_client client;
        return eventually([&] {
            return client
                .rows(
                    "SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'posthorn %' AND"
                    " datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%" +
                    in.ours.schema() + "%'")
                .empty();
        });
    }

    cost measure(int old_rows) {
        const places in;
        {
            const node orders{on("orders", in.ours)};
            const node inventory{on("inventory", in.theirs)};
        }
        fill(in, old_rows);
        EXPECT_TRUE(is_quiet(in));
        const auto blocks_before = blocks(in);
        const auto scanned_before = scanned(in);
        {
            node orders{on("orders", in.ours)};
            node inventory{on("inventory", in.theirs)};
            std::atomic<int> handled = 0;
            inventory.handle("Take", [&](context&, const message&) { ++handled; });
            inventory.start();
            orders.start();
            for (int i = 0; i < messages; i += 50)
                orders.transact([](transaction& tx) {
                    for (int n = 0; n < 50; ++n) tx.send("inventory", "Take", "{}");
                });
            EXPECT_TRUE(eventually([&] { return handled == messages; }));
        }
        EXPECT_TRUE(is_quiet(in));
        return {static_cast<double>(blocks(in) - blocks_before) / messages,
                scanned(in) - scanned_before};
    }
};

TEST_F(postgres_size, of_old_rows_costs_dispatch_nothing_but_a_step_of_an_index) {
    const int old_rows = test::number_from("POSTHORN_OLD_ROWS", 20'000);
    const auto none = measure(0);
    const auto many = measure(old_rows);
    fmt::print(
        "{} messages beside {} old rows: {:.1f} blocks each, beside none {:.1f}, ratio {:.2f};"
        " {} old rows were looked at\n",
        messages, old_rows, many.blocks, none.blocks, many.blocks / none.blocks, many.scanned);
    EXPECT_GT(none.blocks, 1);
    EXPECT_LT(many.blocks, 2 * none.blocks);
    EXPECT_LT(many.scanned, messages) << "but by a key";
}

}  // namespace
}  // namespace posthorn::integration
