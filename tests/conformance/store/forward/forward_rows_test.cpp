// What a site holds for its targets, and what is told of it, on every database.
#include "conformance/store/forward/forward_store.hpp"

namespace posthorn::conformance {
namespace {

TEST_P(forward_store, takes_a_row_of_plain_sql_as_work_for_a_target) {
    const auto id = hold(0);
    EXPECT_EQ(text("SELECT destination FROM outbox_messages"), "forward:ExternalSystem/erp");
    EXPECT_EQ(number("SELECT max_retries FROM outbox_messages"), 2)
        << "three attempts: the first is one of them";
    EXPECT_EQ(number("SELECT category FROM sf_messages"), 0);
    EXPECT_EQ(number("SELECT status FROM sf_messages"), 0);
    EXPECT_EQ(number("SELECT max_retries FROM sf_messages"), 3);
    EXPECT_EQ(number("SELECT retry_interval_ms FROM sf_messages"), 30'000);
    EXPECT_EQ(text("SELECT id FROM sf_messages"), id);
    EXPECT_EQ(text("SELECT origin_instance FROM sf_messages"), "line 3");
    EXPECT_EQ(tracked(id), "Submitted");
    EXPECT_EQ(total("ExternalSystem").waiting, 1);
    EXPECT_EQ(total("ExternalSystem").bytes, 11);
    EXPECT_TRUE(total("ExternalSystem").oldest);
}

TEST_P(forward_store, tracks_what_is_to_be_tracked_and_no_other) {
    hold(0);
    hold(1);
    hold(2);
    EXPECT_EQ(number("SELECT count(*) FROM OperationTracking"), 2);
    EXPECT_EQ(number("SELECT count(*) FROM OperationTracking WHERE Kind = 'Notification'"), 0);
}

TEST_P(forward_store, takes_an_id_in_either_form_and_keeps_one) {
    must(
        "INSERT INTO sf_messages (id, category, target, payload_json)"
        " VALUES ('0123456789abcdef0123456789ABCDEF', 2, 'db', '{}')");
    EXPECT_EQ(text("SELECT id FROM sf_messages"), "01234567-89ab-cdef-0123-456789abcdef");
    EXPECT_EQ(tracked("01234567-89ab-cdef-0123-456789abcdef"), "Submitted");
}

TEST_P(forward_store, refuses_rows_that_make_no_sense_with_a_reason) {
    db();
    const auto refused = [&](const std::string& columns, const std::string& values) {
        return disk()
            .connect()
            ->run(fmt::format("INSERT INTO sf_messages ({}, payload_json) VALUES ({}, '{{}}')",
                              columns, values))
            .value_or("");
    };
    using ::testing::HasSubstr;
    EXPECT_THAT(refused("category, target", "9, 'erp'"), HasSubstr("no such category"));
    EXPECT_THAT(refused("category, target", "0, ''"), HasSubstr("at most 180 bytes"));
    EXPECT_THAT(refused("category, target", fmt::format("0, '{}'", std::string(65'536, 'x'))),
                HasSubstr("at most 180 bytes"));
    EXPECT_THAT(refused("category, target, status", "0, 'erp', 2"), HasSubstr("status 0"));
    EXPECT_THAT(refused("category, target, max_retries", "0, 'erp', -1"),
                HasSubstr("not negative"));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), 0);
}

TEST_P(forward_store, follows_its_message_however_that_is_given_up_or_taken_up_again) {
    const auto id = hold(0);
    set_status(id, "Dead");
    EXPECT_EQ(number("SELECT status FROM sf_messages"), 2);
    EXPECT_EQ(text("SELECT last_error FROM sf_messages"), "no paper");
    EXPECT_EQ(tracked(id), "Parked");
    EXPECT_EQ(total("ExternalSystem").waiting, 0);
    EXPECT_EQ(total("ExternalSystem").parked, 1);

    EXPECT_TRUE(change(&retry_parked, id));
    EXPECT_FALSE(change(&retry_parked, id)) << "it is not parked any more";
    EXPECT_EQ(number("SELECT status FROM sf_messages"), 0);
    EXPECT_EQ(tracked(id), "Submitted");
    EXPECT_EQ(text("SELECT status FROM outbox_messages"), "Pending");

    set_status(id, "Expired");
    EXPECT_EQ(tracked(id), "Parked");
    EXPECT_TRUE(change(&discard_parked, id));
    EXPECT_EQ(number("SELECT count(*) FROM sf_messages"), 0);
    EXPECT_EQ(tracked(id), "Discarded");
    EXPECT_EQ(total("ExternalSystem").parked, 0);
    EXPECT_EQ(total("ExternalSystem").bytes, 0);
    EXPECT_FALSE(change(&discard_parked, id));
}

TEST_P(forward_store, does_the_same_by_plain_sql) {
    const auto id = hold(2);
    EXPECT_NE(disk().connect()->run("DELETE FROM sf_messages"), std::nullopt)
        << "what waits is not discarded";
    set_status(id, "Dead");
    must("UPDATE sf_messages SET status = 0 WHERE status = 2");
    EXPECT_EQ(text("SELECT status FROM outbox_messages"), "Pending");
    EXPECT_EQ(total("CachedDbWrite").waiting, 1);
    set_status(id, "Dead");
    must("DELETE FROM sf_messages WHERE status = 2");
    EXPECT_EQ(text("SELECT status FROM outbox_messages"), "Resolved");
    EXPECT_EQ(tracked(id), "Discarded");
}

TEST_P(forward_store, counts_a_parked_message_that_is_deleted_as_discarded) {
    const auto id = hold(0);
    set_status(id, "Dead");
    must("DELETE FROM outbox_messages");
    EXPECT_EQ(number("SELECT count(*) FROM forward_messages"), 0);
    EXPECT_EQ(tracked(id), "Discarded");
    EXPECT_EQ(total("ExternalSystem").parked, 0);
}

TEST_P(forward_store, forgets_what_has_ended_and_what_lost_its_message_and_nothing_else) {
    const auto ended = hold(0);
    set_status(ended, "Dead");
    EXPECT_TRUE(change(&discard_parked, ended));
    const auto parked = hold(0);
    set_status(parked, "Dead");
    const auto lost = hold(0);
    must(fmt::format("DELETE FROM outbox_messages WHERE message_id = '{}'", lost));
    const auto waiting = hold(0);
    const auto purge = [&](const std::string& before) {
        return write<std::int64_t>(
            [&](store_transaction& tx) { return purge_forward(tx, before, 100); });
    };
    EXPECT_EQ(purge("2000-01-01T00:00:00.000Z"), 0);
    const auto lost_ones =
        look<std::vector<std::int64_t>>([](store_reader& from) { return find_orphans(from, 100); });
    EXPECT_EQ(lost_ones.size(), 1U) << "the one without a message";
    auto all = lost_ones;
    for (std::int64_t seq = 0; seq < 10; ++seq) all.push_back(seq);
    EXPECT_EQ(write<std::int64_t>([&](store_transaction& tx) { return drop_orphans(tx, all); }), 1);
    EXPECT_EQ(tracked(lost), "Discarded");
    EXPECT_EQ(tracked(ended), "Discarded");
    EXPECT_EQ(purge("9999-01-01T00:00:00.000Z"), 2);
    EXPECT_EQ(tracked(ended), "");
    EXPECT_EQ(tracked(lost), "");
    EXPECT_EQ(tracked(parked), "Parked");
    EXPECT_EQ(tracked(waiting), "Submitted");
    EXPECT_EQ(total("ExternalSystem").waiting, 1);
    EXPECT_EQ(total("ExternalSystem").parked, 1);
}

}  // namespace
}  // namespace posthorn::conformance
