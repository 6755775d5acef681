#include "store/rules/write_trouble.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

class a_write_trouble : public ::testing::Test {
protected:
    void fails(error_code code) { trouble_.note(fail(code, "no"), now_); }
    void succeeds() { trouble_.note({}, now_); }

    write_trouble trouble_;
    steady_time now_{1h};
};

TEST_F(a_write_trouble, is_there_from_a_failure_of_the_store_until_it_has_written_for_a_while) {
    succeeds();
    EXPECT_FALSE(trouble_.now());
    fails(error_code::store_read_only);
    ASSERT_TRUE(trouble_.now());
    EXPECT_EQ(trouble_.now()->code(), error_code::store_read_only);
    now_ += write_trouble::stays_for - 1ms;
    succeeds();
    EXPECT_TRUE(trouble_.now()) << "where only some things fail, others succeed in between";
    now_ += 1ms;
    succeeds();
    EXPECT_FALSE(trouble_.now());
}

TEST_F(a_write_trouble, stays_while_nothing_is_tried) {
    fails(error_code::store_unavailable);
    now_ += 24h;
    EXPECT_TRUE(trouble_.now());
}

TEST_F(a_write_trouble, is_whatever_keeps_the_store_from_beginning) {
    trouble_.note_failure({error_code::store_busy, "another has the lock"}, now_);
    fails(error_code::store_busy);  // What the units are told.
    ASSERT_TRUE(trouble_.now());
    EXPECT_EQ(trouble_.now()->code(), error_code::store_busy);
    now_ += write_trouble::stays_for;
    succeeds();
    EXPECT_FALSE(trouble_.now());
}

TEST_F(a_write_trouble, is_not_what_is_wrong_with_a_unit) {
    for (const auto code : {error_code::statement_failed, error_code::cancelled,
                            error_code::store_busy, error_code::statement_interrupted})
        fails(code);
    EXPECT_FALSE(trouble_.now());
}

}  // namespace
}  // namespace posthorn
