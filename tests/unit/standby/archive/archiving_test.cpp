#include "standby/archive/archiving.hpp"

#include <gtest/gtest.h>

#include "feature/feature.hpp"
#include "standby/standby_feature.hpp"

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

wall_time at(std::int64_t s) { return wall_time(seconds(s)); }

const archive_settings how{.folder = "/archive", .every = seconds{60}};

archive_report good() {
    return {.has_tried = true, .oldest = at(1'000), .newest = at(2'000), .base_at = at(1'000)};
}

std::string worries(const archive_report& seen) {
    std::string all;
    for (const auto& each : worries_of(seen, how, at(2'000))) {
        EXPECT_EQ(each.how, health_level::yellow);
        all += each.what + "\n";
    }
    return all;
}

TEST(an_archive_report, worries_about_what_a_person_can_mend) {
    EXPECT_EQ(worries(good()), "");
    EXPECT_EQ(worries({}), "");  // A moment after the start.
    auto seen = good();
    seen.trouble = "no room";
    EXPECT_TRUE(worries(seen).contains("the archive cannot be written: no room"));
    seen = good();
    seen.behind_for = milliseconds{131'000};
    EXPECT_TRUE(worries(seen).contains("behind by 131 s"));
    seen.behind_for = milliseconds{130'000};
    EXPECT_EQ(worries(seen), "");
    seen = good();
    seen.oldest = {};
    EXPECT_TRUE(worries(seen).contains("first base"));
    seen = good();
    seen.lost = {"/archive/log-1", "/archive/log-2"};
    EXPECT_TRUE(worries(seen).contains("2 files of the archive are missing or damaged"));
}

TEST(an_archive_report, tells_a_gap_for_a_day_after_it_has_ended) {
    auto seen = good();
    seen.gaps = {{at(-90'000), at(-84'400)}};
    EXPECT_EQ(worries(seen), "");
    seen.gaps = {{at(-90'000), at(-84'399)}};
    EXPECT_TRUE(worries(seen).contains("nothing was archived"));
    seen.gaps = {{at(-90'000), std::nullopt}};
    EXPECT_TRUE(worries(seen).contains("a base that is not whole yet"));
}

feature_settings said(std::map<std::string, feature_value, std::less<>> values) {
    for (const auto& key : standby_feature().keys())
        values.try_emplace(std::string(key.name), key.fallback());
    return feature_settings(std::move(values));
}

TEST(archive_settings, are_read_with_a_folder_beside_the_database) {
    const auto none = read_archive_settings(said({}), "/srv/orders.db");
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
    const auto read =
        read_archive_settings(said({{"archive", std::string("then")}}), "/srv/orders.db");
    ASSERT_TRUE(read && *read);
    EXPECT_EQ((*read)->folder, "/srv/then");
    EXPECT_EQ((*read)->limits.keep, std::chrono::hours{168});
    const auto far =
        read_archive_settings(said({{"archive", std::string("/mnt/then")}}), "/srv/orders.db");
    EXPECT_EQ((*far)->folder, "/mnt/then");
}

TEST(archive_settings, that_cannot_be_name_their_key) {
    const auto key_of = [](std::map<std::string, feature_value, std::less<>> values) {
        const auto found = check_archive_settings(said(std::move(values)));
        return found ? std::string(found->key) : std::string("none");
    };
    EXPECT_EQ(key_of({}), "none");
    EXPECT_EQ(key_of({{"archive", std::string()}}), "archive");
    EXPECT_EQ(key_of({{"archive_every", milliseconds{1}}}), "archive_every");
    EXPECT_EQ(key_of({{"archive_base_every", milliseconds{1}}}), "archive_base_every");
    EXPECT_EQ(key_of({{"archive_keep", milliseconds{1'000}}}), "archive_keep");
    EXPECT_EQ(key_of({{"archive_bytes", std::int64_t{5}}}), "archive_bytes");
    EXPECT_EQ(key_of({{"archive_bytes", std::int64_t{-1}}}), "archive_bytes");
}

TEST(archive_settings, are_refused_where_there_is_no_log_to_keep) {
    const auto refused = [](const store_plan& plan) {
        const auto why = refuse_archive(said({{"archive", std::string("/then")}}), plan);
        return why ? std::string(why->why.what()) : std::string();
    };
    EXPECT_EQ(refused({}), "");
    EXPECT_TRUE(refused({.on_server = true}).contains("PostgreSQL"));
    EXPECT_TRUE(refused({.in_memory = true}).contains("memory"));
    EXPECT_TRUE(refused({.has_own_inbox = true}).contains("inbox_url"));
    EXPECT_TRUE(refused({.syncs_commits = false}).contains("synchronous"));
    EXPECT_FALSE(refuse_archive(said({}), {.on_server = true}));
}

}  // namespace
}  // namespace posthorn::standby
