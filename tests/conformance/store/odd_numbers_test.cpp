// Numbers at the end of what there is, as any program may write them into rows that are there: what
// is counted on from them goes on, or says which row is wrong.
#include <limits>
#include <tuple>

#include "conformance/store/inspection.hpp"
#include "store/dead_letters.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

/// What the database says against it; empty if it does as told.
std::string refusal(storage& disk, const std::string& sql) {
    return disk.connect()->run(sql).value_or(std::string());
}
void by_hand(storage& disk, const std::string& sql) { EXPECT_EQ(refusal(disk, sql), "") << sql; }
bool is_in_file(storage& disk) { return disk.speaks().bytes.starts_with('x'); }

settlement failed(std::int64_t seq) {
    return {.seq = seq,
            .to = outbox_status::pending,
            .at = noon,
            .next_attempt_at = noon + 1s,
            .charged = true,
            .error = "no answer"};
}

TEST_P(inspected_store, goes_on_from_any_number_of_an_attempt) {
    const auto body = sample();
    const auto seq = put(body);
    ASSERT_EQ(settle({failed(seq)}, epoch()), 1);
    for (const std::string_view last : {"9223372036854775807", "2147483647", "2147483646", "-9"}) {
        SCOPED_TRACE(last);
        by_hand(disk(), fmt::format("INSERT INTO outbox_attempts (seq, attempt, at, error)"
                                    " VALUES ({}, {}, 0, 'by hand')",
                                    seq, last));
        EXPECT_EQ(settle({failed(seq)}, epoch()), 1);
    }
    EXPECT_EQ(number("SELECT retry_count FROM outbox_messages"), 5);
    EXPECT_TRUE(show(body.id, false));
}

TEST_P(inspected_store, ends_a_message_whose_retries_a_program_counts_while_it_is_under_way) {
    const auto seq = put(sample());
    by_hand(disk(), "UPDATE outbox_messages SET retry_count = 9223372036854775807");
    EXPECT_EQ(settle({failed(seq)}, epoch()), 1);
    const auto page = due("billing", noon + 1h);
    ASSERT_EQ(page.bad.size(), 1U);
    EXPECT_TRUE(page.bad.front().reason.contains("retry_count")) << page.bad.front().reason;
    const auto again = put(sample());
    by_hand(disk(), "UPDATE outbox_messages SET retry_count = 9223372036854775807");
    EXPECT_EQ(settle({{.seq = again,
                       .to = outbox_status::dead,
                       .at = noon,
                       .charged = true,
                       .error = "refused"}},
                     epoch()),
              1);
}

TEST_P(inspected_store, gives_messages_up_and_counts_them_whatever_number_their_cause_has) {
    put_as(outbox_status::dead, sample());
    auto other = sample();
    other.endpoint = "Another";
    put_as(outbox_status::dead, other);
    ASSERT_EQ(number("SELECT count(*) FROM outbox_causes"), 2);
    for (const std::string_view odd : {"9223372036854775807", "-9223372036854775807 - 1"}) {
        SCOPED_TRACE(odd);
        by_hand(disk(), fmt::format("UPDATE outbox_causes SET dead = {}, last_at = {}", odd, odd));
        const auto seq = put(sample());
        EXPECT_EQ(
            settle({{.seq = seq, .to = outbox_status::dead, .at = noon, .error = "why"}}, epoch()),
            1);
        const auto dead = look<bounded_count>(
            [](store_reader& from) { return from.inspect().count_dead_messages(100); });
        EXPECT_GE(dead.value, 3);
        EXPECT_EQ(refusal(disk(), fmt::format("DELETE FROM outbox_messages WHERE seq = {}", seq)),
                  "");
        EXPECT_LE(look<dead_groups>([](store_reader& from) {
                      return from.dead_letters().groups({}, 10);
                  }).groups.size(),
                  2U);
    }
}

TEST_P(inspected_store, has_a_number_left_for_each_change_and_cause_whatever_a_program_writes) {
    const auto first = put_as(outbox_status::dead, sample());
    by_hand(disk(), "DELETE FROM outbox_causes");
    for (const std::string_view last : {"9223372036854775807", "4611686018427387904"}) {
        for (const auto& [table, columns, values] :
             {std::tuple("changes", "change_seq, epoch, at, kind, seqs", "0, 0, 'dead', '1'"),
              std::tuple("outbox_causes",
                         "cause_id, destination, endpoint, cause, first_at, last_at",
                         "'billing', 'Charge', 'by hand', 0, 0")}) {
            SCOPED_TRACE(table);
            const auto said =
                refusal(disk(), fmt::format("INSERT INTO {} ({}){} VALUES ({}, {})", table, columns,
                                            is_in_file(disk()) ? "" : " OVERRIDING SYSTEM VALUE",
                                            last, values));
            // On a server the numbers come from elsewhere.
            if (is_in_file(disk()))
                EXPECT_TRUE(said.contains("is given by the table: leave it out")) << said;
            else
                by_hand(disk(), fmt::format("DELETE FROM {}", table));
        }
    }
    auto other = sample();
    other.endpoint = "Another";
    EXPECT_GT(put_as(outbox_status::dead, other), first);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_causes"), 1);
}

TEST_P(inspected_store, tells_the_size_of_an_inbox_with_any_numbers) {
    take_in("orders", 5);
    const auto insert = [&](std::string_view seq) {
        by_hand(
            disk(),
            fmt::format("INSERT INTO inbox_messages (seq, source_service_id, message_id, endpoint,"
                        " processed_at, expires_at){} VALUES ({}, 'orders', 'x{}', 'Take', 0,"
                        " 9000000000000)",
                        is_in_file(disk()) ? "" : " OVERRIDING SYSTEM VALUE", seq, seq));
    };
    insert("9223372036854775807");
    insert("-9223372036854775808");
    const auto size =
        look<bounded_count>([](store_reader& from) { return from.inspect().inbox_size(3); });
    EXPECT_EQ(size.value, std::numeric_limits<std::int64_t>::max());
    EXPECT_TRUE(size.at_least);
}

}  // namespace
}  // namespace posthorn::conformance
