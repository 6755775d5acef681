// Rows of every type and extreme, as any program may write them: all that the store is asked for is
// answered, and each of them is a message or says why it is none.
#include <cstdlib>

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

}  // namespace
}  // namespace posthorn::conformance
