#include "transport/amqp/amqp_consumer.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text/utf8.hpp"

namespace posthorn {

amqp_consumer::amqp_consumer(amqp_link::deps with, options of)
    : with_(std::move(with)), options_(std::move(of)) {}

void amqp_consumer::start(std::function<void()> arrived) {
    arrived_ = std::move(arrived);
    amqp_work& ours = *this;
    link_ = std::make_unique<amqp_link>(with_, ours);
}

std::vector<received_message> amqp_consumer::take() {
    const std::lock_guard held(mutex_);
    return std::exchange(came_, {});
}

void amqp_consumer::end(std::uint64_t tag, bool is_done) {
    {
        const std::lock_guard held(mutex_);
        const auto found = held_.find(tag);
        if (found == held_.end()) return;  // Of a connection that is gone: it comes again.
        ended_.push_back({found->second.number, is_done});
        bytes_ -= found->second.bytes;
        held_.erase(found);
    }
    link_->wake();
}

bool amqp_consumer::holds(std::uint64_t tag) const {
    const std::lock_guard held(mutex_);
    return held_.contains(tag);
}

consumer_state amqp_consumer::state() const {
    const std::lock_guard held(mutex_);
    return state_;
}

result<> amqp_consumer::begin(amqp_connection& on) {
    constexpr std::size_t prefetch_max = std::numeric_limits<std::uint16_t>::max();
    POSTHORN_TRY(on.consume(
        options_.queue, static_cast<std::uint16_t>(std::min(options_.messages_max, prefetch_max))));
    {
        const std::lock_guard held(mutex_);
        state_.connected = true;
        state_.trouble.clear();
        ++state_.connections;
    }
    arrived_();
    return {};
}

result<> amqp_consumer::attend(amqp_connection& on) {
    std::vector<ending> ended;
    {
        const std::lock_guard held(mutex_);
        ended.swap(ended_);
    }
    for (const auto& each : ended)
        POSTHORN_TRY(each.is_done ? on.acknowledge(each.number) : on.put_back(each.number));
    return {};
}

bool amqp_consumer::may_read() {
    const std::lock_guard held(mutex_);
    return bytes_ < options_.bytes_max;
}

void amqp_consumer::happened(const amqp_event& what) {
    const auto* const delivered = std::get_if<amqp_delivered>(&what);
    if (delivered == nullptr) return;
    if (delivered->dropped_bytes > 0) {
        // Put aside it would be without its body, and put back it would come again at once.
        {
            const std::lock_guard held(mutex_);
            state_.trouble = fmt::format(
                "the message '{}' of {} bytes stays in the queue: more than {} are not held; raise "
                "window_kib, or take it out",
                clean_utf8(delivered->what.id, 255), delivered->dropped_bytes,
                with_.at.body_bytes_max);
        }
        return arrived_();
    }
    {
        const std::lock_guard held(mutex_);
        const auto tag = ++last_tag_;
        const auto bytes = bytes_of(delivered->what);
        held_.emplace(tag, holding{delivered->number, bytes});
        bytes_ += bytes;
        came_.push_back({.what = delivered->what, .tag = tag, .deliveries = delivered->deliveries});
    }
    arrived_();
}

void amqp_consumer::lost(const error& why) {
    {
        const std::lock_guard held(mutex_);
        state_.connected = false;
        state_.trouble = why.what();
        held_.clear();
        ended_.clear();
        came_.clear();
        bytes_ = 0;
    }
    arrived_();
}

}  // namespace posthorn
