#include "outbox/lane/route_order.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace posthorn {
namespace {

using ::testing::ElementsAre;

class no_way final : public transport {
public:
    task<std::vector<delivery>> deliver(message_batch) override {
        co_return std::vector<delivery>{};
    }
};

/// Knows some destinations, or all, and notes that it was asked.
class a_source final : public route_source {
public:
    a_source(std::string name, std::vector<std::string>& asked, std::size_t window)
        : name_(std::move(name)), asked_(asked), window_(window) {}

    transport* find(std::string_view destination) override {
        asked_.push_back(name_);
        return knows(destination) ? &way : nullptr;
    }
    [[nodiscard]] std::optional<route_limits> limits(std::string_view destination) const override {
        asked_.push_back(name_);
        if (!knows(destination)) return std::nullopt;
        return route_limits{.window = window_};
    }

    no_way way;
    std::vector<std::string> known;
    bool knows_all = false;

private:
    [[nodiscard]] bool knows(std::string_view destination) const {
        return knows_all || std::ranges::find(known, destination) != known.end();
    }

    std::string name_;
    std::vector<std::string>& asked_;
    std::size_t window_;
};

class route_order_test : public ::testing::Test {
protected:
    route_order_test() {
        routes.add(first);
        routes.add(second);
    }

    std::vector<std::string> asked;  // In this order.
    a_source fixed{"fixed", asked, 1};
    a_source first{"first feature", asked, 2};
    a_source second{"second feature", asked, 3};
    a_source otherwise{"default", asked, 4};
    route_order routes{fixed, otherwise};
};

TEST_F(route_order_test, asks_fixed_routes_then_features_as_they_came_then_the_default) {
    EXPECT_EQ(routes.find("billing"), nullptr);
    EXPECT_THAT(asked, ElementsAre("fixed", "first feature", "second feature", "default"));
    asked.clear();
    EXPECT_EQ(routes.limits("billing"), route_limits{});
    EXPECT_THAT(asked, ElementsAre("fixed", "first feature", "second feature", "default"));
}

TEST_F(route_order_test, prefers_what_the_configuration_names) {
    for (auto* each : {&fixed, &first, &second, &otherwise}) each->known = {"billing"};
    EXPECT_EQ(routes.find("billing"), &fixed.way);
    EXPECT_EQ(routes.limits("billing").window, 1U);
    EXPECT_THAT(asked, ElementsAre("fixed", "fixed"));
}

TEST_F(route_order_test, prefers_a_feature_to_the_default_and_the_earlier_one_to_the_later) {
    fixed.known = {"shop"};
    second.known = {"billing", "books"};
    first.known = {"books"};
    otherwise.knows_all = true;
    EXPECT_EQ(routes.find("billing"), &second.way);
    EXPECT_EQ(routes.limits("billing").window, 3U);
    EXPECT_EQ(routes.find("books"), &first.way);
    EXPECT_EQ(routes.limits("books").window, 2U);
}

TEST_F(route_order_test, takes_the_default_for_what_nobody_else_knows) {
    fixed.known = {"shop"};
    first.known = {"books"};
    otherwise.knows_all = true;
    EXPECT_EQ(routes.find("billing"), &otherwise.way);
    EXPECT_EQ(routes.limits("billing").window, 4U);
}

TEST_F(route_order_test, asks_anew_each_time_so_that_a_new_route_takes_hold_at_once) {
    otherwise.knows_all = true;
    EXPECT_EQ(routes.find("billing"), &otherwise.way);
    first.known = {"billing"};
    EXPECT_EQ(routes.find("billing"), &first.way);
    first.known.clear();
    EXPECT_EQ(routes.find("billing"), &otherwise.way);
}

TEST_F(route_order_test, tells_whether_a_feature_leads_there) {
    second.known = {"https://stock.example"};
    fixed.known = {"billing"};
    otherwise.knows_all = true;
    EXPECT_TRUE(routes.has_feature_to("https://stock.example"));
    EXPECT_FALSE(routes.has_feature_to("billing"));
}

}  // namespace
}  // namespace posthorn
