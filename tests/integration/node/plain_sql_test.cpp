// Messages that another process writes with the sqlite3 shell, and nothing else.
#include <algorithm>
#include <future>
#include <vector>

#include <gmock/gmock.h>

#include "base/time/clock.hpp"
#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"
#include "support/process.hpp"

namespace posthorn::integration {
namespace {

using test::eventually;
using testing::HasSubstr;
using testing::StartsWith;

class node_plain_sql : public node_test {
protected:
    void shell(const std::string& sql) {
        const auto ran = test::run_process({"/usr/bin/sqlite3", "-bail", path("orders")},
                                           {.input = ".timeout 10000\n" + sql});
        EXPECT_EQ(ran.end, (test::process_end{0, 0})) << ran.err;
    }
    node_options shared_options() const {
        auto made = options("orders");
        made.store.shared = true;
        return made;
    }
    std::string status_of(const std::string& endpoint) {
        return text(orders,
                    "SELECT status FROM outbox_messages WHERE endpoint = '" + endpoint + "'");
    }
    std::string error_of(const std::string& endpoint) {
        return text(orders,
                    "SELECT last_error FROM outbox_messages WHERE endpoint = '" + endpoint + "'");
    }

    node orders{shared_options()};
    node inventory{options("inventory")};
};

TEST_F(node_plain_sql, is_picked_up_within_milliseconds) {
    const real_clock clock;
    std::vector<std::promise<std::int64_t>> delays(20);
    std::size_t next = 0;
    inventory.handle("OrderPlaced", [&](context&, const message& m) {
        delays.at(next++).set_value((clock.wall() - m.created_at).count());
    });
    inventory.start();
    orders.start();
    std::vector<std::int64_t> seen;
    for (auto& delay : delays) {
        // A transaction with a change of the producer's own.
        shell(
            "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS orders (id); INSERT INTO orders VALUES "
            "(1);"
            "INSERT INTO outbox_messages (destination, endpoint, payload)"
            " VALUES ('inventory', 'OrderPlaced', '{}'); COMMIT;");
        seen.push_back(delay.get_future().get());
        // A commit of the node's own would notice the next one too, without the watcher.
        const auto count = static_cast<std::int64_t>(seen.size());
        EXPECT_TRUE(eventually([&] { return orders.stats().sent == count; }));
    }
    std::ranges::sort(seen);
    RecordProperty("median_ms", std::to_string(seen[seen.size() / 2]));
    RecordProperty("slowest_ms", std::to_string(seen.back()));
    // The sweep, which backs the watcher, comes once a second.
    EXPECT_LT(seen[seen.size() / 2], 50) << testing::PrintToString(seen);
    EXPECT_LT(seen[seen.size() - 2], 250) << testing::PrintToString(seen);
}

TEST_F(node_plain_sql, was_there_before_the_node_started) {
    shell(
        "INSERT INTO outbox_messages (destination, endpoint, payload)"
        " VALUES ('inventory', 'OrderPlaced', '{}');");
    inventory.handle("OrderPlaced", [](context&, const message&) {});
    inventory.start();
    orders.start();
    EXPECT_TRUE(eventually([&] { return orders.stats().sent == 1; }));
}

TEST_F(node_plain_sql, that_is_no_message_becomes_dead_with_the_reason_and_blocks_nothing) {
    inventory.handle("Good", [](context&, const message&) {});
    inventory.start();
    orders.start();
    shell(
        "INSERT INTO outbox_messages (destination, endpoint, payload) VALUES"
        " ('inventory', 'NotJson', '{oops'), ('inventory', 'Good', '{}');");
    shell(
        "INSERT INTO outbox_messages (destination, endpoint, payload, message_id)"
        " VALUES ('inventory', 'BadId', '{}', 'one');"
        "INSERT INTO outbox_messages (destination, endpoint, payload, message_type)"
        " VALUES ('inventory', 'BadKind', '{}', 'Letter');"
        "INSERT INTO outbox_messages (destination, endpoint, payload, headers)"
        " VALUES ('inventory', 'BadHeaders', '{}', '[1]');"
        "INSERT INTO outbox_messages (destination, endpoint, payload)"
        " VALUES ('inventory', 'TooLarge', json_quote(printf('%.1100000c', 'x')));");
    EXPECT_TRUE(eventually([&] { return orders.stats().dead == 5; }));
    EXPECT_TRUE(eventually([&] { return status_of("Good") == "Sent"; }));
    EXPECT_THAT(error_of("NotJson"), HasSubstr("application/json"));
    EXPECT_THAT(error_of("NotJson"), StartsWith("invalid_payload: "));
    EXPECT_THAT(error_of("TooLarge"), StartsWith("message_too_large: "));
    EXPECT_THAT(error_of("BadId"), StartsWith("invalid_argument: "));
    EXPECT_THAT(error_of("BadId"), HasSubstr("id"));
    EXPECT_THAT(error_of("BadKind"), HasSubstr("Letter"));
    EXPECT_THAT(error_of("BadHeaders"), HasSubstr("headers"));
    EXPECT_THAT(error_of("TooLarge"), HasSubstr("1048576"));
}

TEST_F(node_plain_sql, with_text_for_a_time_is_refused_in_the_producers_face) {
    const auto ran = test::run_process(
        {"/usr/bin/sqlite3", path("orders"),
         "INSERT INTO outbox_messages (destination, endpoint, payload, expires_at)"
         " VALUES ('inventory', 'OrderPlaced', '{}', '2030-01-01T00:00:00Z')"});
    EXPECT_NE(ran.end, (test::process_end{0, 0}));
    EXPECT_THAT(ran.err, HasSubstr("CHECK constraint failed"));
}

TEST_F(node_plain_sql, with_bytes_for_a_name_is_refused_in_the_producers_face) {
    const auto ran =
        test::run_process({"/usr/bin/sqlite3", path("orders"),
                           "INSERT INTO outbox_messages (destination, endpoint, payload)"
                           " VALUES (CAST('inventory' AS BLOB), 'OrderPlaced', '{}')"});
    EXPECT_NE(ran.end, (test::process_end{0, 0}));
    EXPECT_THAT(ran.err, HasSubstr("destination_is_text"));
}

}  // namespace
}  // namespace posthorn::integration
