// A store and its archive, on real files; the time is the test's.
#include "base/random.hpp"
#include "unit/standby/archive/an_archive.hpp"

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;

TEST_F(an_archive, restores_a_hundred_moments_as_they_were) {
    start();
    wait_for_base();
    const auto begun = now();
    for (int i = 0; i < 150; ++i) {
        place_order();
        if (i % 40 == 17) start();  // Another process goes on with it.
        if (i % 50 == 30) test::sqlite_file(database_).run("UPDATE orders SET note = 'x' || note");
    }
    stop();
    ASSERT_EQ(stretches().size(), 1U);
    EXPECT_GT(stretches().front().segments.size(), 5U);
    seeded_random dice(27);
    const auto lasted = static_cast<std::uint64_t>((now() - begun).count());
    for (int i = 0; i < 100; ++i) {
        const auto moment = begun + milliseconds(static_cast<std::int64_t>(dice.below(lasted)));
        ASSERT_EQ(orders_at(moment), orders_known_at(moment)) << to_iso8601(moment);
    }
    EXPECT_EQ(orders_at(std::nullopt), 150);
    EXPECT_EQ(orders_at(now() + std::chrono::hours{1}), 150);
}

TEST_F(an_archive, says_which_commit_is_the_last_that_it_restored_and_what_comes_next) {
    start();
    wait_for_base();
    for (int i = 0; i < 5; ++i) place_order();
    const auto third = std::next(known_.begin(), 2)->first;
    stop();
    const auto done = restore(folder_.file("then.db"), third + milliseconds{400});
    ASSERT_TRUE(done) << done.error().what();
    EXPECT_EQ(done->moment, third);
    EXPECT_EQ(done->next_at, third + milliseconds{1'000});
    EXPECT_TRUE(done->segment.contains("/log-")) << done->segment;
    EXPECT_EQ(done->service, "orders");
    EXPECT_GE(done->epoch, 1'000'000);
}

TEST_F(an_archive, has_no_gap_where_a_node_ended_after_a_checkpoint) {
    start(options(), 1);  // After each commit.
    wait_for_base();
    for (int i = 0; i < 10; ++i) {
        place_order();
        start(options(), 1);
    }
    stop();
    ASSERT_EQ(stretches().size(), 1U);
    for (const auto& [moment, count] : known_) ASSERT_EQ(orders_at(moment), count);
    // But where another program has written since, nothing tells that it did no more.
    start(options(), 1);
    place_order();
    stop();
    test::sqlite_file(database_).run(
        "INSERT INTO orders (note) VALUES ('unseen'); PRAGMA wal_checkpoint(PASSIVE);"
        "INSERT INTO orders (note) VALUES ('unseen'); PRAGMA wal_checkpoint(PASSIVE)");
    start(options(), 1);
    wait_for_base();
    stop();
    EXPECT_EQ(stretches().size(), 2U);
    EXPECT_EQ(orders_at(std::nullopt), 13);
}

TEST_F(an_archive, has_what_other_programs_committed_with_the_next_commit) {
    start();
    wait_for_base();
    place_order();
    test::sqlite_file(database_).run("INSERT INTO orders (note) VALUES ('by hand')");
    ++orders_;
    place_order();
    stop();
    EXPECT_EQ(orders_at(std::nullopt), 3);
}

TEST_F(an_archive, keeps_the_log_until_it_has_it) {
    auto how = options();
    how.patience = milliseconds{1};
    std::filesystem::create_directories(how.as.folder.parent_path());
    const auto in_its_way = plain_file::open(how.as.folder, plain_file::how::make);  // A file.
    start(how);
    for (int i = 0; i < 100; ++i) place_order();
    ASSERT_TRUE(test::eventually([&] { return !store_->report().trouble.empty(); }));
    EXPECT_GT(store_->report().behind, 100U * 4096);
    EXPECT_GT(std::filesystem::file_size(database_.string() + "-wal"), 100U * 4096);
    stop();
    std::filesystem::remove(how.as.folder);
    start();
    wait_for_base();
    place_order();
    stop();
    EXPECT_EQ(orders_at(std::nullopt), 101);
}

TEST_F(an_archive, begins_anew_after_a_gap_and_tells_it) {
    start();
    wait_for_base();
    for (int i = 0; i < 3; ++i) place_order();
    const auto before = now();
    stop();
    test::sqlite_file(database_).run(
        "INSERT INTO orders (note) VALUES ('unseen'); PRAGMA wal_checkpoint(TRUNCATE)");
    ++orders_;
    time_.advance(milliseconds{60'000});
    start();
    wait_for_base();
    EXPECT_EQ(store_->report().gaps.size(), 1U);
    EXPECT_EQ(store_->report().gaps.front().from, before);
    place_order();
    stop();
    ASSERT_EQ(stretches().size(), 2U);
    EXPECT_EQ(orders_at(before), 3);
    EXPECT_EQ(orders_at(now()), 5);
    const auto refused = restore(folder_.file("then.db"), before + milliseconds{10'000});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::not_found);
    const std::string why = refused.error().what();
    EXPECT_TRUE(why.contains("gap") && why.contains(to_iso8601(before))) << why;
}

TEST_F(an_archive, names_a_damaged_segment_and_a_missing_one) {
    start();
    wait_for_base();
    for (int i = 0; i < 100; ++i) place_order();
    stop();
    const auto all = stretches().front();
    ASSERT_GT(all.segments.size(), 5U);
    const auto third = all.file_of(all.segments[all.segments.size() - 3].facts);
    const auto until_then = all.segments[all.segments.size() - 4].facts.last_at;
    damage(third);
    auto refused = restore(folder_.file("then.db"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::store_corrupt);
    EXPECT_TRUE(std::string(refused.error().what()).contains(third.string()));
    EXPECT_FALSE(std::filesystem::exists(folder_.file("then.db")));
    EXPECT_FALSE(std::filesystem::exists(folder_.file("then.db.restoring")));
    EXPECT_EQ(orders_at(until_then), orders_known_at(until_then));

    std::filesystem::remove(third);
    refused = restore(folder_.file("then.db"));
    ASSERT_FALSE(refused);
    const std::string why = refused.error().what();
    EXPECT_TRUE(why.contains(third.string()) && why.contains("missing") &&
                why.contains(to_iso8601(until_then)))
        << why;
    start();
    ASSERT_TRUE(test::eventually([&] { return !store_->report().lost.empty(); }));
    EXPECT_EQ(store_->report().lost.front(), third.string());
}

TEST_F(an_archive, is_never_restored_to_what_it_was_not) {
    start();
    wait_for_base();
    for (int i = 0; i < 60; ++i) place_order();
    stop();
    std::vector<std::filesystem::path> files;
    for (const auto& each : std::filesystem::directory_iterator(stretches().front().folder))
        files.push_back(each.path());
    seeded_random dice(5);
    int refused = 0;
    for (int round = 0; round < 200; ++round) {
        const auto& file = files[dice.below(files.size())];
        const auto size = std::filesystem::file_size(file);
        // Every other one in a head, which is believed before its sum was looked at.
        const auto where = dice.below(round % 2 == 0 ? size : 300);
        damage(file, where);
        const auto done = restore(folder_.file("then.db"));
        damage(file, where);
        if (!done) {
            ++refused;
            continue;
        }
        // What was changed is not needed for it.
        test::sqlite_file then(folder_.file("then.db"));
        ASSERT_EQ(then.integer("SELECT count(*) FROM orders"), 60) << file << where;
        then.close();
        std::filesystem::remove(folder_.file("then.db"));
    }
    EXPECT_GT(refused, 100);
    EXPECT_EQ(orders_at(std::nullopt), 60);
}

TEST_F(an_archive, names_a_damaged_base) {
    start();
    wait_for_base();
    place_order();
    stop();
    const auto all = stretches().front();
    damage(all.file_of(all.bases.front().facts));
    const auto refused = restore(folder_.file("then.db"));
    ASSERT_FALSE(refused);
    EXPECT_TRUE(std::string(refused.error().what()).contains("base-")) << refused.error().what();
}

TEST_F(an_archive, restores_into_a_new_file_and_never_over_one) {
    start();
    wait_for_base();
    place_order();
    stop();
    const auto refused = restore(database_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::invalid_argument);
    EXPECT_EQ(test::sqlite_file(database_).integer("SELECT count(*) FROM orders"), 1);
}

TEST_F(an_archive, makes_a_base_now_and_then_and_lets_what_is_old_go) {
    auto how = options();
    how.base_every = milliseconds{20'000};
    how.limits.keep = milliseconds{45'000};
    start(how);
    wait_for_base();
    for (int round = 0; round < 6; ++round) {
        const auto before = store_->report().base_at;
        for (int i = 0; i < 21; ++i) place_order();
        ASSERT_TRUE(test::eventually([&] { return store_->report().base_at != before; }));
    }
    const auto oldest = store_->report().oldest;
    stop();
    EXPECT_GT(*oldest, now() - milliseconds{120'000});
    EXPECT_LE(*oldest, now() - milliseconds{45'000});
    for (auto moment = now(); moment > now() - milliseconds{45'000}; moment -= milliseconds{7'900})
        EXPECT_EQ(orders_at(moment), orders_known_at(moment));
    EXPECT_FALSE(restore(folder_.file("then.db"), *oldest - milliseconds{1}));
}

TEST_F(an_archive, belongs_to_one_node) {
    start();
    wait_for_base();
    archived_store other(folder_.file("other.db"), options(), time_);
    ASSERT_TRUE(test::eventually([&] { return !other.report().trouble.empty(); }));
    EXPECT_TRUE(other.report().trouble.contains("another node")) << other.report().trouble;
}

TEST_F(an_archive, goes_on_after_its_folder_failed_without_a_gap) {
    start();
    wait_for_base();
    place_order();
    const auto aside = folder_.file("aside");
    // Renamed, it cannot be written under its name, where a file stands now.
    std::filesystem::rename(options().as.folder, aside);
    {
        const auto in_its_way = plain_file::open(options().as.folder, plain_file::how::make);
    }
    for (int i = 0; i < 60; ++i) place_order();
    ASSERT_TRUE(test::eventually([&] { return !store_->report().trouble.empty(); }));
    std::filesystem::remove(options().as.folder);
    std::filesystem::rename(aside, options().as.folder);
    stop();
    EXPECT_EQ(stretches().size(), 1U);
    EXPECT_EQ(orders_at(std::nullopt), 61);
    for (const auto& [moment, count] : known_) ASSERT_EQ(orders_at(moment), count);
}

}  // namespace
}  // namespace posthorn::standby
