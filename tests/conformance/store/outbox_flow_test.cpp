// Tenants share a destination evenly, and the more urgent goes first.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "conformance/store/ordered_store.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class flow_sample {
public:
    explicit flow_sample(message like) : like_(std::move(like)) {}
    message of(const std::string& tenant, std::int32_t priority, uuid id) const {
        auto body = like_;
        body.id = id;
        body.tenant = tenant;
        body.priority = priority;
        return body;
    }

private:
    message like_;
};

std::map<std::string, int> by_tenant(const outbox_page& page) {
    std::map<std::string, int> counted;
    for (const auto& row : page.rows) ++counted[row.body.tenant];
    return counted;
}

TEST_P(ordered_store, tenants_share_a_page_and_one_leaves_to_others_what_it_does_not_use) {
    const flow_sample make(sample());
    for (int i = 0; i < 50; ++i) put(make.of("loud", 0, new_id()));
    for (int i = 0; i < 30; ++i) put(make.of("", 0, new_id()));
    for (int i = 0; i < 2; ++i) put(make.of("quiet", 0, new_id()));
    const auto page = due("billing", noon, 12);
    EXPECT_EQ(by_tenant(page), (std::map<std::string, int>{{"", 5}, {"loud", 5}, {"quiet", 2}}));
    EXPECT_TRUE(page.more);
    EXPECT_FALSE(due("billing", noon, 82).more);
    EXPECT_EQ(due("billing", noon, 82).rows.size(), 82U);
}

TEST_P(ordered_store, every_tenant_has_its_turn_when_there_are_more_than_fit) {
    const flow_sample make(sample());
    for (int tenant = 0; tenant < 7; ++tenant)
        for (int i = 0; i < 5; ++i) put(make.of(fmt::format("t{}", tenant), 0, new_id()));
    std::map<std::string, int> seen;
    for (int i = 0; i < 7; ++i)
        for (const auto& [tenant, rows] : by_tenant(due("billing", noon, 3))) {
            EXPECT_EQ(rows, 1);
            seen[tenant] += rows;
        }
    EXPECT_EQ(seen.size(), 7U);
    for (const auto& [tenant, rows] : seen) EXPECT_EQ(rows, 3) << tenant;
}

TEST_P(ordered_store, the_highest_priority_of_a_tenant_goes_first_whatever_came_before) {
    const flow_sample make(sample());
    const auto low = make.of("", 0, new_id()), high = make.of("", 9, new_id()),
               middle = make.of("", 4, new_id()), also_high = make.of("", 9, new_id());
    for (const auto& body : {low, high, middle, also_high}) put(body);
    EXPECT_THAT(due_ids(), ElementsAre(high.id, also_high.id, middle.id, low.id));
    EXPECT_THAT(ids(due("billing", noon, 2).rows), ElementsAre(high.id, also_high.id));
}

TEST_P(ordered_store, a_high_priority_takes_nothing_from_another_tenant) {
    const flow_sample make(sample());
    for (int i = 0; i < 10; ++i) put(make.of("urgent", 9, new_id()));
    for (int i = 0; i < 10; ++i) put(make.of("patient", 0, new_id()));
    EXPECT_EQ(by_tenant(due("billing", noon, 6)),
              (std::map<std::string, int>{{"patient", 3}, {"urgent", 3}}));
}

TEST_P(ordered_store, rows_that_are_in_memory_are_passed_over_and_take_no_room) {
    std::vector<std::int64_t> seqs;
    for (int i = 0; i < 6; ++i) seqs.push_back(put(sample()));
    const std::vector held{seqs[0], seqs[1], seqs[3]};
    const auto page = due({.destination = "billing", .now = noon, .limit = 2, .held = held});
    ASSERT_EQ(page.rows.size(), 2U);
    EXPECT_EQ(page.rows[0].seq, seqs[2]);
    EXPECT_EQ(page.rows[1].seq, seqs[4]);
    EXPECT_TRUE(page.more);
    EXPECT_FALSE(due({.destination = "billing", .now = noon, .limit = 3, .held = held}).more);
    const auto none = due({.destination = "billing", .now = noon, .limit = 2, .held = seqs});
    EXPECT_THAT(none.rows, IsEmpty());
    EXPECT_FALSE(none.more);
}

TEST_P(ordered_store, more_tenants_than_one_look_takes_in_are_all_found_in_a_few) {
    constexpr std::size_t tenants = 2'300;
    const flow_sample make(sample());
    constexpr std::size_t at_once = 100;  // A unit has its time limit.
    for (std::size_t first = 0; first < tenants; first += at_once)
        must([&](store_transaction& tx) -> result<> {
            for (std::size_t i = first; i < first + at_once; ++i)
                POSTHORN_TRY(tx.outbox().insert(make.of(fmt::format("t{}", i), 0, new_id())));
            return {};
        });
    std::set<std::int64_t> seen;
    for (int look = 0; look < 3; ++look) {
        const std::vector held(seen.begin(), seen.end());
        const auto page =
            due({.destination = "billing", .now = noon, .limit = 5'000, .held = held});
        EXPECT_LE(page.rows.size(), 1'000U);
        if (look < 2) EXPECT_TRUE(page.more);
        for (const auto& row : page.rows) seen.insert(row.seq);
    }
    EXPECT_EQ(seen.size(), tenants);
    const std::vector held(seen.begin(), seen.end());
    EXPECT_FALSE(due({.destination = "billing", .now = noon, .limit = 5'000, .held = held}).more);
}

TEST_P(ordered_store, a_flow_that_waits_hides_no_other) {
    const flow_sample make(sample());
    auto later = make.of("a", 0, new_id()), soon = make.of("b", 3, new_id()),
         now = make.of("b", 1, new_id());
    later.deliver_at = noon + 1h;
    soon.deliver_at = noon + 1min;
    for (const auto& body : {later, soon, now}) put(body);
    const auto next = [&] {
        return look<std::optional<wall_time>>(
            [](store_reader& reader) { return reader.outbox().next_due(); });
    };
    EXPECT_THAT(due_ids(), ElementsAre(now.id));
    settle({{.seq = 3, .to = outbox_status::sent, .at = noon}}, epoch());
    EXPECT_EQ(next(), noon + 1min);
    EXPECT_THAT(due_ids(noon + 1h), ElementsAre(later.id, soon.id));
    const auto destinations = [&](wall_time at) {
        return look<std::vector<std::string>>(
            [&](store_reader& reader) { return reader.outbox().due_destinations(at); });
    };
    EXPECT_THAT(destinations(noon), IsEmpty());
    EXPECT_THAT(destinations(noon + 1min), ElementsAre("billing"));
}

TEST_P(ordered_store, a_priority_out_of_range_makes_a_row_bad) {
    db();  // Makes the tables.
    const auto other = disk().connect();
    for (const auto* priority : {"-1", "0", "9", "10", "4000000000"})
        EXPECT_EQ(other->run(fmt::format("INSERT INTO outbox_messages(destination, endpoint,"
                                         " payload, priority, created_at, expires_at)"
                                         " VALUES ('billing', 'E', '{{}}', {}, {}, {})",
                                         priority, noon.time_since_epoch().count(),
                                         (noon + 1h).time_since_epoch().count())),
                  std::nullopt);
    const auto page = due("billing", noon);
    EXPECT_EQ(page.rows.size(), 2U);
    ASSERT_EQ(page.bad.size(), 3U);
    EXPECT_THAT(page.bad.front().reason, ::testing::HasSubstr("priority"));
}

}  // namespace
}  // namespace posthorn::conformance
