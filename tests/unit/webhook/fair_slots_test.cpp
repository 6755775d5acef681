#include "webhook/fair_slots.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

class fair_slots_test : public ::testing::Test {
protected:
    std::size_t take(const std::string& tenant, std::size_t wanted, bool is_test = false) {
        std::size_t got = 0;
        for (; got < wanted; ++got) {
            auto one = subject.take({.tenant = tenant, .endpoint = endpoint, .is_test = is_test});
            if (!one) break;
            taken.push_back(*std::move(one));
        }
        return got;
    }

    uuid endpoint = *uuid::parse("01900000-0000-7000-8000-000000000001");
    fair_slots subject{160};
    std::vector<fair_slots::slot> taken;
};

TEST_F(fair_slots_test, leave_some_for_others_whatever_one_tenant_asks_for) {
    EXPECT_EQ(take("acme", 1'000), 120U);
    EXPECT_EQ(take("other", 1'000), 10U);
    EXPECT_EQ(take("third", 1'000), 10U);
    EXPECT_EQ(take("acme", 1), 0U);
    taken.clear();
    EXPECT_EQ(take("acme", 1'000), 120U);
}

TEST_F(fair_slots_test, give_endpoints_that_do_not_answer_a_quarter_together) {
    subject.note(endpoint, false);
    EXPECT_EQ(take("acme", 1'000), 40U);
    EXPECT_EQ(take("other", 1), 0U);
    subject.note(endpoint, true);
    EXPECT_EQ(take("other", 1), 1U);
}

TEST_F(fair_slots_test, give_a_tenant_eight_tests_at_a_time) {
    EXPECT_EQ(take("acme", 1'000, true), 8U);
    EXPECT_EQ(take("acme", 1), 1U) << "its deliveries go on";
    EXPECT_EQ(take("other", 1'000, true), 8U);
    taken.clear();
    EXPECT_EQ(take("acme", 1'000, true), 8U);
}

TEST_F(fair_slots_test, have_one_where_there_are_but_few) {
    fair_slots few{1};
    auto one = few.take({.tenant = "acme"});
    EXPECT_TRUE(one);
    EXPECT_FALSE(few.take({.tenant = "other"}));
    one.reset();
    EXPECT_TRUE(few.take({.tenant = "other"}));
}

}  // namespace
}  // namespace posthorn
