// What is noted of attempts, and the names of the store-and-forward document, on every database.
#include <algorithm>

#include "conformance/store/forward/forward_store.hpp"

namespace posthorn::conformance {
namespace {

TEST_P(forward_store, writes_every_attempt_down_with_all_that_is_known_of_it) {
    const auto id = hold(0);
    attempt(id, "TransientFailure");
    attempt(hold(0), "Delivered");
    attempt(id, "Delivered");
    const auto all = audit(id);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].number, 2);
    EXPECT_EQ(all[0].what.outcome, "Delivered");
    const auto& first = all[1].what;
    EXPECT_EQ(all[1].number, 1);
    EXPECT_EQ(first.outcome, "TransientFailure");
    EXPECT_EQ(first.channel, "ApiOutbound");
    EXPECT_EQ(first.target, "erp");
    EXPECT_EQ(first.source_site, "plant 7");
    EXPECT_EQ(first.retry_count, 3);
    EXPECT_EQ(first.last_error, "no paper");
    EXPECT_EQ(first.http_status, 503);
    EXPECT_EQ(first.created_at, noon);
    EXPECT_EQ(first.occurred_at, noon + std::chrono::seconds{1});
    EXPECT_EQ(first.duration, std::chrono::milliseconds{17});
    EXPECT_EQ(first.source_instance, "press");
    EXPECT_EQ(first.execution_id, "e1");
    EXPECT_EQ(first.source_script, "ship.lua");
    EXPECT_EQ(first.parent_execution_id, "");
}

TEST_P(forward_store, keeps_the_last_thousand_attempts_as_long_as_the_tracking) {
    const auto id = hold(0);
    attempt(id, "TransientFailure");
    must(
        fmt::format("UPDATE forward_audit SET Attempt = 1000 WHERE TrackedOperationId = '{}'", id));
    attempt(id, "TransientFailure");
    EXPECT_EQ(audit(id).size(), 2U);
    must("UPDATE forward_audit SET Attempt = 1 WHERE Attempt = 1000");
    attempt(id, "TransientFailure");
    ASSERT_EQ(audit(id).size(), 2U);
    EXPECT_EQ(audit(id).front().number, 1002);
    set_status(id, "Dead");
    ASSERT_TRUE(change(&discard_parked, id));
    EXPECT_EQ(write<std::int64_t>([](store_transaction& tx) {
                  return purge_forward(tx, "9999-01-01T00:00:00.000Z", 100);
              }),
              1);
    EXPECT_TRUE(audit(id).empty());
}

TEST_P(forward_store, notes_what_a_person_decides_and_for_a_centre_all_that_no_attempt_tells_it) {
    using untold_ones = std::vector<untold_decision>;
    const auto one = hold(0);
    const auto id = *uuid::parse(one);
    set_status(one, "Dead");
    EXPECT_EQ(untold(), untold_ones{}) << "there is no centre, and no person decided";
    must("UPDATE sf_messages SET status = 0");
    EXPECT_EQ(untold(), (untold_ones{{one, id, "Retry"}}));
    must("INSERT INTO posthorn_meta (name, value) VALUES ('forward_centre', 'hq')");
    set_status(one, "Dead");
    EXPECT_EQ(untold(), (untold_ones{{one, id, "Retry"}})) << "that is still to be told";
    EXPECT_TRUE(forget(untold().at(0)));
    EXPECT_TRUE(change(&discard_parked, one));
    EXPECT_EQ(untold(), (untold_ones{{one, id, "Discard"}}));
    EXPECT_TRUE(forget(untold().at(0)));
    const auto dropped = hold(0);
    const auto note = hold(1);
    set_status(note, "Resolved");
    EXPECT_EQ(untold(), untold_ones{}) << "it is not tracked";
    set_status(dropped, "Resolved");
    EXPECT_EQ(untold(), (untold_ones{{dropped, *uuid::parse(dropped), ""}}));
}

TEST_P(forward_store, tells_of_a_decision_once_however_its_row_has_its_id) {
    db();
    const std::string blob = disk().speaks().bytes.starts_with('x') ? "x'c328'" : "'bytes'";
    must(
        "INSERT INTO forward_untold (id, what) VALUES ('018F3B1C-0000-7000-8000-0000000000FF', "
        "'Retry'),"
        " ('018f3b1c00007000800000000000000e', ''), ('none', 'Retry'), (" +
        blob + ", '')");
    const auto all = untold();
    EXPECT_EQ(all.size(), 4U);
    EXPECT_EQ(std::ranges::count(all, uuid{}, &untold_decision::id), 2);
    for (const auto& each : all) EXPECT_TRUE(forget(each)) << each.key;
    EXPECT_TRUE(untold().empty());
    EXPECT_FALSE(forget(all[0])) << "it is gone";
}

TEST_P(forward_store, has_the_columns_and_the_defaults_of_the_document) {
    db();
    must("INSERT INTO sf_messages (category, target, payload_json) VALUES (2, 'db', '{}')");
    EXPECT_EQ(number("SELECT count(*) FROM sf_messages WHERE id IS NOT NULL AND category = 2 AND"
                     " target = 'db' AND payload_json = '{}' AND retry_count = 0 AND"
                     " max_retries = 50 AND retry_interval_ms = 30000 AND created_at LIKE"
                     " '2%T%Z' AND last_attempt_at IS NULL AND status = 0 AND last_error IS NULL"
                     " AND origin_instance IS NULL AND execution_id IS NULL AND source_script IS"
                     " NULL AND parent_execution_id IS NULL"),
              1);
    must(
        "INSERT INTO sf_messages (id, category, target, payload_json, max_retries,"
        " retry_interval_ms, origin_instance, execution_id, source_script, parent_execution_id)"
        " VALUES ('0123456789abcdef0123456789abcdef', 0, 'erp', '{}', 0, 5, 'a', 'b', 'c', 'd')");
    EXPECT_EQ(number("SELECT count(*) FROM sf_messages WHERE max_retries = 0 AND"
                     " retry_interval_ms = 5 AND origin_instance = 'a' AND execution_id = 'b' AND"
                     " source_script = 'c' AND parent_execution_id = 'd'"),
              1);
    EXPECT_EQ(number("SELECT max_retries FROM outbox_messages WHERE endpoint = 'ExternalSystem'"),
              -1)
        << "for ever";
    reopen();
    EXPECT_EQ(number("SELECT count(*) FROM sf_messages"), 2) << "to make them again is harmless";
}

TEST_P(forward_store, starts_what_is_retried_from_the_beginning) {
    const auto id = hold(0);
    must("UPDATE forward_messages SET retry_count = 3, last_attempt_at = 1900000000000");
    set_status(id, "Dead");
    EXPECT_EQ(number("SELECT retry_count FROM sf_messages WHERE last_attempt_at IS NOT NULL"), 3);
    EXPECT_TRUE(change(&retry_parked, id));
    EXPECT_EQ(number("SELECT count(*) FROM sf_messages WHERE status = 0 AND retry_count = 0 AND"
                     " last_attempt_at IS NULL"),
              1);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages WHERE next_retry_at = 0 AND"
                     " retry_count = 0"),
              1)
        << "it is due";
}

TEST_P(forward_store, pages_through_what_a_category_holds_by_its_order_of_arrival) {
    std::vector<std::string> ids;
    for (int i = 0; i < 6; ++i) {
        ids.push_back(hold(0));
        hold(1);
    }
    set_status(ids[0], "Dead");
    set_status(ids[3], "Dead");
    std::vector<std::string> seen;
    std::int64_t after = 0;
    for (int page = 0; page < 3; ++page) {
        const auto rows = look<std::vector<held_work>>([&](store_reader& from) {
            return read_held(from, {.category = "ExternalSystem", .after = after, .limit = 2});
        });
        ASSERT_EQ(rows.size(), 2U);
        for (const auto& row : rows) seen.push_back(row.id);
        after = rows.back().seq;
    }
    EXPECT_EQ(seen, ids);
}

}  // namespace
}  // namespace posthorn::conformance
