#include <gmock/gmock.h>

#include "conformance/store/forward/forward_store.hpp"

namespace posthorn::conformance {
namespace {

using ::testing::HasSubstr;

TEST_P(forward_store, refuses_plain_sql_past_a_cap_and_takes_it_again_when_there_is_room) {
    db();
    const auto refused = [&](int category) {
        return disk()
            .connect()
            ->run(fmt::format("INSERT INTO sf_messages (category, target, payload_json)"
                              " VALUES ({}, 'erp', '12345')",
                              category))
            .value_or("");
    };
    must("INSERT INTO forward_caps (category, max_messages) VALUES ('ExternalSystem', 2)");
    const auto first = hold(0);
    hold(0);
    EXPECT_THAT(refused(0), HasSubstr("buffer_full"));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), 2) << "nothing is left of it";
    EXPECT_EQ(refused(2), "") << "another category has room";
    set_status(first, "Dead");
    EXPECT_THAT(refused(0), HasSubstr("buffer_full")) << "what is parked counts";
    EXPECT_TRUE(change(discard_parked, first));
    EXPECT_EQ(refused(0), "");
    must(
        "UPDATE forward_caps SET category = '', max_messages = 0,"
        " max_bytes = 4 + (SELECT sum(bytes) FROM forward_totals)");
    EXPECT_THAT(refused(1), HasSubstr("buffer_full")) << "all together";
    must("DELETE FROM forward_caps");
    EXPECT_EQ(refused(1), "");
}

TEST_P(forward_store, forgets_what_a_sample_said_with_its_message) {
    db();
    const auto id = hold(0);
    must(
        fmt::format("INSERT INTO forward_samples (seq, category, target, sample_key, value)"
                    " SELECT seq, 'ExternalSystem', 'erp', 't', '20.5' FROM forward_messages"
                    " WHERE id = '{}'",
                    id));
    EXPECT_EQ(number("SELECT count(*) FROM forward_samples"), 1);
    set_status(id, "Dead");
    EXPECT_EQ(number("SELECT count(*) FROM forward_samples"), 1);
    EXPECT_TRUE(change(discard_parked, id));
    EXPECT_EQ(number("SELECT count(*) FROM forward_samples"), 0);
    EXPECT_EQ(tracked(id), "Discarded");
}

TEST_P(forward_store, discards_nothing_that_waits_or_is_being_sent) {
    db();
    const auto id = hold(0);
    EXPECT_FALSE(change(discard_parked, id));
    EXPECT_EQ(tracked(id), "Submitted");
    EXPECT_EQ(total("ExternalSystem").waiting, 1);
}

TEST_P(forward_store, counts_on_whatever_a_program_has_made_of_sizes_and_totals) {
    const auto first = hold(0);
    const auto other = disk().connect();
    std::int64_t refused = 0;
    for (const auto* const number :
         {"9223372036854775807", "-1", "(-9223372036854775807 - 1)", "4611686018427387904"}) {
        SCOPED_TRACE(number);
        for (const auto* const sql :
             {"UPDATE forward_totals SET bytes = {0}, waiting = {0}, parked = {0}"
              " WHERE category <> 'Notification'",
              "UPDATE forward_messages SET bytes = {0}, retry_count = {0}, max_retries = {0}",
              "INSERT INTO forward_totals (category, bytes, waiting, parked) VALUES ('odd{0}', {0},"
              " {0}, {0})"})
            refused += other->run(fmt::format(fmt::runtime(sql), number)) ? 1 : 0;
        hold(0);
        must(
            "INSERT INTO forward_caps (category, max_messages, max_bytes) VALUES"
            " ('Notification', 100, 100000)");
        hold(1);
        must("DELETE FROM forward_caps");
        const auto held = total("ExternalSystem");
        for (const auto count : {held.waiting, held.parked, held.bytes}) {
            EXPECT_GE(count, 0);
            EXPECT_LE(count, 1'000'000'000'000'000);
        }
        must("DELETE FROM outbox_messages WHERE message_id = '" + hold(0) + "'");
    }
    EXPECT_LT(refused, 12) << "of all that was tried";
    EXPECT_EQ(tracked(first), "Submitted");
}

}  // namespace
}  // namespace posthorn::conformance
