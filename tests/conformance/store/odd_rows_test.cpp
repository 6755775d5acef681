// Rows of every type and extreme, as any program may write them: all that the store is asked for is
// answered, and each of them is a message or says why it is none.
#include <cstdlib>
#include <limits>
#include <tuple>

#include "conformance/store/inspection.hpp"
#include "store/dead_letters.hpp"
#include "support/row_fuzz.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

class odd_rows {
public:
    /// More than usual, where a person asks for it.
    static int count() {
        const char* const asked = std::getenv("POSTHORN_ODD_ROWS");
        return asked == nullptr ? 300 : std::atoi(asked);
    }
    static test::row_fuzz for_storage(storage& disk) {
        using enum test::row_fuzz::database;
        return {20'261'117, disk.speaks().bytes.starts_with('x') ? sqlite : postgres};
    }
};

TEST_P(inspected_store, answers_all_that_is_asked_of_rows_of_every_type_and_extreme) {
    db();
    auto rows = odd_rows::for_storage(disk());
    const auto other = disk().connect();
    int accepted = 0;
    for (int i = 0; i < odd_rows::count(); ++i)
        accepted += other->run(rows.outbox_row("billing", "Charge")) ? 0 : 1;
    EXPECT_GT(accepted, odd_rows::count() / 10);
    EXPECT_LT(accepted, odd_rows::count());

    // As a dispatcher would: what is due is sent or buried, and then nothing is due any more.
    const auto now = disk().now();
    const auto destinations = [&] {
        return look<std::vector<std::string>>(
            [&](store_reader& from) { return from.outbox().due_destinations(now); });
    };
    std::size_t bad = 0;
    for (int rounds = 0; rounds < 100 && !destinations().empty(); ++rounds)
        for (const auto& destination : destinations()) {
            const auto page = due(destination, now);
            std::vector<settlement> outcomes;
            for (const auto& row : page.rows)
                outcomes.push_back({.seq = row.seq, .at = now, .followers_wait = true});
            for (const auto& row : page.bad) {
                EXPECT_NE(row.reason, "");
                outcomes.push_back(
                    {.seq = row.seq, .to = outbox_status::dead, .at = now, .error = row.reason});
            }
            for (const auto& row : page.parked)
                outcomes.push_back({.seq = row.seq,
                                    .to = outbox_status::pending,
                                    .at = now,
                                    .next_attempt_at = row.body.expires_at,
                                    .parks = true});
            bad += page.bad.size();
            EXPECT_TRUE(succeeded(settle(outcomes, epoch())));
        }
    EXPECT_TRUE(destinations().empty());
    EXPECT_GT(bad, 0U);

    // As people would.
    std::size_t listed = 0;
    for (std::int64_t before = 0;;) {
        const auto page = list(message_filter{.before_seq = before, .limit = 50});
        listed += page.rows.size();
        for (const auto& row : page.rows)
            if (const auto id = uuid::parse(row.id)) EXPECT_TRUE(show(*id, true));
        if (page.next == 0) break;
        before = page.next;
    }
    EXPECT_EQ(listed, static_cast<std::size_t>(accepted));
    backlog(now);
    EXPECT_TRUE(succeeded(run([](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.dead_letters().group_some(1'000));
        return {};
    })));
    EXPECT_GT(look<dead_groups>([](store_reader& from) {
                  return from.dead_letters().groups({}, 1'000);
              }).groups.size(),
              0U);
    EXPECT_GT(look<dead_page>([](store_reader& from) {
                  return from.dead_letters().list({}, 0, 1'000);
              }).rows.size(),
              0U);
    EXPECT_GT(look<std::vector<final_row>>([](store_reader& from) {
                  return from.outbox().ended(0, 1'000);
              }).size(),
              0U);
}

TEST_P(inspected_store, finds_what_was_received_whatever_a_program_made_of_its_row) {
    db();
    auto rows = odd_rows::for_storage(disk());
    const auto other = disk().connect();
    for (int i = 0; i < odd_rows::count(); ++i) {
        const auto id = new_id();
        if (other->run(rows.inbox_row("orders", id.to_string()))) continue;
        const auto found = run([&](store_transaction& tx) -> result<> {
            // Found, or told to be damaged: never new.
            if (const auto entry = tx.inbox().find({"orders", id}))
                EXPECT_TRUE(*entry);
            else
                EXPECT_EQ(entry.error().code(), error_code::store_corrupt);
            POSTHORN_LET(inserted, tx.inbox().insert({.key = {"orders", id},
                                                      .endpoint = "Take",
                                                      .processed_at = noon,
                                                      .expires_at = noon + 1h}));
            EXPECT_FALSE(inserted);
            return {};
        });
        EXPECT_TRUE(succeeded(found));
    }
    EXPECT_GT(list(inbox_filter{.limit = 1'000}).rows.size(), 0U);
}

// Numbers at the end of what there is, written into rows that are there: what is counted on from them
// goes on, or says which row is wrong.

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
                        " body_hash, processed_at, expires_at){} VALUES ({}, 'orders', 'x{}', "
                        "'Take', {}, 0,"
                        " 9000000000000)",
                        is_in_file(disk()) ? "" : " OVERRIDING SYSTEM VALUE", seq, seq,
                        fmt::format(fmt::runtime(disk().speaks().bytes), "00")));
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
