// A store and its standby, over a real connection and on real files.
#include "support/eventually.hpp"
#include "unit/standby/a_pair.hpp"

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;
using state = ship_report::state;

class a_pair : public testing::Test {
protected:
    void start_standby(std::uint16_t port = 0, std::uint8_t key = 1) {
        standby_.emplace(copy_, port, key);
        port_ = standby_->port();
    }
    [[nodiscard]] shipper_options options() const {
        return {.to = {"127.0.0.1", port_},
                .access = access_of(1),
                .stream = {std::byte{5}},
                .service = "orders",
                .beat = milliseconds{20}};
    }
    void start_primary() { start_primary(options()); }
    void start_primary(const shipper_options& how) {
        primary_.reset();
        primary_.emplace(database_, how);
    }
    void place_order() {
        const auto answer =
            primary_->commit("INSERT INTO orders (note) VALUES (hex(randomblob(3000)))");
        ASSERT_TRUE(answer) << answer.error().what();
    }
    void make_orders() {
        ASSERT_TRUE(
            primary_->commit("CREATE TABLE IF NOT EXISTS orders (n INTEGER PRIMARY KEY, note)"));
    }
    void wait_until_in_step() {
        ASSERT_TRUE(test::eventually([&] { return primary_->report().how == state::following; }))
            << primary_->report().trouble;
    }
    void expect_equal_files() {
        primary_.reset();
        standby_.reset();
        rows_after_promotion(copy_);
        test::sqlite_file(database_).run("PRAGMA wal_checkpoint(TRUNCATE)");
        EXPECT_TRUE(bytes_of(database_) == bytes_of(copy_));
    }

    test::temporary_directory folder_{test::folder_in_memory()};
    std::filesystem::path database_ = folder_.file("orders.db");
    std::filesystem::path copy_ = folder_.file("copy.db");
    std::uint16_t port_ = 1;
    std::optional<running_standby> standby_;
    std::optional<running_primary> primary_;
};

TEST_F(a_pair, has_each_commit_on_the_standby_when_it_is_answered) {
    start_standby();
    start_primary();
    make_orders();
    wait_until_in_step();
    for (int i = 0; i < 60; ++i) {
        const auto before = standby_->copy().place();
        place_order();
        EXPECT_NE(standby_->copy().place(), before);
        EXPECT_EQ(primary_->report().behind, 0U);
    }
    expect_equal_files();  // Over several checkpoints.
}

TEST_F(a_pair, is_copied_while_commits_go_on) {
    {
        running_primary alone(database_, {.to = {"127.0.0.1", 1},
                                          .access = access_of(1),
                                          .lost = when_lost::alone,
                                          .patience = milliseconds{1}});
        ASSERT_TRUE(alone.commit("CREATE TABLE orders (n INTEGER PRIMARY KEY, note)"));
        ASSERT_TRUE(alone.commit(
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 300) "
            "INSERT INTO orders (note) SELECT hex(randomblob(3000)) FROM c"));
    }
    start_standby();
    start_primary();
    for (int i = 0; i < 60; ++i) place_order();
    wait_until_in_step();
    expect_equal_files();
}

TEST_F(a_pair, takes_nothing_without_its_standby_where_it_is_to_wait) {
    auto how = options();
    how.patience = milliseconds{20};
    start_primary(how);
    const auto refused = primary_->commit("CREATE TABLE orders (n)");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::store_busy);
    EXPECT_FALSE(primary_->store().has_failed());
}

TEST_F(a_pair, goes_on_alone_where_it_may_and_catches_up) {
    start_standby();
    auto how = options();
    how.lost = when_lost::alone;
    how.patience = milliseconds{200};
    start_primary(how);
    make_orders();
    wait_until_in_step();
    EXPECT_TRUE(standby_->copy().state().may_lack);
    standby_.reset();
    for (int i = 0; i < 30; ++i) place_order();
    EXPECT_TRUE(primary_->report().alone);
    start_standby(port_);
    ASSERT_TRUE(test::eventually([&] {
        const auto seen = primary_->report();
        return !seen.alone && seen.behind == 0 && seen.how == state::following;
    }));
    expect_equal_files();
}

TEST_F(a_pair, lets_what_is_on_the_way_arrive_when_the_primary_ends) {
    start_standby();
    auto how = options();
    how.mode = ship_mode::async;
    start_primary(how);
    make_orders();
    wait_until_in_step();
    for (int i = 0; i < 100; ++i) place_order();
    primary_.reset();
    standby_.reset();
    EXPECT_EQ(rows_after_promotion(copy_), 100);
}

TEST_F(a_pair, knows_of_each_other_whether_they_are_there) {
    start_standby();
    EXPECT_FALSE(standby_->report().silent_for);
    start_primary();
    make_orders();
    wait_until_in_step();
    EXPECT_TRUE(standby_->report().has_primary);
    EXPECT_EQ(standby_->report().service, "orders");
    primary_.reset();
    ASSERT_TRUE(test::eventually([&] { return !standby_->report().has_primary; }));
    EXPECT_TRUE(standby_->report().silent_for);
    standby_.reset();
    auto how = options();
    how.patience = milliseconds{20};
    start_primary(how);
    ASSERT_TRUE(test::eventually([&] { return primary_->report().has_tried; }));
    EXPECT_EQ(primary_->report().how, state::away);
    EXPECT_FALSE(primary_->report().is_refused);
}

TEST_F(a_pair, goes_on_where_it_was_after_a_restart_of_either) {
    start_standby();
    start_primary();
    make_orders();
    wait_until_in_step();
    place_order();
    standby_.reset();
    start_standby(port_);
    place_order();
    start_primary();
    place_order();
    EXPECT_NE(primary_->report().how, state::copying);
    expect_equal_files();
}

TEST_F(a_pair, is_compared_anew_after_others_have_taken_the_log_away) {
    start_standby();
    start_primary();
    make_orders();
    wait_until_in_step();
    place_order();
    primary_.reset();
    {
        test::sqlite_file other(database_);
        other.run("INSERT INTO orders (note) VALUES ('by hand'); PRAGMA wal_checkpoint(TRUNCATE)");
    }
    start_primary();
    place_order();
    wait_until_in_step();
    expect_equal_files();
}

TEST_F(a_pair, ships_what_others_commit_before_its_own_next_commit_is_answered) {
    start_standby();
    start_primary();
    make_orders();
    wait_until_in_step();
    test::sqlite_file(database_).run("INSERT INTO orders (note) VALUES ('by hand')");
    place_order();
    standby_.reset();
    primary_.reset();
    EXPECT_EQ(rows_after_promotion(copy_), 2);
}

TEST_F(a_pair, does_not_trust_without_the_same_key) {
    start_standby(0, 2);
    auto how = options();
    how.patience = milliseconds{200};
    start_primary(how);
    EXPECT_FALSE(primary_->commit("CREATE TABLE orders (n)"));
    EXPECT_EQ(standby_->copy().place().phase, standby_phase::empty);
}

TEST_F(a_pair, refuses_a_primary_of_an_older_epoch) {
    start_standby();
    auto newer = options();
    newer.epoch = 3;
    start_primary(newer);
    make_orders();
    wait_until_in_step();
    auto older = options();
    older.patience = milliseconds{200};
    start_primary(older);
    EXPECT_FALSE(primary_->commit("INSERT INTO orders (note) VALUES ('of the old one')"));
    EXPECT_TRUE(primary_->report().trouble.contains("epoch 3")) << primary_->report().trouble;
    EXPECT_TRUE(primary_->report().is_refused);
}

TEST_F(a_pair, refuses_the_primary_of_another_database) {
    start_standby();
    start_primary();
    make_orders();
    wait_until_in_step();
    auto other = options();
    other.stream = {std::byte{6}};
    other.patience = milliseconds{200};
    start_primary(other);
    EXPECT_FALSE(primary_->commit("INSERT INTO orders (note) VALUES ('of another')"));
    EXPECT_TRUE(primary_->report().trouble.contains("another database"));
}

}  // namespace
}  // namespace posthorn::standby
