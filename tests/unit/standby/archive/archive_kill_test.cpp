// An archive whose node is killed at any moment, and a restore that is.
#include <vector>

#include "base/random.hpp"
#include "support/small_disk.hpp"
#include "unit/standby/archive/an_archive.hpp"
#include "unit/standby/killed_process.hpp"

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;

class a_killed_archive : public an_archive {
protected:
    /// Says the number of each order once it is answered.
    void take_orders(std::int64_t from, int to) {
        time_.advance(std::chrono::hours{from});
        start();
        for (auto n = from;; ++n) {
            time_.advance(milliseconds{10});
            const auto sql = "INSERT INTO orders VALUES (" + std::to_string(n) +
                             ", hex(randomblob(" + std::to_string(n * 37 % 5'000) + ")))";
            if (!store_->commit(sql)) ::_exit(1);
            say(to, n);
        }
    }
    void expect_restored(const std::filesystem::path& into,
                         const std::vector<std::int64_t>& answered) {
        test::sqlite_file file(into);
        ASSERT_EQ(file.text("PRAGMA integrity_check"), "ok");
        for (const auto n : answered)
            ASSERT_EQ(file.integer("SELECT count(*) FROM orders WHERE n = " + std::to_string(n)), 1)
                << n;
    }
};

TEST_F(a_killed_archive, has_all_that_was_answered_once_its_node_has_run_again) {
    std::vector<std::int64_t> answered;
    for (int round = 0; round < 15; ++round) {
        const auto from = (round + 1) * 10'000;
        killed_process node([&](int to) { take_orders(from, to); });
        const int wanted = 1 + (round * 29 % 90);
        for (int i = 0; i < wanted; ++i) answered.push_back(node.hear().value());
        node.kill();
        while (const auto said = node.hear()) answered.push_back(*said);
    }
    time_.advance(std::chrono::hours{1'000'000});
    start();
    wait_for_base();
    stop();
    const auto into = folder_.file("then.db");
    const auto done = restore(into);
    ASSERT_TRUE(done) << done.error().what();
    expect_restored(into, answered);
    for (const auto& each : stretches()) {
        EXPECT_TRUE(missing_segments(each).empty());
        EXPECT_TRUE(each.damaged.empty());
    }
}

TEST_F(a_killed_archive, is_restored_whole_or_not_at_all) {
    start();
    wait_for_base();
    for (int i = 0; i < 150; ++i) place_order();
    stop();
    const auto into = folder_.file("then.db");
    int whole = 0;
    for (int round = 0; round < 25; ++round) {
        killed_process restorer([&](int to) {
            for (std::int64_t parts = 0;; ++parts) {
                const auto done = restore_from_archive(
                    {.archive = folder_.file("archive"),
                     .name = "orders",
                     .into = into,
                     .progress = [&](std::int64_t, std::int64_t) { say(to, parts++); }},
                    time_);
                say(to, done ? -1 : -2);
                ::pause();
            }
        });
        for (int i = 0; i <= round; ++i)
            if (restorer.hear().value() < 0) break;
        restorer.kill();
        if (!std::filesystem::exists(into)) continue;
        ++whole;
        test::sqlite_file file(into);
        EXPECT_EQ(file.text("PRAGMA integrity_check"), "ok");
        EXPECT_EQ(file.integer("SELECT count(*) FROM orders"), 150);
        file.close();
        for (const auto* const beside : {"", "-wal", "-shm"})
            std::filesystem::remove(into + beside);
    }
    EXPECT_LT(whole, 25);
    EXPECT_EQ(orders_at(std::nullopt), 150);  // What was left does not stand in its way.
}

TEST_F(a_killed_archive, goes_on_without_a_gap_once_its_full_disk_has_room) {
    constexpr std::uint64_t mib = 1024 * 1024;
    test::small_disk disk(16 * mib);
    ASSERT_TRUE(disk.is_there());
    auto how = options();
    how.as.folder = disk.file("archive");
    start(how);
    wait_for_base();
    place_order();
    disk.fill_up_to(0);
    for (int i = 0; i < 100; ++i) place_order();
    ASSERT_TRUE(test::eventually([&] { return !store_->report().trouble.empty(); }));
    EXPECT_EQ(stretches_in(how.as.folder).size(), 1U);
    disk.empty();
    stop();
    const auto all = stretches_in(how.as.folder);
    ASSERT_EQ(all.size(), 1U);
    const auto into = folder_.file("then.db");
    const auto done =
        restore_from_archive({.archive = how.as.folder, .name = "orders", .into = into}, time_);
    ASSERT_TRUE(done) << done.error().what();
    EXPECT_EQ(test::sqlite_file(into).integer("SELECT count(*) FROM orders"), 101);

    // A restore into a full disk keeps nothing.
    disk.fill_up_to(8'192);
    const auto refused = restore_from_archive(
        {.archive = how.as.folder, .name = "orders", .into = disk.file("then.db")}, time_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::store_full) << refused.error().what();
    EXPECT_FALSE(std::filesystem::exists(disk.file("then.db.restoring")));
}

}  // namespace
}  // namespace posthorn::standby
