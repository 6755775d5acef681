#include "app/config/core_settings.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

auto fields_of(const message_limits& limits) {
    return std::tuple(limits.payload_size_max, limits.headers_size_max, limits.name_size_max,
                      limits.text_size_max, limits.depth_max);
}

TEST(core_settings, bind_what_is_sent_and_what_is_received_to_the_same_limits) {
    config settings;
    settings.limits.payload.bytes = 5000;
    settings.limits.message_headers.bytes = 2000;
    settings.limits.name = 50;
    settings.limits.text = 60;
    settings.limits.depth = 7;
    const auto wanted = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::size_t>(
        5000, 2000, 50, 60, 7);
    const auto core = core_settings(settings);
    EXPECT_EQ(fields_of(core.sending.limits), wanted);
    EXPECT_EQ(fields_of(core.database.limits), wanted);
    EXPECT_EQ(fields_of(wire_options_of(settings).limits), wanted);
    EXPECT_EQ(core.inbox.intake.response_size_max, 5000U);
}

TEST(core_settings, keep_each_kind_of_row_for_the_time_that_is_written) {
    using namespace std::chrono_literals;
    config settings;
    settings.outbox.sent_retention = 1h;
    settings.outbox.dead_retention = 2h;
    settings.outbox.expired_retention.reset();
    settings.outbox.resolved_retention = 4h;
    settings.store.changes_retention = 5h;
    settings.store.vacuum = vacuum_mode::weekly;
    const auto core = core_settings(settings).retention;
    EXPECT_EQ(core.sent, 1h);
    EXPECT_EQ(core.dead, 2h);
    EXPECT_EQ(core.expired, std::nullopt);
    EXPECT_EQ(core.resolved, 4h);
    EXPECT_EQ(core.changes, 5h);
    EXPECT_EQ(core.vacuum, vacuum_mode::weekly);
}

TEST(core_settings, watch_the_disk_of_each_database) {
    config settings;
    settings.store.inbox_url = database_url{"inbox.db"};
    settings.store.disk_low_water.bytes = 1000;
    settings.store.ballast.bytes = 100;
    const auto core = core_settings(settings);
    for (const auto& disk : {core.database.disk, core.inbox_database->disk}) {
        EXPECT_EQ(disk.low_water, 1000U);
        EXPECT_EQ(disk.ballast, 100U);
    }
}

TEST(core_settings, allow_by_default_what_a_message_allows) {
    EXPECT_EQ(fields_of(message_limits_of({})), fields_of({}));
}

TEST(core_settings, let_no_lane_to_a_broker_wait_longer_than_two_seconds_for_its_next_try) {
    config settings;
    settings.routes["ledger"] = {.url = "amqp://rabbit"};
    settings.routes["audit"] = {.url = "natss://nats"};
    settings.routes["stock"] = {.url = "http://stock:7400"};
    settings.default_route = route_setting{.url = "amqp://rabbit"};
    const auto core = core_settings(settings);
    const auto pause_of = [&](const route_limits& limits) {
        return with_limits(core.outbox.lane, limits).breaker.open_max;
    };
    EXPECT_EQ(pause_of(core.routes.at("ledger").limits), std::chrono::seconds{2});
    EXPECT_EQ(pause_of(core.routes.at("audit").limits), std::chrono::seconds{2});
    EXPECT_EQ(pause_of(core.default_route.value().limits), std::chrono::seconds{2});
    EXPECT_EQ(pause_of(core.routes.at("stock").limits), std::chrono::minutes{1});
}

TEST(core_settings, give_lanes_the_limits_of_their_route_or_of_the_outbox) {
    config settings;
    settings.outbox.window = 3;
    settings.outbox.rate = 50;
    settings.outbox.attempt_timeout = std::chrono::minutes{5};
    settings.routes["stock"] = {.url = "http://stock:7400",
                                .timeout = std::chrono::seconds{7},
                                .window = 9,
                                .batch = 4,
                                .rate = 2.5};
    settings.routes["billing"] = {.url = "http://billing:7400"};
    const auto core = core_settings(settings);
    const auto lane_of = [&](const char* destination) {
        return with_limits(core.outbox.lane, core.routes.at(destination).limits);
    };
    EXPECT_EQ(lane_of("stock").batches_in_flight_max, 9U);
    EXPECT_EQ(lane_of("stock").batch_rows, 4U);
    EXPECT_EQ(lane_of("stock").rate, (rate_options{.per_second = 2.5}));
    EXPECT_EQ(lane_of("stock").attempt_timeout, std::chrono::seconds{7});
    EXPECT_EQ(lane_of("billing").batches_in_flight_max, 3U);
    EXPECT_EQ(lane_of("billing").batch_rows, 50U);
    EXPECT_EQ(lane_of("billing").rate, (rate_options{.per_second = 50}));
    EXPECT_EQ(lane_of("billing").attempt_timeout, std::chrono::minutes{5});
    EXPECT_EQ(core.routes.at("billing").timeout, std::chrono::seconds{30});
    EXPECT_EQ(core.routes.at("stock").timeout, std::chrono::seconds{7});
}

TEST(core_settings, plan_backups_only_where_there_is_a_folder_for_them) {
    config settings;
    EXPECT_FALSE(core_settings(settings).backup.has_value());
    settings.folder = "/etc/orders";
    settings.backup.folder = "copies";
    const auto plan = core_settings(settings).backup;
    ASSERT_TRUE(plan.has_value());
    EXPECT_EQ(plan->folder, "/etc/orders/copies");
    EXPECT_EQ(plan->every, settings.backup.every);
    EXPECT_EQ(plan->keep, settings.backup.keep);
}

}  // namespace
}  // namespace posthorn
