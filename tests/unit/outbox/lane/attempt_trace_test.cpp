#include "outbox/lane/attempt_trace.hpp"

#include <gtest/gtest.h>

#include "base/async/virtual_time.hpp"
#include "message/trace.hpp"

namespace posthorn {
namespace {

constexpr span_context published{.trace = {1, 2}, .span = {3}, .flags = 1};

class noting_transport final : public transport {
public:
    task<std::vector<delivery>> deliver(message_batch) override {
        co_return std::vector<delivery>{};
    }
    void prepare(const message& next) override { prepared = next; }
    [[nodiscard]] bool traces_itself() const noexcept override { return by_itself; }

    std::optional<message> prepared;
    bool by_itself = false;
};

class attempt_trace_test : public testing::Test {
protected:
    attempt_trace_test() { traces_.switch_on({}, {}); }

    static outbox_row row_with(std::string headers, std::uint8_t number = 1) {
        uuid::bytes_type bytes{};
        bytes[15] = number;
        outbox_row row;
        row.seq = number;
        row.body.id = uuid(bytes);
        row.body.headers = std::move(headers);
        return row;
    }
    static std::string headers_of(const span_context& what) {
        return *put_trace(R"({"a":1})", what, "v=1", 4096);
    }
    std::vector<trace_span> spans() { return traces_.ring().take(100); }

    virtual_time time_;
    seeded_random random_{1};
    tracer traces_{time_, random_};
    std::optional<prepared_span> none_;
};

TEST_F(attempt_trace_test, makes_each_attempt_a_child_of_what_published_its_message) {
    std::vector rows{row_with(headers_of(published)), row_with("", 2)};
    attempt_trace trace(traces_, rows, none_);
    const auto first = span_of(rows[0].body.headers);
    const auto second = span_of(rows[1].body.headers);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->trace, published.trace);
    EXPECT_NE(first->span, published.span);
    EXPECT_EQ(trace_of(rows[0].body.headers).state, "v=1");
    time_.advance(std::chrono::milliseconds(3));
    trace.end({{.what = outcome::delivered}, {.what = outcome::permanent}});
    const auto told = spans();
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0].of, *first);
    EXPECT_EQ(told[0].parent, published.span);
    EXPECT_FALSE(told[0].failed);
    EXPECT_EQ(told[0].ended_ns - told[0].begun_ns, 3'000'000);
    EXPECT_EQ(told[1].of, *second);
    EXPECT_FALSE(told[1].parent);
    EXPECT_TRUE(told[1].failed);
}

TEST_F(attempt_trace_test, leaves_a_trace_alone_that_is_not_recorded) {
    auto unsampled = published;
    unsampled.flags = 0;
    std::vector rows{row_with(headers_of(unsampled)), row_with("[]", 2),
                     row_with("{\"a\":\"" + std::string(5'000, 'x') + "\"}", 3)};
    const auto before = rows;
    attempt_trace trace(traces_, rows, none_);
    for (std::size_t i = 0; i < rows.size(); ++i)
        EXPECT_EQ(rows[i].body.headers, before[i].body.headers);
    trace.end(std::vector<delivery>(3));
    EXPECT_TRUE(spans().empty());
}

TEST_F(attempt_trace_test, sends_what_was_prepared_with_the_span_that_it_was_prepared_with) {
    noting_transport wire;
    std::vector rows{row_with(headers_of(published))};
    auto prepared = prepare_traced(wire, rows[0].body, &traces_);
    ASSERT_TRUE(wire.prepared && prepared);
    attempt_trace trace(traces_, rows, prepared);
    EXPECT_EQ(rows[0].body.headers, wire.prepared->headers);
    EXPECT_FALSE(prepared) << "the next attempt has another one";
    std::vector again{row_with(headers_of(published))};
    attempt_trace other(traces_, again, prepared);
    EXPECT_NE(again[0].body.headers, wire.prepared->headers);
}

TEST_F(attempt_trace_test, prepares_as_it_is_what_is_not_traced) {
    noting_transport wire;
    const auto row = row_with(headers_of(published));
    EXPECT_FALSE(prepare_traced(wire, row.body, nullptr));
    EXPECT_EQ(wire.prepared->headers, row.body.headers);
    wire.by_itself = true;
    EXPECT_FALSE(prepare_traced(wire, row.body, &traces_));
}

TEST_F(attempt_trace_test, ends_the_publishing_that_no_commit_told_of) {
    std::vector rows{row_with(headers_of(published))};
    traces_.awaited().add({.message = rows[0].body.id, .own = published, .parent = {9}});
    const attempt_trace trace(traces_, rows, none_);
    const auto told = spans();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].kind, span_kind::publish);
    EXPECT_EQ(told[0].of, published);
    EXPECT_EQ(told[0].parent, span_id{9});
}

}  // namespace
}  // namespace posthorn
