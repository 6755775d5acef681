#include "otlp/span_exporter.hpp"

#include <iterator>
#include <utility>

#include "base/async/cancellation.hpp"
#include "base/async/with_timeout.hpp"
#include "otlp/export_rules.hpp"
#include "otlp/span_encoder.hpp"

namespace posthorn {

span_exporter::span_exporter(const environment& env, tracer& traces, collector& to,
                             otlp_options options)
    : env_(env), traces_(traces), to_(to), options_(std::move(options)) {}

task<> span_exporter::run() {
    while (!co_await is_cancelled()) {
        co_await enough_.wait_for(env_.timer, options_.delay);
        traces_.follow_clock();
        if (co_await is_cancelled()) co_return;
        co_await send_all(patience::some);
    }
}

task<> span_exporter::send_all(patience how) {
    for (;;) {
        if (in_hand_.empty()) {
            auto taken = traces_.ring().take(options_.batch_spans);
            if (taken.empty()) co_return;
            in_hand_.push_back(std::move(taken));
            in_vain_ = 0;
        }
        if (!co_await send_first(how)) co_return;
    }
}

task<bool> span_exporter::send_first(patience how) {
    using enum export_verdict::kind;
    const auto& batch = in_hand_.front();
    const auto answer = co_await to_.post(options_.traces_url,
                                          encode_spans(options_.resource, batch, options_.profile));
    if (co_await is_cancelled()) co_return false;
    auto seen = judge_export(answer);
    if (seen.what == taken) {
        const auto rejected =
            std::min<std::uint64_t>(static_cast<std::uint64_t>(seen.rejected), batch.size());
        to_.counts().spans += batch.size() - rejected;
        to_.counts().spans_rejected += rejected;
        rejected > 0 ? to_.note_failure(seen.why) : to_.note_success();
        in_hand_.pop_front();
        in_vain_ = 0;
        co_return true;
    }
    if (seen.what == halve && batch.size() > 1) {
        halve_first();
        co_return true;
    }
    if (seen.what == again && how == patience::some && ++in_vain_ < export_tries_max) {
        to_.note_failure(seen.why);
        const auto pause = seen.pause.value_or(export_pause(in_vain_ - 1, env_.random.unit()));
        const auto waited = co_await env_.timer.sleep_for(pause);
        co_return waited.has_value();
    }
    lose_first(seen.why);
    co_return true;
}

void span_exporter::lose_first(const std::string& why) {
    to_.note_failure(why);
    to_.counts().spans_lost += in_hand_.front().size();
    in_hand_.pop_front();
    in_vain_ = 0;
}

void span_exporter::halve_first() {
    auto whole = std::move(in_hand_.front());
    in_hand_.pop_front();
    const auto middle = whole.begin() + std::ssize(whole) / 2;
    std::vector<trace_span> second(std::make_move_iterator(middle),
                                   std::make_move_iterator(whole.end()));
    whole.erase(middle, whole.end());
    in_hand_.push_front(std::move(second));
    in_hand_.push_front(std::move(whole));
    in_vain_ = 0;
}

task<result<>> span_exporter::send_last() {
    co_await send_all(patience::none);
    co_return result<>{};
}

task<> span_exporter::flush() {
    static_cast<void>(co_await with_timeout(env_.timer, options_.stop_limit, send_last()));
    for (; !in_hand_.empty(); in_hand_.pop_front())
        to_.counts().spans_lost += in_hand_.front().size();
    for (auto left = traces_.ring().take(options_.batch_spans); !left.empty();
         left = traces_.ring().take(options_.batch_spans))
        to_.counts().spans_lost += left.size();
}

}  // namespace posthorn
