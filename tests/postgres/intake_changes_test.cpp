// Messages that are changed, counted, or not as they should be, before they are taken in.
#include <thread>

#include "postgres/intake.hpp"
#include "support/eventually.hpp"

namespace posthorn::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(postgres_intake, leaves_what_somebody_is_changing_until_that_is_done) {
    must(producer_, insert(4));
    must(other_, "BEGIN; UPDATE outbox_messages SET status = 'Resolved' WHERE seq = 2");
    must(other_, "DELETE FROM outbox_messages WHERE seq = 3");
    must(other_,
         "UPDATE outbox_messages SET destination = 'stock', next_retry_at = 7 WHERE seq = 4");
    for (int i = 0; i < 2; ++i) {
        EXPECT_FALSE(take_in());
        EXPECT_THAT(due(), ElementsAre(1));
        EXPECT_TRUE(has_arrivals());
    }
    must(other_, "COMMIT");
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(1, 4));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_due WHERE destination = 'stock' AND seq = 4"
                     " AND next_retry_at = 7"),
              1);
    EXPECT_TRUE(succeeded(node().get().check_integrity()));
}

TEST_F(postgres_intake, is_waited_for_by_who_changes_what_is_being_taken_in) {
    must(producer_,
         "INSERT INTO outbox_messages (destination, endpoint, payload, next_retry_at)"
         " VALUES ('billing', 'Charge', '{}', 7)");
    must(other_, "BEGIN; SELECT take_in(100, 0, '{}')");
    std::jthread person([this] {
        EXPECT_EQ(postgres_client(place_.url()).run("UPDATE outbox_messages SET next_retry_at = 0"),
                  std::nullopt);
    });
    ASSERT_TRUE(test::eventually([this] {
        return !eye_.rows(
                        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query"
                        " LIKE 'UPDATE outbox_messages SET next_retry_at%'")
                    .empty();
    }));
    must(other_, "COMMIT");
    person.join();
    EXPECT_EQ(number("SELECT count(*) FROM outbox_due WHERE next_retry_at = 0"), 1);
}

TEST_F(postgres_intake, looks_again_where_a_row_is_made_beside_it) {
    must(producer_, insert(3));
    must(other_,
         "BEGIN; INSERT INTO outbox_due (seq, destination, tenant, priority, next_retry_at,"
         " expires_at) SELECT seq, destination, '', 0, 7, expires_at FROM outbox_messages"
         " WHERE seq = 2");
    bool has_more = false;
    std::jthread taker([&] { has_more = take_in(); });
    ASSERT_TRUE(test::eventually([this] {
        return !eye_.rows(
                        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query"
                        " LIKE '%FROM \"" +
                        place_.schema() + "\".take_in(%'")
                    .empty();
    }));
    must(other_, "COMMIT");
    taker.join();
    EXPECT_TRUE(has_more);
    EXPECT_THAT(due(), ElementsAre(2));
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(1, 2, 3));
    EXPECT_EQ(number("SELECT next_retry_at FROM outbox_due WHERE seq = 2"), 7);
}

TEST_F(postgres_intake, is_not_overlooked_by_a_transaction_that_sees_the_past) {
    dispatch();
    must(producer_, insert(3));
    must(other_, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM outbox_messages");
    EXPECT_FALSE(take_in());
    must(other_, "SAVEPOINT s");
    EXPECT_THAT(
        other_.run("UPDATE outbox_messages SET next_retry_at = 7 WHERE seq = 1").value_or(""),
        HasSubstr("run it again"));
    must(other_, "ROLLBACK TO s; UPDATE outbox_messages SET status = 'Sent' WHERE seq = 2");
    must(other_, "DELETE FROM outbox_messages WHERE seq = 3; COMMIT");
    EXPECT_THAT(due(), ElementsAre(1, 2, 3)) << "or this shows nothing";
    EXPECT_THAT(claim(), ElementsAre(1));
    EXPECT_THAT(due(), ElementsAre(1));
}

TEST_F(postgres_intake, is_not_stopped_by_names_that_are_too_long) {
    const std::string longest =
        "(SELECT string_agg(md5(n::text), '') FROM generate_series(1, 90) AS n)";
    for (const auto* column : {"destination", "tenant", "order_key"}) {
        const std::string others = column == std::string("destination") ? "" : "destination, ";
        const std::string values = others.empty() ? "" : "'billing', ";
        EXPECT_THAT(producer_
                        .run("INSERT INTO outbox_messages (" + others + "endpoint, payload, " +
                             column + ") VALUES (" + values + "'Charge', '{}', " + longest + ")")
                        .value_or(""),
                    HasSubstr("2048 bytes"))
            << column;
    }
    must(producer_, insert());
    EXPECT_THAT(producer_.run("UPDATE outbox_messages SET tenant = " + longest).value_or(""),
                HasSubstr("2048 bytes"));
    EXPECT_FALSE(take_in());
    EXPECT_EQ(due().size(), 1);
}

TEST_F(postgres_intake, does_not_let_a_row_stand_for_the_message_of_another) {
    dispatch();
    must(producer_, insert());
    must(other_,
         "INSERT INTO outbox_messages (seq, destination, endpoint, payload, order_key,"
         " deliver_at) OVERRIDING SYSTEM VALUE VALUES (1, 'mine', 'Charge', '{}', 'k',"
         " 253402300799999) ON CONFLICT DO NOTHING");
    EXPECT_THAT(due(), IsEmpty());
    EXPECT_FALSE(take_in());
    EXPECT_THAT(claim(), ElementsAre(1));
}

TEST_F(postgres_intake, leaves_what_is_closed_and_being_changed_until_that_is_done) {
    for (int i = 0; i < 2; ++i)
        must(producer_,
             "INSERT INTO outbox_messages (destination, endpoint, payload, dedupe_key)"
             " VALUES ('billing', 'Charge', '{}', 'd')");
    must(other_, "BEGIN; UPDATE outbox_messages SET status = 'Pending' WHERE seq = 2");
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(1));
    must(other_, "COMMIT");
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(1, 2));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_closed"), 0);
}

TEST_F(postgres_intake, does_not_refuse_what_a_transaction_changes_of_its_own) {
    must(producer_, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    must(producer_, insert());
    must(producer_, "UPDATE outbox_messages SET headers = '{}'; COMMIT");
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(1));
}

TEST_F(postgres_intake, order_holds_for_who_changes_what_he_has_just_stored) {
    must(producer_, "BEGIN");
    must(producer_,
         "INSERT INTO outbox_messages (destination, endpoint, payload, order_key)"
         " VALUES ('billing', 'Charge', '{}', 'k')");
    must(producer_, "UPDATE outbox_messages SET tenant = 't'; COMMIT");
    must(producer_,
         "INSERT INTO outbox_messages (destination, endpoint, payload, order_key, tenant)"
         " VALUES ('billing', 'Charge', '{}', 'k', 't')");
    EXPECT_EQ(number("SELECT min(seq) FROM outbox_due WHERE next_retry_at = 0"), 1);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_due WHERE next_retry_at = 0"), 1);
}

TEST_F(postgres_intake, order_holds_for_who_has_made_all_constraints_immediate) {
    must(producer_, "BEGIN; SET CONSTRAINTS ALL IMMEDIATE");
    for (int i = 0; i < 2; ++i)
        must(producer_,
             "INSERT INTO outbox_messages (destination, endpoint, payload, order_key)"
             " VALUES ('billing', 'Charge', '{}', 'k')");
    must(producer_, "COMMIT");
    EXPECT_THAT(due(), ElementsAre(1, 2));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_due WHERE next_retry_at = 0"), 1);
}

TEST_F(postgres_intake, does_not_lose_what_is_made_pending_again_while_its_old_row_goes) {
    dispatch();
    must(producer_, insert());
    EXPECT_FALSE(take_in());
    must(eye_,
         "ALTER TABLE outbox_messages DISABLE TRIGGER USER;"
         "UPDATE outbox_messages SET status = 'Dead';"
         "ALTER TABLE outbox_messages ENABLE TRIGGER USER");
    must(other_, "BEGIN; UPDATE outbox_messages SET status = 'Pending'");
    EXPECT_THAT(claim(), IsEmpty());
    must(other_, "COMMIT");
    EXPECT_THAT(claim(), ElementsAre(1));
}

TEST_F(postgres_intake, is_not_needed_to_count_and_to_list_what_is_pending) {
    must(producer_, insert(3));
    must(producer_,
         "INSERT INTO outbox_messages (destination, endpoint, payload, order_key)"
         " VALUES ('stock', 'Reserve', '{}', 'k')");
    const auto look = [&] {
        ASSERT_TRUE(succeeded(node().get().read([](store_reader& reader) -> result<> {
            const auto pending = reader.inspect().count(outbox_status::pending, 100);
            if (!pending) return std::unexpected(pending.error());
            EXPECT_EQ(pending->value, 4);
            const auto listed = reader.inspect().list(
                message_filter{.status = outbox_status::pending, .limit = 10});
            if (!listed) return std::unexpected(listed.error());
            std::vector<std::int64_t> seqs;
            for (const auto& row : listed->rows) seqs.push_back(row.seq);
            EXPECT_THAT(seqs, ElementsAre(4, 3, 2, 1));
            const auto backlog = reader.inspect().backlog(noon, {});
            if (!backlog) return std::unexpected(backlog.error());
            std::vector<std::int64_t> by_destination;
            for (const auto& one : backlog->destinations)
                by_destination.push_back(one.pending.value);
            EXPECT_THAT(by_destination, ElementsAre(3, 1));
            return {};
        })));
        EXPECT_TRUE(succeeded(node().get().check_integrity()));
    };
    look();
    EXPECT_FALSE(take_in());
    look();
    must(eye_, "DELETE FROM outbox_due WHERE seq = 2");
    EXPECT_TRUE(refused_with(node().get().check_integrity(), error_code::store_corrupt));
}

TEST_F(postgres_intake, records_when_a_producer_stored_what_is_not_to_be_sent) {
    for (int i = 0; i < 2; ++i)
        must(producer_,
             "INSERT INTO outbox_messages (destination, endpoint, payload, dedupe_key)"
             " VALUES ('billing', 'Charge', '{}', 'd')");
    EXPECT_TRUE(succeeded(node().get().check_integrity()));
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(1));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_closed WHERE status = 'Resolved'"), 1);
    EXPECT_TRUE(succeeded(node().get().check_integrity()));
}

TEST_F(postgres_intake, many_messages_of_an_order_key_in_one_statement_wait_for_the_first) {
    must(producer_,
         "INSERT INTO outbox_messages (destination, endpoint, payload, order_key)"
         " SELECT 'billing', 'Charge', '{}', 'k' || n % 20 FROM"
         " generate_series(1, 2000) AS n");
    EXPECT_EQ(number("SELECT count(*) FROM outbox_due"), 2'000);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_due WHERE next_retry_at = 0"), 20);
    EXPECT_EQ(number("SELECT max(seq) FROM outbox_due WHERE next_retry_at = 0"), 20);
}

}  // namespace
}  // namespace posthorn::conformance
