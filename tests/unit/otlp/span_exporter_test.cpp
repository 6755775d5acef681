#include "otlp/span_exporter.hpp"

#include <condition_variable>
#include <mutex>

#include <gmock/gmock.h>

#include "otlp/gzip.hpp"
#include "otlp/protobuf_writer.hpp"
#include "unit/otlp/proto_fields.hpp"
#include "unit/transport/http/http_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

/// Real time, but that the pauses of a test are over at once.
class quick_timer final : public timer {
public:
    static constexpr std::chrono::milliseconds asked_by_collector{7'000};
    static constexpr std::chrono::milliseconds of_a_request{11'000};
    static constexpr std::chrono::milliseconds of_a_stop{13'000};

    task<result<>> sleep_for(std::chrono::nanoseconds delay) override {
        const bool is_retry = delay >= 500ms && delay <= 4s;
        {
            const std::scoped_lock lock(mutex_);
            slept_.push_back(delay);
        }
        const bool is_over = is_retry || delay == asked_by_collector ||
                             (hurries_ && (delay == of_a_request || delay == of_a_stop));
        return real_.sleep_for(is_over ? 0ns : delay);
    }
    [[nodiscard]] bool has_slept(std::chrono::nanoseconds delay) const {
        const std::scoped_lock lock(mutex_);
        return std::ranges::find(slept_, delay) != slept_.end();
    }
    /// Limits of requests and stops are over at once, too.
    void hurry() { hurries_ = true; }

private:
    real_timer real_;
    mutable std::mutex mutex_;
    std::vector<std::chrono::nanoseconds> slept_;
    std::atomic<bool> hurries_ = false;
};

/// What a collector was sent, and what it answers.
class requests {
public:
    void add(http_request one) {
        const std::scoped_lock lock(mutex_);
        seen_.push_back(std::move(one));
        changed_.notify_all();
    }
    /// Waits until there are so many.
    std::vector<http_request> wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return seen_.size() >= count; });
        return seen_;
    }
    [[nodiscard]] std::size_t count() {
        const std::scoped_lock lock(mutex_);
        return seen_.size();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<http_request> seen_;
};

std::size_t spans_of(const http_request& request) { return test::spans_in(request.body).size(); }

http_response answer_of(std::uint16_t status, http_headers headers = {}, std::string body = {}) {
    return {.status = status, .headers = std::move(headers), .body = std::move(body)};
}

class span_exporter_test : public test::http_fixture {
protected:
    using answer = std::function<http_response(const http_request&)>;

    ~span_exporter_test() override {
        stop();
        finish();
    }

    void serve(answer how) {
        const auto port =
            listen([this, how = std::move(how)](http_request request) -> task<http_response> {
                auto given = how(request);
                seen_.add(std::move(request));
                co_return given;
            });
        open(port);
    }
    void open(std::uint16_t port) {
        options_.traces_url = url(port) + "/v1/traces";
        options_.timeout = quick_timer::of_a_request;
        options_.stop_limit = quick_timer::of_a_stop;
        to_ = collector::make(quick_env_, options_).value();
        traces_.switch_on(options_.tracing, [this] {
            if (exporter_) exporter_->wake();
        });
        exporter_ = std::make_unique<span_exporter>(quick_env_, traces_, *to_, options_);
        run(begin());
    }
    void add(int spans) {
        for (int i = 0; i < spans; ++i) traces_.add({.of = {.trace = {1, 1}, .span = {1}}});
    }
    void stop() {
        if (to_) run(end());
        to_.reset();
    }
    export_counts& counts() { return to_->counts(); }
    /// Until a number has come to that.
    static void wait_until(const std::atomic<std::uint64_t>& number, std::uint64_t wanted) {
        while (number.load() < wanted) std::this_thread::yield();
    }

    quick_timer quick_;
    test::test_environment quick_env_{
        {.log = log_, .timer = &quick_, .network = threads_.executor()}};
    real_clock clock_;
    system_random random_;
    tracer traces_{clock_, random_};
    otlp_options options_{};
    requests seen_;
    std::unique_ptr<collector> to_;
    std::unique_ptr<span_exporter> exporter_;

private:
    task<> begin() {
        running_.spawn(exporter_->run());
        co_return;
    }
    task<> end() {
        running_.cancel();
        co_await running_.join();
        co_await exporter_->flush();
        co_await to_->close();
    }

    task_group running_{threads_.executor()};
};

TEST_F(span_exporter_test, brings_spans_in_batches_with_its_headers) {
    options_.headers.add("api-key", "k");
    options_.tracing.wake_at = options_.batch_spans = 2;
    serve([](const http_request&) { return answer_of(200); });
    add(4);
    const auto seen = seen_.wait_for(2);
    EXPECT_EQ(seen[0].path, "/v1/traces");
    EXPECT_EQ(seen[0].headers.find("content-type"), "application/x-protobuf");
    EXPECT_EQ(seen[0].headers.find("api-key"), "k");
    EXPECT_EQ(spans_of(seen[0]) + spans_of(seen[1]), 4U);
    wait_until(counts().spans, 4);
    EXPECT_EQ(counts().failures, 0U);
    EXPECT_EQ(to_->trouble(), "");
}

TEST_F(span_exporter_test, sends_what_is_left_when_it_ends) {
    serve([](const http_request&) { return answer_of(200); });
    add(3);
    run(exporter_->flush());
    EXPECT_EQ(spans_of(seen_.wait_for(1)[0]), 3U);
    EXPECT_EQ(counts().spans, 3U);
}

TEST_F(span_exporter_test, compresses_where_it_is_asked_to) {
    options_.gzip = true;
    serve([](const http_request&) { return answer_of(200); });
    add(50);
    run(exporter_->flush());
    const auto seen = seen_.wait_for(1);
    EXPECT_EQ(seen[0].headers.find("content-encoding"), "gzip");
    EXPECT_LT(seen[0].body.size(), 50U * 20);
    EXPECT_EQ(seen[0].body.substr(0, 2), "\x1f\x8b");
}

TEST_F(span_exporter_test, halves_a_batch_that_is_too_large) {
    serve([](const http_request& request) { return answer_of(spans_of(request) > 2 ? 413 : 200); });
    add(7);
    exporter_->wake();
    wait_until(counts().spans, 7);
    EXPECT_EQ(counts().spans_lost, 0U);
}

TEST_F(span_exporter_test, loses_a_single_span_that_is_too_large) {
    serve([](const http_request&) { return answer_of(413); });
    add(3);
    exporter_->wake();
    wait_until(counts().spans_lost, 3);
    EXPECT_EQ(counts().spans, 0U);
}

TEST_F(span_exporter_test, tries_again_when_the_collector_says_and_sends_the_same) {
    std::atomic<int> asked = 0;
    serve([&asked](const http_request&) {
        return ++asked == 1 ? answer_of(429, {{"Retry-After", "7"}}) : answer_of(200);
    });
    add(2);
    exporter_->wake();
    const auto seen = seen_.wait_for(2);
    EXPECT_EQ(seen[0].body, seen[1].body);
    wait_until(counts().spans, 2);
    EXPECT_TRUE(quick_.has_slept(quick_timer::asked_by_collector));
    EXPECT_EQ(counts().failures, 1U);
    EXPECT_EQ(to_->trouble(), "") << "it is over";
}

TEST_F(span_exporter_test, counts_what_was_rejected_of_what_was_taken) {
    serve([](const http_request&) {
        std::string body;
        protobuf_writer to(body);
        to.message(1, [&] {
            to.varint(1, 2);
            to.bytes(2, "two are too old");
        });
        return answer_of(200, {}, body);
    });
    add(5);
    exporter_->wake();
    wait_until(counts().spans, 3);
    EXPECT_EQ(counts().spans_rejected, 2U);
    EXPECT_EQ(seen_.count(), 1U) << "they are not sent again";
    EXPECT_EQ(to_->trouble(), "two are too old");
}

TEST_F(span_exporter_test, gives_up_what_is_refused_for_good) {
    serve([](const http_request&) { return answer_of(400); });
    add(2);
    exporter_->wake();
    wait_until(counts().spans_lost, 2);
    EXPECT_EQ(seen_.count(), 1U);
    EXPECT_THAT(to_->trouble(), testing::HasSubstr("400"));
}

TEST_F(span_exporter_test, gives_up_after_a_few_tries_where_nothing_listens) {
    std::uint16_t port = 0;
    {
        const test::raw_listener gone;
        port = gone.port();
    }
    open(port);
    add(2);
    exporter_->wake();
    wait_until(counts().spans_lost, 2);
    EXPECT_EQ(counts().failures, 5U);
}

TEST_F(span_exporter_test, survives_a_collector_that_closes_without_a_word) {
    test::raw_listener closing;
    open(closing.port());
    add(1);
    exporter_->wake();
    for (int i = 0; i < 10; ++i) static_cast<void>(closing.accept());  // Each is sent twice.
    wait_until(counts().spans_lost, 1);
}

TEST_F(span_exporter_test, waits_no_longer_than_it_may_for_one_that_hangs) {
    const test::raw_listener silent;
    quick_.hurry();
    open(silent.port());
    add(1);
    exporter_->wake();
    wait_until(counts().spans_lost, 1);
}

TEST_F(span_exporter_test, drops_and_counts_what_does_not_fit_and_ends_in_time_though_it_hangs) {
    const test::raw_listener silent;
    options_.tracing = {.spans_max = 4, .wake_at = 100};
    open(silent.port());
    add(9);
    EXPECT_EQ(traces_.ring().dropped(), 5U);
    quick_.hurry();
    run(exporter_->flush());
    EXPECT_EQ(counts().spans_lost, 4U);
    EXPECT_EQ(traces_.ring().size(), 0U);
}

}  // namespace
}  // namespace posthorn
