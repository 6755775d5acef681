#include "store/commit/member.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(caution, is_called_for_in_the_groups_after_a_failure) {
    caution one;
    EXPECT_FALSE(one.is_called_for());
    one.note_failure();
    for (int i = 0; i < caution::groups_after_failure; ++i) EXPECT_TRUE(one.is_called_for()) << i;
    EXPECT_FALSE(one.is_called_for());
}

TEST(changed_by, gathers_what_the_members_enqueued_and_received) {
    std::vector<member> members(2);
    members[0].enqueued.resize(2);
    members[0].enqueued[0].seq = 3;
    members[0].enqueued[1].seq = 4;
    members[1].received = {7};
    const auto [enqueued, received] = changed_by(members);
    EXPECT_EQ(enqueued, (std::vector<std::int64_t>{3, 4}));
    EXPECT_EQ(received, (std::vector<std::int64_t>{7}));
}

TEST(member, forgets_its_rows_when_it_is_undone) {
    member one;
    one.enqueued.resize(1);
    one.released.resize(1);
    one.received = {1};
    one.forget_rows();
    EXPECT_TRUE(one.enqueued.empty() && one.released.empty() && one.received.empty());
}

}  // namespace
}  // namespace posthorn
