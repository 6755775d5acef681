#include "base/trace/tracer.hpp"

#include <gtest/gtest.h>

#include "base/async/virtual_time.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

class tracer_test : public testing::Test {
protected:
    tracer& on(tracer_options options = {}) {
        traces_.switch_on(options, [this] { ++woken_; });
        return traces_;
    }
    static uuid id_of(std::uint8_t number) {
        uuid::bytes_type bytes{};
        bytes[15] = number;
        return uuid(bytes);
    }

    virtual_time time_;
    seeded_random random_{1};
    tracer traces_{time_, random_};
    int woken_ = 0;
};

TEST_F(tracer_test, is_off_until_it_is_switched_on) {
    EXPECT_EQ(tracing(nullptr), nullptr);
    EXPECT_EQ(tracing(&traces_), nullptr);
    EXPECT_EQ(tracing(&on()), &traces_);
}

TEST_F(tracer_test, begins_spans_in_the_trace_of_their_parent) {
    auto& traces = on();
    const auto root = traces.begin(nullptr);
    EXPECT_TRUE(root.trace && root.span && root.is_sampled());
    const auto child = traces.begin(&root);
    EXPECT_EQ(child.trace, root.trace);
    EXPECT_NE(child.span, root.span);
    EXPECT_NE(traces.begin(nullptr).trace, root.trace);
}

TEST_F(tracer_test, lets_a_trace_that_is_not_recorded_go_on_as_it_came) {
    auto& traces = on();
    constexpr span_context parent{.trace = {1, 2}, .span = {3}, .flags = 0};
    EXPECT_EQ(traces.begin(&parent), parent);
}

TEST_F(tracer_test, gives_an_id_the_same_first_span_each_time) {
    auto& traces = on();
    EXPECT_EQ(traces.first_of(id_of(7)), traces.first_of(id_of(7)));
    EXPECT_NE(traces.first_of(id_of(7)).trace, traces.first_of(id_of(8)).trace);
    EXPECT_TRUE(traces.first_of(uuid()).trace);
}

TEST_F(tracer_test, tells_nanoseconds_that_follow_the_wall_clock_only_when_it_is_asked) {
    auto& traces = on();
    const auto begun = traces.now_ns();
    EXPECT_EQ(begun, std::chrono::nanoseconds(time_.wall().time_since_epoch()).count());
    time_.advance(1500ns);
    EXPECT_EQ(traces.now_ns(), begun + 1500);
    time_.jump_wall(1h);
    EXPECT_EQ(traces.now_ns(), begun + 1500);
    traces.follow_clock();
    EXPECT_NEAR(static_cast<double>(traces.now_ns() - begun),
                static_cast<double>(std::chrono::nanoseconds(1h).count()), 2e6);
}

TEST_F(tracer_test, drops_and_counts_spans_that_do_not_fit) {
    auto& traces = on({.spans_max = 3, .wake_at = 2});
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(traces.has_room());
        traces.add({.begun_ns = i});
    }
    EXPECT_EQ(woken_, 1);
    EXPECT_FALSE(traces.has_room());
    traces.add({});
    EXPECT_EQ(traces.ring().dropped(), 2U);
    const auto first = traces.ring().take(2);
    ASSERT_EQ(first.size(), 2U);
    EXPECT_EQ(first[1].begun_ns, 1);
    EXPECT_TRUE(traces.has_room());
    EXPECT_EQ(traces.ring().take(9).size(), 1U);
    EXPECT_EQ(traces.ring().size(), 0U);
}

TEST_F(tracer_test, remembers_what_was_made_until_its_commit_and_once) {
    auto& awaited = on().awaited();
    awaited.add({.message = id_of(1), .begun_ns = 5});
    EXPECT_FALSE(awaited.take(id_of(2)));
    EXPECT_FALSE(awaited.take(uuid()));
    const auto taken = awaited.take(id_of(1));
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->begun_ns, 5);
    EXPECT_FALSE(awaited.take(id_of(1)));
}

}  // namespace
}  // namespace posthorn
