// The numbers of the messaging document, as a node has them unless it is told otherwise.
#include <gtest/gtest.h>

#include <posthorn/node.hpp>

#include "app/config/config.hpp"
#include "app/config/core_options.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

TEST(defaults, of_the_outbox_are_those_of_the_messaging_document) {
    const core_options options{};
    EXPECT_EQ(options.outbox.poll_interval, 1s);
    EXPECT_EQ(options.outbox.lane.batch_rows, 50U);
    EXPECT_EQ(options.outbox.hand_over_rows, 10'000U);
    EXPECT_EQ(options.retention.sent, 24h * 7);
    EXPECT_EQ(options.retention.dead, std::nullopt);  // They wait for a person.
    EXPECT_EQ(options.retention.expired, 24h * 30);
    EXPECT_EQ(options.retention.resolved, 24h * 7);
    EXPECT_EQ(options.retention.interval, 5min);
    const node_options seen{};
    EXPECT_EQ(seen.retry.retries_max, 5);
    EXPECT_EQ(seen.message_ttl, 24h);
    const auto& backoff = std::get<exponential_backoff>(seen.retry.backoff);
    EXPECT_EQ(backoff.base, 2s);
    EXPECT_EQ(backoff.max, 5min);
    EXPECT_EQ(backoff.jitter_max, 500ms);
    EXPECT_TRUE(seen.store.synchronous_full);
}

TEST(defaults, of_the_inbox_keep_rows_for_two_days_and_look_every_five_minutes) {
    const core_options options{};
    EXPECT_EQ(options.inbox.purge.interval, 5min);
    const wall_time now{1'900'000'000'000ms};
    EXPECT_EQ(keep_until(now + 1h, now, options.inbox.intake.horizon), now + 48h);
}

TEST(defaults, of_backups_are_hourly_and_a_week) {
    const config settings{};
    EXPECT_EQ(settings.backup.every, 1h);
    EXPECT_EQ(settings.backup.keep, 7 * 24h);
    EXPECT_TRUE(settings.backup.folder.empty());
    EXPECT_EQ(sqlite::backup_plan{}.every, 1h);
    EXPECT_EQ(sqlite::backup_plan{}.keep, 7 * 24h);
}

}  // namespace
}  // namespace posthorn
