// A copy that takes its primary's place.
#include "standby/promotion.hpp"

#include <gmock/gmock.h>

#include "standby/rejoin.hpp"
#include "support/eventually.hpp"
#include "unit/standby/a_pair.hpp"

namespace posthorn::standby {
namespace {

using testing::HasSubstr;

class a_promotion : public testing::Test {
protected:
    /// A primary that has answered three orders, and whose dispatcher had the lease once.
    void follow_a_primary(ship_mode mode = ship_mode::sync) {
        running_standby standby(copy_);
        running_primary primary(database_, {.to = {"127.0.0.1", standby.port()},
                                            .access = access_of(1),
                                            .stream = {std::byte{5}},
                                            .epoch = 4,
                                            .service = "orders",
                                            .mode = mode,
                                            .beat = std::chrono::milliseconds{20}});
        EXPECT_TRUE(primary.commit("CREATE TABLE orders (n INTEGER PRIMARY KEY)"));
        EXPECT_TRUE(
            primary.commit("INSERT OR REPLACE INTO posthorn_leases (name, owner, epoch, beat) "
                           "VALUES ('dispatcher', 'other machine', 7, 1)"));
        EXPECT_TRUE(test::eventually(
            [&] { return primary.report().how == ship_report::state::following; }));
        EXPECT_TRUE(primary.commit("INSERT INTO orders VALUES (1), (2), (3)"));
    }
    [[nodiscard]] std::string refusal(const promotion_options& asked) const {
        const auto done = promote(asked);
        return done ? "promoted" : done.error().what();
    }
    [[nodiscard]] std::int64_t number(const std::string& sql) const {
        return test::sqlite_file(copy_).integer(sql);
    }

    test::temporary_directory folder_{test::folder_in_memory()};
    std::filesystem::path database_ = folder_.file("orders.db");
    std::filesystem::path copy_ = folder_.file("copy.db");
};

TEST_F(a_promotion, makes_a_primary_of_a_newer_epoch_with_all_that_was_answered) {
    follow_a_primary();
    const auto after = promote({.database = copy_});
    ASSERT_TRUE(after) << after.error().what();
    EXPECT_EQ(after->as, pair_state::role::primary);
    EXPECT_EQ(after->epoch, 5U);
    EXPECT_EQ(number("SELECT count(*) FROM orders"), 3);
    EXPECT_EQ(*load_state(copy_).value(), *after);
    EXPECT_TRUE(after->began);
    EXPECT_TRUE(after->first_log);
    system_random random;
    EXPECT_EQ(begin_as_primary(copy_, random).value().epoch, 5U);
    EXPECT_THAT(refusal({.database = copy_}), HasSubstr("is a primary's"));
}

TEST_F(a_promotion, lets_no_outcome_of_the_old_dispatcher_be_recorded_and_keeps_its_lease) {
    follow_a_primary();
    ASSERT_TRUE(promote({.database = copy_}));
    EXPECT_EQ(number("SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'"), 8);
    EXPECT_EQ(number("SELECT owner = 'other machine' FROM posthorn_leases"
                     " WHERE name = 'dispatcher'"),
              1);
}

TEST_F(a_promotion, is_gone_on_with_after_a_failure_in_its_middle) {
    follow_a_primary();
    {
        const auto copy = std::move(kept_copy::open(copy_)).value();
        EXPECT_FALSE(copy->promote(5, [] { return fail(error_code::io_failed, "killed"); }));
    }
    EXPECT_FALSE(require_no_copy(copy_));  // Not to be opened yet.
    const auto after = promote({.database = copy_});
    ASSERT_TRUE(after) << after.error().what();
    EXPECT_EQ(after->epoch, 5U);
    EXPECT_EQ(number("SELECT count(*) FROM orders"), 3);
    EXPECT_TRUE(require_no_copy(copy_));
}

TEST_F(a_promotion, asks_where_the_primary_may_have_answered_more) {
    follow_a_primary(ship_mode::async);
    EXPECT_THAT(refusal({.database = copy_}), HasSubstr("--accept-loss"));
    EXPECT_FALSE(require_no_copy(copy_));
    EXPECT_EQ(refusal({.database = copy_, .accept_loss = true}), "promoted");
}

TEST_F(a_promotion, waits_for_the_end_of_who_keeps_the_copy) {
    follow_a_primary();
    const running_standby standby(copy_);
    EXPECT_THAT(refusal({.database = copy_}), HasSubstr("another process keeps"));
}

TEST_F(a_promotion, has_nothing_to_do_with_what_was_never_copied) {
    EXPECT_THAT(refusal({.database = copy_}), HasSubstr("it has nothing yet"));
}

TEST_F(a_promotion, is_the_only_way_to_open_a_copy) {
    follow_a_primary();
    const auto refused = require_no_copy(copy_);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what(), HasSubstr("'posthorn standby promote'"));
    system_random random;
    EXPECT_FALSE(begin_as_primary(copy_, random));
    EXPECT_TRUE(require_no_copy(database_));
    // The primary of this test was told its stream.
    const auto begun = begin_as_primary(database_, random);
    ASSERT_TRUE(begun);
    EXPECT_EQ(begun->epoch, 1U);
    EXPECT_EQ(begin_as_primary(database_, random).value(), *begun);
}

TEST_F(a_promotion, lets_the_old_primary_begin_anew_and_keeps_what_it_had) {
    follow_a_primary();
    EXPECT_FALSE(rejoin(database_));  // Of no pair, as far as its file says.
    system_random random;
    ASSERT_TRUE(begin_as_primary(database_, random));
    {
        test::sqlite_file open(database_);
        EXPECT_EQ(open.integer("SELECT count(*) FROM orders"), 3);
        const auto busy = rejoin(database_);
        ASSERT_FALSE(busy);
        EXPECT_EQ(busy.error().code(), error_code::store_busy);
    }
    const auto done = rejoin(database_);
    ASSERT_TRUE(done) << done.error().what();
    EXPECT_EQ(done->pending, 0);
    EXPECT_EQ(test::sqlite_file(done->kept).integer("SELECT count(*) FROM orders"), 3);
    EXPECT_FALSE(std::filesystem::exists(database_));
    EXPECT_EQ(kept_copy::open(database_).value()->state().phase, standby_phase::empty);
}

}  // namespace
}  // namespace posthorn::standby
