#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "base/random.hpp"
#include "base/uuid_generator.hpp"
#include "conformance/transport/ledger.hpp"
#include "conformance/transport/road.hpp"
#include "support/eventually.hpp"

namespace posthorn::conformance {

using deliveries = std::vector<delivery>;

/// What every test of a transport needs: a receiver, a road to it, and short ways to use both.
///
/// The tests see nothing but the interfaces; the parameter says what stands behind them.
class transport_fixture : public ::testing::TestWithParam<road_factory> {
protected:
    transport_fixture() : road_(GetParam().make({threads_, time_, receiver_})) {
        wire_ = road_->connect({});
    }
    ~transport_fixture() override {
        receiver_.release();
        wire_.reset();
        road_.reset();
        threads_.stop();
    }

    /// A message that takes effect, unless the endpoint says otherwise.
    message make(std::string endpoint = "Take", std::string payload = R"({"n":1})");
    std::vector<message> make_many(std::size_t count);

    std::future<deliveries> begin(transport& over, const std::vector<message>& messages);
    deliveries deliver(const std::vector<message>& messages) {
        return begin(*wire_, messages).get();
    }
    delivery deliver(const message& one) { return deliver(std::vector{one}).at(0); }

    /// So that faults hit a kept connection, as they mostly do, and not the making of one.
    void warm_up() { ASSERT_EQ(deliver(make()).what, outcome::delivered); }
    /// Expects that the road is as good as new.
    void expect_works();
    /// Expects that each message took effect once and was said to have before.
    void expect_duplicates(const std::vector<message>& messages);
    int effects_of(const message& one);
    [[nodiscard]] bool are_waiting(std::size_t count) {
        return test::eventually([&] { return receiver_.waiting() == count; });
    }

    io_threads threads_{"test-io"};
    real_timer time_;
    ledger receiver_;
    std::unique_ptr<road> road_;
    std::unique_ptr<transport> wire_;

private:
    seeded_random random_{7};
    uuid_generator ids_{[] { return wall_time{std::chrono::milliseconds{1'900'000'000'000}}; },
                        random_};
};

/// The claims that hold for every transport.
class transport_suite : public transport_fixture {};

MATCHER_P(all_are, wanted, "") {
    for (const delivery& each : arg)
        if (each.what != wanted) {
            *result_listener << "one is " << static_cast<int>(each.what) << ": " << each.error;
            return false;
        }
    return true;
}

}  // namespace posthorn::conformance
