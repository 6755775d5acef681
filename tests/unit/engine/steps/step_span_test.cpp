#include "engine/steps/step_span.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/async/virtual_time.hpp"
#include "engine/steps/step_writer.hpp"
#include "message/trace.hpp"

namespace posthorn {
namespace {

constexpr std::string_view told = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

class step_span_test : public testing::Test {
protected:
    step_span_test() { traces_.switch_on({}, {}); }

    static pending_step step_of(std::int64_t run, std::int64_t number,
                                std::string_view trace = {}) {
        uuid::bytes_type bytes{};
        bytes[0] = 7;
        pending_step step;
        step.of.name = uuid(bytes);
        step.of.run = run;
        step.of.trace = trace;
        step.number = number;
        return step;
    }

    virtual_time time_;
    seeded_random random_{1};
    tracer traces_{time_, random_};
};

TEST_F(step_span_test, is_the_first_of_its_trace_in_the_first_step_of_the_first_run_alone) {
    const auto first = begin_step_span(step_of(1, 1), traces_);
    EXPECT_EQ(first.own, traces_.first_of(step_of(1, 1).of.name));
    EXPECT_FALSE(first.parent);
    for (const auto& [run, number] : {std::pair(1, 2), std::pair(2, 1), std::pair(2, 2)}) {
        const auto later = begin_step_span(step_of(run, number), traces_);
        EXPECT_EQ(later.own.trace, first.own.trace) << run << " " << number;
        EXPECT_NE(later.own.span, first.own.span) << run << " " << number;
        EXPECT_EQ(later.parent, first.own.span) << run << " " << number;
    }
}

TEST_F(step_span_test, is_a_child_of_what_started_the_workflow) {
    const auto parent = parse_traceparent(told);
    ASSERT_TRUE(parent);
    for (const auto run : {1, 2}) {
        const auto made = begin_step_span(step_of(run, 1, told), traces_);
        EXPECT_EQ(made.own.trace, parent->trace);
        EXPECT_EQ(made.parent, parent->span);
    }
    EXPECT_EQ(begin_step_span(step_of(1, 1, "no trace"), traces_).own,
              begin_step_span(step_of(1, 1), traces_).own);
}

TEST_F(step_span_test, tells_which_step_of_which_run_it_was_and_links_what_it_heard) {
    auto step = step_of(3, 2);
    step.span = begin_step_span(step, traces_);
    step.cause.trace = told;
    end_step_span(step, traces_);
    const auto spans = traces_.ring().take(10);
    ASSERT_EQ(spans.size(), 1U);
    const auto says = [&](span_key key, std::int64_t value) {
        const auto& all = spans[0].attributes;
        return std::ranges::find(all, trace_span::attribute{key, value}) != all.end();
    };
    EXPECT_TRUE(says(span_key::run, 3));
    EXPECT_TRUE(says(span_key::step, 2));
    ASSERT_EQ(spans[0].links.size(), 1U);
    EXPECT_EQ(spans[0].links[0].span, parse_traceparent(told)->span);
}

TEST_F(step_span_test, goes_into_the_headers_of_what_a_step_sends_and_to_what_it_begins) {
    auto step = step_of(1, 1);
    EXPECT_EQ(headers_from(step), "");
    EXPECT_EQ(headers_from(step, R"({"a":1})"), R"({"a":1})");
    EXPECT_FALSE(trace_from(step));
    step.of.trace = told;
    EXPECT_EQ(trace_from(step), told) << "it goes on as it came where nothing is traced";
    step.span = begin_step_span(step, traces_);
    EXPECT_EQ(span_of(headers_from(step)), step.span->own);
    EXPECT_EQ(span_of(headers_from(step, R"({"a":1})")), step.span->own);
    EXPECT_TRUE(headers_from(step, R"({"a":1})").ends_with(R"("a":1})"));
    EXPECT_EQ(trace_from(step), to_traceparent(step.span->own));
}

}  // namespace
}  // namespace posthorn
