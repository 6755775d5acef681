#include "limit/outbox.hpp"

#include <chrono>

#include <unistd.h>

#include "measure/payload.hpp"

namespace posthorn::bench {
namespace {

using namespace std::chrono_literals;

void tell(std::atomic<int>& who, int what) {
    who.store(what);
    who.notify_one();
}

}  // namespace

std::int64_t wall_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

message_maker::message_maker()
    : ids_(static_cast<std::uint64_t>(wall_ms()) * 0x9e3779b97f4a7c15U ^
           static_cast<std::uint64_t>(::getpid())) {}

stored_message message_maker::make(std::int64_t seq, std::uint64_t index, std::int64_t now_ms) {
    stored_message made{.seq = seq,
                        .created_ms = now_ms,
                        .expires_ms = now_ms + 86'400'000,
                        .payload = measure::make_payload(index)};
    // As a UUIDv7: the time first, so that rows are added at the end of an index.
    const auto stamp = static_cast<std::uint64_t>(now_ms);
    for (std::size_t i = 0; i < 6; ++i)
        made.id[i] = static_cast<std::uint8_t>(stamp >> (40 - 8 * i));
    const auto number = static_cast<std::uint64_t>(made.seq);
    made.id[6] = static_cast<std::uint8_t>(0x70U | (number >> 24U & 0x0fU));
    made.id[7] = static_cast<std::uint8_t>(number >> 16U);
    made.id[8] = static_cast<std::uint8_t>(0x80U | (number >> 8U & 0x3fU));
    made.id[9] = static_cast<std::uint8_t>(number);
    ids_ = ids_ * 6364136223846793005U + 1442695040888963407U;
    for (std::size_t i = 10; i < 16; ++i)
        made.id[i] = static_cast<std::uint8_t>(ids_ >> (8 * (i - 8)));
    return made;
}

outbox::outbox(const std::string& file, taker hand_over)
    : hand_over_(std::move(hand_over)),
      file_(file, outbox_tables),
      begin_(file_.raw(), "BEGIN IMMEDIATE"),
      add_order_(file_.raw(), "INSERT INTO orders(text) VALUES (?)"),
      add_message_(file_.raw(), "INSERT INTO outbox VALUES (?, ?, 'billing', ?, ?, ?, ?, NULL)"),
      mark_sent_(file_.raw(), "UPDATE outbox SET sent_at = ? WHERE seq BETWEEN ? AND ?"),
      commit_(file_.raw(), "COMMIT"),
      server_([this](const std::stop_token& stop) { serve(stop); }) {}

outbox::~outbox() {
    server_.request_stop();
    changed_.notify_all();
}

void outbox::add(std::uint64_t index) {
    std::atomic<int> told = 0;
    std::unique_lock held(lock_);
    queue_.push_back({.index = index, .told = &told});
    if (busy_) {
        held.unlock();
        told.wait(0);
        if (told.load() == 1) return;
        held.lock();
    }
    busy_ = true;
    lead(held, &told);
}

void outbox::add_then(std::uint64_t index, std::function<void()> done) {
    const std::scoped_lock guard(lock_);
    queue_.push_back({.index = index, .done = std::move(done)});
    if (!busy_) changed_.notify_all();
}

void outbox::settle(std::int64_t first_seq, std::int64_t last_seq) {
    const std::scoped_lock guard(lock_);
    const auto was_empty = sent_.empty();
    if (!was_empty && sent_.back().second + 1 == first_seq)
        sent_.back().second = last_seq;
    else
        sent_.emplace_back(first_seq, last_seq);
    if (was_empty) changed_.notify_all();
}

void outbox::wait_settled() {
    std::unique_lock held(lock_);
    changed_.wait(held, [this] { return pending_ == 0 && !busy_; });
}

// Commits until nobody is left, or the first who waits can take the lead. The next commit begins
// before all who were in this one are woken. Returns without the lock.
void outbox::lead(std::unique_lock<std::mutex>& held, const std::atomic<int>* own) {
    std::atomic<int>* next = nullptr;
    while (busy_ && next == nullptr) {
        std::vector<request> group(std::make_move_iterator(queue_.begin()),
                                   std::make_move_iterator(queue_.end()));
        queue_.clear();
        const auto sent = std::exchange(sent_, {});
        held.unlock();
        commit(group, sent);
        for (const auto& one : group)
            if (one.done) one.done();
        held.lock();
        pending_ += static_cast<std::int64_t>(group.size());
        for (const auto& [first, last] : sent) pending_ -= last - first + 1;
        if (queue_.empty()) {
            busy_ = false;
            changed_.notify_all();
        } else {
            next = queue_.front().told;
        }
        const auto goes_on = busy_ && next == nullptr;
        held.unlock();
        if (next != nullptr) tell(*next, 2);
        for (const auto& one : group)
            if (one.told != nullptr && one.told != own) tell(*one.told, 1);
        if (!goes_on) return;
        held.lock();
    }
}

void outbox::commit(const std::vector<request>& group, const ranges& sent) noexcept {
    const auto now = wall_ms();
    std::vector<stored_message> fresh;
    fresh.reserve(group.size());
    begin_.must_run();
    for (const auto& one : group) fresh.push_back(insert(one.index, now));
    for (const auto& [first, last] : sent) {
        mark_sent_.bind(1, now);
        mark_sent_.bind(2, first);
        mark_sent_.bind(3, last);
        mark_sent_.must_run();
    }
    commit_.must_run();
    if (!fresh.empty()) hand_over_(std::move(fresh));
}

stored_message outbox::insert(std::uint64_t index, std::int64_t now_ms) {
    auto made = maker_.make(++last_seq_, index, now_ms);
    add_order_.bind_text(1, made.payload);
    add_message_.bind(1, made.seq);
    add_message_.bind_blob(2, made.id);
    add_message_.bind_text(3, endpoint_name);
    add_message_.bind_text(4, made.payload);
    add_message_.bind(5, made.created_ms);
    add_message_.bind(6, made.expires_ms);
    add_order_.must_run();
    add_message_.must_run();
    return made;
}

// Leads for those who do not wait, and for what nobody's commit has taken along after a moment.
void outbox::serve(const std::stop_token& stop) {
    const auto has_work = [this] { return !busy_ && !queue_.empty(); };
    std::unique_lock held(lock_);
    while (!stop.stop_requested()) {
        changed_.wait(held, stop, [&] { return has_work() || (!busy_ && !sent_.empty()); });
        if (queue_.empty()) changed_.wait_for(held, stop, 20ms, has_work);
        if (busy_ || (queue_.empty() && sent_.empty())) continue;
        busy_ = true;
        lead(held, nullptr);
        held.lock();
    }
}

}  // namespace posthorn::bench
