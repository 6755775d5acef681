// What the rows that are done with cost those that are not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conformance/store/temporary_directory.hpp"
#include "cost/message_costs.hpp"
#include "cost/old_database.hpp"

namespace posthorn::cost {
namespace {

TEST(dispatch_cost, is_the_same_with_a_million_dead_and_a_million_sent_messages_as_with_none) {
    constexpr int rows = 1'000'000;
    const load what{.together = 16, .rounds = 20};
    const conformance::temporary_directory empty, full;
    make_database(full.path() / "orders.db", {.sent = rows, .dead = rows});
    const auto without = costs_of_a_message(what, empty.path());
    const auto with = costs_of_a_message(what, full.path());
    for (const auto* name : {"statements", "steps", "syncs"}) {
        ASSERT_GT(without.at(name), 0);
        EXPECT_LE(with.at(name), 1.1 * without.at(name)) << name;
    }
    // Trees of a million rows are a few pages deeper.
    EXPECT_LE(with.at("bytes"), 2 * without.at("bytes"));
}

}  // namespace
}  // namespace posthorn::cost
