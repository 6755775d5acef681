// The role of the primary changes hands between two stores, and an old primary comes back.
#include <algorithm>

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "standby/change/hand_over.hpp"
#include "standby/change/log_cut.hpp"
#include "standby/door/introduction.hpp"
#include "standby/promotion.hpp"
#include "standby/rejoin.hpp"
#include "support/eventually.hpp"
#include "unit/standby/a_pair.hpp"

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class a_changing_pair : public testing::Test {
protected:
    a_changing_pair() {
        begin_as_primary(one_, random_).value();
        take_role_of(one_, two_);
    }
    [[nodiscard]] static pair_state kept(const std::filesystem::path& of) {
        return load_state(of).value().value();
    }
    void start_standby(bool can_lead = true) {
        standby_.emplace(follower_, follower_options{.listen = {"127.0.0.1", port_},
                                                     .access = access_of(1),
                                                     .service = "orders",
                                                     .can_lead = can_lead});
        port_ = standby_->port();
    }
    [[nodiscard]] shipper_options options(const std::filesystem::path& of) const {
        const auto state = kept(of);
        return {.to = {"127.0.0.1", port_},
                .access = access_of(1),
                .stream = state.stream,
                .epoch = state.epoch,
                .began = state.began,
                .first_log = state.first_log,
                .service = "orders",
                .patience = milliseconds{2'000},
                .beat = milliseconds{20}};
    }
    /// Which of the two files leads, and which follows.
    void take_role_of(std::filesystem::path leader, std::filesystem::path follower) {
        leader_ = std::move(leader);
        follower_ = std::move(follower);
    }
    void start_primary() { primary_.emplace(leader_, options(leader_)); }
    void place_orders(int count) {
        ASSERT_TRUE(primary_->commit("CREATE TABLE IF NOT EXISTS orders (n INTEGER PRIMARY KEY)"));
        for (int i = 0; i < count; ++i)
            ASSERT_TRUE(primary_->commit("INSERT INTO orders DEFAULT VALUES"));
    }
    void wait_until_in_step() {
        ASSERT_TRUE(test::eventually([&] {
            return primary_->report().how == ship_report::state::following;
        })) << primary_->report().trouble;
    }
    [[nodiscard]] hand_over_options asking() const {
        return {.database = leader_,
                .to = {"127.0.0.1", port_},
                .access = access_of(1),
                .service = "orders",
                .patience = milliseconds{2'000}};
    }
    hand_over_report hand_over_now() {
        const auto asked = asking();
        auto done = hand_over(asked, {asked.access, random_, time_});
        EXPECT_TRUE(done) << done.error().what();
        return done ? *done : hand_over_report{};
    }
    /// All of a switch; afterwards neither runs.
    void change_roles() {
        primary_.reset();
        const auto done = hand_over_now();
        ASSERT_EQ(done.end, hand_over_end::given) << done.why;
        ASSERT_EQ(standby_->wait(), follow_end::has_role);
        standby_.reset();
        ASSERT_TRUE(promote({.database = follower_, .accept_loss = true}));
        take_role_of(follower_, leader_);
    }
    static void insert_message(running_primary& into, const std::string& endpoint) {
        ASSERT_TRUE(
            into.commit("INSERT INTO outbox_messages (destination, endpoint, payload) "
                        "VALUES ('stock', '" +
                        endpoint + "', '{}')"));
    }

    test::temporary_directory folder_{test::folder_in_memory()};
    system_random random_;
    real_clock time_;
    std::filesystem::path one_ = folder_.file("one.db");
    std::filesystem::path two_ = folder_.file("two.db");
    std::filesystem::path leader_;
    std::filesystem::path follower_;
    std::uint16_t port_ = 0;
    std::optional<running_standby> standby_;
    std::optional<running_primary> primary_;
};

TEST_F(a_changing_pair, changes_its_roles_to_and_fro_without_copying_or_losing_anything) {
    start_standby();
    start_primary();
    place_orders(3);
    wait_until_in_step();
    place_orders(2);
    for (int round = 0; round < 4; ++round) {
        change_roles();
        EXPECT_EQ(kept(leader_).epoch, static_cast<std::uint64_t>(2 + round));
        start_standby();
        start_primary();
        EXPECT_EQ(kept(follower_).as, pair_state::role::standby);
        place_orders(5);
        wait_until_in_step();
        EXPECT_EQ(primary_->report().copies, 0U);
        EXPECT_EQ(primary_->report().behind, 0U);
    }
    primary_.reset();
    standby_.reset();
    rows_after_promotion(follower_);
    test::sqlite_file(leader_).run("PRAGMA wal_checkpoint(TRUNCATE)");
    EXPECT_EQ(test::sqlite_file(leader_).integer("SELECT count(*) FROM orders"), 25);
    EXPECT_TRUE(bytes_of(leader_) == bytes_of(follower_));
}

TEST_F(a_changing_pair, ships_what_others_wrote_at_the_last_moment) {
    start_standby();
    start_primary();
    place_orders(1);
    wait_until_in_step();
    primary_.reset();
    // As a program does that is killed: who closes last would copy the log into the file.
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(leader_.c_str(), &other), SQLITE_OK);
    sqlite3_db_config(other, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    const auto* const insert = "INSERT INTO orders DEFAULT VALUES";
    EXPECT_EQ(sqlite3_exec(other, insert, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(other);
    const auto done = hand_over_now();
    ASSERT_EQ(done.end, hand_over_end::given) << done.why;
    ASSERT_EQ(standby_->wait(), follow_end::has_role);
    standby_.reset();
    ASSERT_TRUE(promote({.database = follower_, .accept_loss = true}));
    EXPECT_EQ(test::sqlite_file(follower_).integer("SELECT count(*) FROM orders"), 2);
}

TEST_F(a_changing_pair, keeps_the_role_where_the_standby_would_not_serve) {
    start_standby(false);
    start_primary();
    place_orders(1);
    wait_until_in_step();
    EXPECT_FALSE(primary_->report().can_lead);
    primary_.reset();
    const auto done = hand_over_now();
    EXPECT_EQ(done.end, hand_over_end::kept);
    EXPECT_THAT(done.why, HasSubstr("standby.to"));
    EXPECT_TRUE(may_lead(kept(leader_)));
    start_primary();
    place_orders(1);
}

TEST_F(a_changing_pair, keeps_the_role_without_a_standby) {
    start_standby();
    start_primary();
    place_orders(1);
    wait_until_in_step();
    primary_.reset();
    standby_.reset();
    EXPECT_EQ(hand_over_now().end, hand_over_end::kept);
    EXPECT_TRUE(may_lead(kept(leader_)));
}

TEST_F(a_changing_pair, is_not_opened_while_it_is_not_known_who_has_the_role) {
    start_standby();
    start_primary();
    place_orders(1);
    wait_until_in_step();
    primary_.reset();
    const auto end = end_of_log(leader_).value().value();
    const auto handing = give_role_away(kept(leader_), end);
    ASSERT_TRUE(save_state(leader_, handing));
    const auto refused = require_no_copy(leader_);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what(), HasSubstr("gave its role to its standby"));
    // The standby was never asked, and says so.
    const auto asked = asking();
    EXPECT_EQ(ask_what_became(asked, handing, {asked.access, random_, time_}),
              handing_end::not_taken);
    running_standby unsure(leader_, {.listen = {"127.0.0.1", 0}, .access = access_of(1)});
    EXPECT_EQ(unsure.report().state.phase, standby_phase::handing);
    // Nor is the role taken back by force beside one that is about to find out.
    const auto forced = promote({.database = leader_});
    ASSERT_FALSE(forced);
    EXPECT_THAT(forced.error().what(), HasSubstr("another process keeps"));
    EXPECT_EQ(kept(leader_), handing);
}

TEST_F(a_changing_pair, does_not_know_who_has_the_role_where_the_standbys_disk_fails_at_it) {
    start_standby();
    start_primary();
    place_orders(1);
    wait_until_in_step();
    primary_.reset();
    // It may be kept all the same, where only the last sync of it fails.
    const auto in_the_way = state_file_of(follower_).string() + ".new";
    ASSERT_TRUE(std::filesystem::create_directory(in_the_way));
    EXPECT_EQ(hand_over_now().end, hand_over_end::unknown);
    EXPECT_EQ(kept(leader_).phase, standby_phase::handing);
    EXPECT_FALSE(standby_->end());
    standby_.reset();
    const auto asked = asking();
    EXPECT_EQ(ask_what_became(asked, kept(leader_), {asked.access, random_, time_}),
              handing_end::unknown);
    // Once it was started anew, what is on its disk decides.
    std::filesystem::remove(in_the_way);
    start_standby();
    EXPECT_EQ(ask_what_became(asked, kept(leader_), {asked.access, random_, time_}),
              handing_end::not_taken);
}

/// A program on the machine that was the primary's a moment ago, which does not know of it.
class an_unaware_program : public a_changing_pair {
protected:
    void change_roles_and_write(const std::string& sql, bool closes_as_others_do) {
        start_standby();
        start_primary();
        place_orders(3);
        wait_until_in_step();
        primary_.reset();
        ASSERT_EQ(hand_over_now().end, hand_over_end::given);
        ASSERT_EQ(standby_->wait(), follow_end::has_role);
        standby_.reset();
        ASSERT_TRUE(promote({.database = follower_, .accept_loss = true}));
        EXPECT_EQ(write(leader_, sql, closes_as_others_do), SQLITE_OK);
        take_role_of(follower_, leader_);
        start_standby();
    }
    static int write(const std::filesystem::path& database, const std::string& sql,
                     bool closes_as_others_do = true) {
        sqlite3* other = nullptr;
        EXPECT_EQ(sqlite3_open(database.c_str(), &other), SQLITE_OK);
        sqlite3_db_config(other, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, closes_as_others_do ? 0 : 1,
                          nullptr);
        const int code = sqlite3_exec(other, sql.c_str(), nullptr, nullptr, nullptr);
        sqlite3_close(other);
        return code;
    }
    void expect_equal_files(std::uint64_t copies) {
        start_primary();
        place_orders(1);
        wait_until_in_step();
        EXPECT_EQ(primary_->report().copies, copies);
        primary_.reset();
        standby_.reset();
        EXPECT_EQ(rows_after_promotion(follower_), 4);
        test::sqlite_file(leader_).run("PRAGMA wal_checkpoint(TRUNCATE)");
        EXPECT_TRUE(bytes_of(leader_) == bytes_of(follower_));
    }
    [[nodiscard]] bool is_tail_kept() const {
        const auto folder = std::filesystem::directory_iterator(folder_.path());
        return std::ranges::any_of(folder, [](const auto& each) {
            return each.path().string().contains(".tail-before-epoch-");
        });
    }
};

TEST_F(an_unaware_program, has_what_it_wrote_cut_off_and_kept) {
    change_roles_and_write("INSERT INTO orders DEFAULT VALUES", false);
    EXPECT_EQ(standby_->report().state.phase, standby_phase::following);
    EXPECT_TRUE(is_tail_kept());
    expect_equal_files(0);
}

TEST_F(an_unaware_program, makes_a_part_of_a_copy_of_a_file_that_it_has_put_the_log_into) {
    change_roles_and_write("CREATE TABLE more (n); INSERT INTO more VALUES (zeroblob(9000))", true);
    EXPECT_EQ(standby_->report().state.phase, standby_phase::copying);
    expect_equal_files(1);
}

TEST_F(an_unaware_program, makes_one_also_where_the_log_is_left) {
    change_roles_and_write(
        "CREATE TABLE more (n); INSERT INTO more VALUES (zeroblob(9000));"
        "PRAGMA wal_checkpoint(PASSIVE)",
        false);
    EXPECT_EQ(standby_->report().state.phase, standby_phase::copying);
    EXPECT_TRUE(is_tail_kept());
    expect_equal_files(1);
}

TEST_F(an_unaware_program, finds_the_copy_locked_while_it_is_kept) {
    start_standby();
    start_primary();
    place_orders(1);
    wait_until_in_step();
    EXPECT_EQ(write(follower_, "INSERT INTO orders DEFAULT VALUES"), SQLITE_BUSY);
    place_orders(1);
    primary_.reset();
    standby_.reset();
    EXPECT_EQ(rows_after_promotion(follower_), 2);
}

/// A standby of the test's own, which looks at what the primary keeps when it is offered the role.
class looking_standby {
public:
    looking_standby(std::filesystem::path primary, log_place at)
        : primary_(std::move(primary)), at_(at) {}

    void run(link_listener& listener) {
        introduction door({.keys = key_ring({make_key(key_of(1))}), .now = {}, .nonce = {}});
        auto came = std::move(listener.accept(milliseconds{5'000}).value()).value();
        while (door.wanted() != 0) {
            std::vector<std::byte> bytes(door.wanted());
            ASSERT_TRUE(came.read(bytes, milliseconds{5'000}));
            ASSERT_TRUE(came.write(door.take(bytes), milliseconds{5'000}));
        }
        ASSERT_TRUE(door.proven());
        link_channel link(std::move(came), std::move(door.seal()), milliseconds{5'000});
        const link_welcome us{.place = {.stream = door.proven()->stream,
                                        .epoch = 1,
                                        .phase = standby_phase::following,
                                        .at = at_},
                              .can_lead = true,
                              .service = "orders"};
        ASSERT_TRUE(link.say(link_kind::place, {encode(us)}));
        const auto offer = link.hear();
        ASSERT_TRUE(offer);
        EXPECT_EQ(offer->kind, link_kind::hand_over);
        EXPECT_EQ(load_state(primary_).value()->phase, standby_phase::handing);
        const std::string_view why = "it is a test";
        ASSERT_TRUE(link.say(link_kind::refused, {std::as_bytes(std::span(why))}));
    }

private:
    std::filesystem::path primary_;
    log_place at_;
};

TEST_F(a_changing_pair, keeps_that_it_gives_the_role_away_before_it_says_so) {
    start_standby();
    start_primary();
    place_orders(1);
    wait_until_in_step();
    primary_.reset();
    standby_.reset();
    auto listener = link_listener::listen({"127.0.0.1", 0}).value();
    port_ = listener.port();
    looking_standby standby(leader_, end_of_log(leader_).value().value());
    hand_over_report done;
    {
        const std::jthread asks([&] { done = hand_over_now(); });
        standby.run(listener);
    }
    EXPECT_EQ(done.end, hand_over_end::kept);
    EXPECT_THAT(done.why, HasSubstr("it is a test"));
    EXPECT_TRUE(may_lead(kept(leader_)));
}

TEST_F(a_changing_pair, follows_the_one_that_took_the_role_though_it_never_heard_of_it) {
    start_standby();
    start_primary();
    place_orders(2);
    wait_until_in_step();
    primary_.reset();
    // The old primary dies after it has said so.
    const auto done = hand_over_now();
    ASSERT_EQ(done.end, hand_over_end::given);
    auto forgotten = kept(leader_);
    forgotten.as = pair_state::role::primary;
    forgotten.phase = standby_phase::handing;
    forgotten.epoch = 1;
    ASSERT_TRUE(save_state(leader_, forgotten));
    ASSERT_EQ(standby_->wait(), follow_end::has_role);
    standby_.reset();
    ASSERT_TRUE(promote({.database = follower_, .accept_loss = true}));
    take_role_of(follower_, leader_);
    start_standby();
    start_primary();
    place_orders(2);
    wait_until_in_step();
    EXPECT_EQ(kept(follower_).phase, standby_phase::following);
    primary_.reset();
    standby_.reset();
    EXPECT_EQ(rows_after_promotion(follower_), 4);
}

TEST_F(a_changing_pair, takes_the_role_by_force_where_the_other_is_lost) {
    start_standby();
    start_primary();
    place_orders(2);
    wait_until_in_step();
    primary_.reset();
    ASSERT_TRUE(
        save_state(leader_, give_role_away(kept(leader_), end_of_log(leader_).value().value())));
    const auto taken = promote({.database = leader_});
    ASSERT_TRUE(taken) << taken.error().what();
    EXPECT_EQ(taken->epoch, 3U);
    EXPECT_TRUE(may_lead(kept(leader_)));
}

class an_old_primary : public a_changing_pair {
protected:
    /// The primary goes on without its standby for a while, and is lost; the standby takes over.
    void part_ways(int behind) {
        start_standby();
        auto how = options(leader_);
        how.lost = when_lost::alone;
        how.patience = milliseconds{100};
        primary_.emplace(leader_, how);
        place_orders(3);
        insert_message(*primary_, "Before");
        wait_until_in_step();
        ASSERT_TRUE(primary_->commit("UPDATE orders SET n = n + 100"));
        ASSERT_TRUE(test::eventually([&] {
            const auto seen = primary_->report();
            return seen.behind == 0 && !seen.alone;
        }));
        standby_.reset();
        for (int i = 0; i < behind; ++i) insert_message(*primary_, "Behind" + std::to_string(i));
        primary_.reset();
        ASSERT_TRUE(promote({.database = follower_, .accept_loss = true}));
        const auto now = kept(follower_);
        history_ = {.stream = now.stream, .epoch = now.epoch, .began = now.began.value()};
    }
    void follow_the_new_one() {
        take_role_of(two_, one_);
        start_standby();
        start_primary();
        place_orders(1);
        wait_until_in_step();
    }

    new_history history_;
};

TEST_F(an_old_primary, is_cut_where_the_histories_part_and_tells_what_was_behind) {
    part_ways(2);
    const auto done = rejoin(one_, history_);
    ASSERT_TRUE(done) << done.error().what();
    EXPECT_TRUE(done->was_cut) << done->why;
    ASSERT_TRUE(done->lost);
    EXPECT_EQ(done->lost->outbox, 2U);
    ASSERT_EQ(done->lost->listed.size(), 2U);
    EXPECT_EQ(done->lost->listed[0].endpoint, "Behind0");
    EXPECT_EQ(done->lost->listed[1].endpoint, "Behind1");
    EXPECT_TRUE(std::filesystem::exists(done->kept));
    EXPECT_EQ(kept(one_).phase, standby_phase::following);
    follow_the_new_one();
    EXPECT_EQ(primary_->report().copies, 0U);
    primary_.reset();
    standby_.reset();
    rows_after_promotion(one_);
    test::sqlite_file(two_).run("PRAGMA wal_checkpoint(TRUNCATE)");
    EXPECT_EQ(test::sqlite_file(one_).integer("SELECT count(*) FROM outbox_messages"), 1);
    EXPECT_TRUE(bytes_of(one_) == bytes_of(two_));
}

TEST_F(an_old_primary, has_nothing_to_tell_where_nothing_was_behind) {
    part_ways(0);
    const auto done = rejoin(one_, history_);
    ASSERT_TRUE(done) << done.error().what();
    EXPECT_TRUE(done->was_cut) << done->why;
    EXPECT_TRUE(done->kept.empty());
    follow_the_new_one();
}

TEST_F(an_old_primary, is_copied_anew_where_others_have_copied_its_log_into_the_file) {
    part_ways(2);
    test::sqlite_file(one_).run("PRAGMA wal_checkpoint(TRUNCATE)");
    const auto done = rejoin(one_, history_);
    ASSERT_TRUE(done) << done.error().what();
    EXPECT_FALSE(done->was_cut);
    EXPECT_FALSE(std::filesystem::exists(one_));
    follow_the_new_one();
    primary_.reset();
    standby_.reset();
    EXPECT_EQ(rows_after_promotion(one_), 4);
}

TEST_F(an_old_primary, goes_on_with_being_cut_after_it_was_killed) {
    part_ways(1);
    auto joins = become_standby(kept(one_), history_.epoch);
    joins.parting = history_.began;
    ASSERT_TRUE(save_state(one_, joins));
    const auto again = rejoin(one_, history_);
    ASSERT_TRUE(again) << again.error().what();
    EXPECT_TRUE(again->was_cut);
    EXPECT_TRUE(std::filesystem::exists(again->kept));
    follow_the_new_one();
}

TEST(the_way_back, is_cut_for_the_next_history_of_the_same_database_alone) {
    const pair_state old{.as = pair_state::role::primary, .stream = {std::byte{1}}, .epoch = 4};
    const new_history next{.stream = old.stream, .epoch = 5, .began = {}};
    EXPECT_EQ(refuse_cut(old, next), "");
    EXPECT_THAT(refuse_cut(old, {}), HasSubstr("was not told"));
    auto other = next;
    other.epoch = 6;
    EXPECT_THAT(refuse_cut(old, other), HasSubstr("epoch 6"));
    other = next;
    other.stream = {};
    EXPECT_THAT(refuse_cut(old, other), HasSubstr("another database"));
}

TEST(the_way_back, is_told_as_one_word) {
    const new_history told{.stream = {std::byte{0xab}},
                           .epoch = 12,
                           .began = {{std::byte{1}}, 4'152, {7, 0xffff'ffff}}};
    const auto text = to_text(told);
    const auto read = parse_new_history(text);
    ASSERT_TRUE(read);
    EXPECT_EQ(to_text(*read), text);
    for (std::size_t size = 0; size < text.size(); ++size)
        EXPECT_FALSE(parse_new_history(std::string_view(text).substr(0, size))) << size;
}

}  // namespace
}  // namespace posthorn::standby
