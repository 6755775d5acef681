#include "app/config/lane_warnings.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

TEST(lane_warnings, are_silent_about_the_defaults) {
    config settings;
    settings.routes["stock"] = {.url = "http://stock:7400"};
    EXPECT_TRUE(find_tight_lanes(settings).empty());
}

TEST(lane_warnings, name_those_that_leave_a_message_less_than_10_ms) {
    config settings;
    settings.outbox.attempt_timeout = 30s;
    settings.routes["just"] = {.url = "http://a", .window = 30, .batch = 100};
    settings.routes["many"] = {.url = "http://a", .window = 31, .batch = 100};
    settings.routes["hasty"] = {.url = "http://a", .timeout = 3s};
    EXPECT_EQ(find_tight_lanes(settings),
              (std::vector<tight_lane>{
                  {.destination = "hasty", .window = 8, .batch = 50, .timeout = 3s},
                  {.destination = "many", .window = 31, .batch = 100, .timeout = 30s}}));
}

TEST(lane_warnings, look_at_the_outbox_itself) {
    config settings;
    settings.outbox.batch_size = 1000;
    const auto found = find_tight_lanes(settings);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().destination, "default");
}

}  // namespace
}  // namespace posthorn
