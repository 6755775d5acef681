#include "outbox/rules/lane_queue.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

struct waiting {
    std::int64_t seq;
    std::string tenant{};
    std::int32_t priority = 0;
};

outbox_row row_of(const waiting& one) {
    outbox_row row{.seq = one.seq, .body = {}};
    row.body.tenant = one.tenant;
    row.body.priority = one.priority;
    return row;
}

struct queue_case {
    std::string claim;
    std::vector<waiting> pushed;
    std::vector<std::int64_t> popped;
};

const std::vector<queue_case> cases{
    {"alike, first come is first served", {{1}, {2}, {3}}, {1, 2, 3}},
    {"the more urgent goes first", {{1}, {2, "", 9}, {3, "", 5}, {4, "", 9}}, {2, 4, 3, 1}},
    {"tenants take turns however many one has",
     {{1, "a"}, {2, "a"}, {3, "a"}, {4, "b"}, {5, "c"}, {6, "c"}},
     {1, 4, 5, 2, 6, 3}},
    {"urgency counts within a tenant, not between them",
     {{1, "a"}, {2, "b", 9}, {3, "b", 9}, {4, "a", 1}},
     {4, 2, 1, 3}},
    {"one without a tenant is a tenant too", {{1}, {2}, {3, "a"}}, {1, 3, 2}},
};

TEST(lane_queue, gives_rows_in_the_order_of_its_table) {
    for (const auto& one : cases) {
        lane_queue tested;
        for (const auto& each : one.pushed) tested.push(row_of(each));
        std::vector<std::int64_t> popped;
        while (!tested.empty()) popped.push_back(tested.pop().seq);
        EXPECT_EQ(popped, one.popped) << one.claim;
    }
}

TEST(lane_queue, goes_on_with_the_next_tenant_after_new_ones_came) {
    lane_queue tested;
    for (const auto& each : std::vector<waiting>{{1, "b"}, {2, "b"}, {3, "c"}})
        tested.push(row_of(each));
    EXPECT_EQ(tested.pop().seq, 1);
    tested.push(row_of({4, "a"}));
    EXPECT_EQ(tested.pop().seq, 3);
    EXPECT_EQ(tested.pop().seq, 4);
    EXPECT_EQ(tested.pop().seq, 2);
}

TEST(lane_queue, gives_up_those_asked_for_and_keeps_the_order_of_the_rest) {
    lane_queue tested;
    for (const auto& each :
         std::vector<waiting>{{1, "a"}, {2, "b"}, {3, "a", 4}, {4, "a"}, {5, "b"}})
        tested.push(row_of(each));
    const auto taken = tested.take_if([](const outbox_row& row) { return row.seq % 2 == 0; });
    EXPECT_EQ(taken.size(), 2U);
    EXPECT_EQ(tested.size(), 3U);
    EXPECT_EQ(tested.pop().seq, 3);
    EXPECT_EQ(tested.pop().seq, 5);
    EXPECT_EQ(tested.pop().seq, 1);
    EXPECT_TRUE(tested.empty());
}

TEST(lane_queue, gives_up_all) {
    lane_queue tested;
    for (const auto& each : std::vector<waiting>{{1, "a"}, {2, "b"}, {3}})
        tested.push(row_of(each));
    EXPECT_EQ(tested.take_all().size(), 3U);
    EXPECT_TRUE(tested.empty());
}

}  // namespace
}  // namespace posthorn
