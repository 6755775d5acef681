#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "app/node/node_runtime.hpp"
#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/time/clock.hpp"
#include "chaos/dice.hpp"
#include "chaos/road.hpp"

namespace posthorn::chaos {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// There are no bytes between two nodes of a process, so the harm is done to batches: a transport
/// of the sender's own goes to the other node in its place, or does not.
class road_in_process final : public road {
public:
    explicit road_in_process(const road_parts& parts)
        : parts_(parts), chance_(parts.seed), thread_([this] { send_again(); }) {}
    ~road_in_process() override { calm(); }

    void reach(node_options& /*receiver*/) override {}
    void lay(node_options& sender) override {
        sender.routes[parts_.to] = "chaos:" + parts_.to;
        sender.transports["chaos"] = [this](const outgoing& batch) { return deliver(batch); };
    }
    void open(const node& /*receiver*/) override {}
    void calm() override {
        {
            const std::scoped_lock lock(mutex_);
            calm_ = true;
        }
        changed_.notify_all();
        if (thread_.joinable()) thread_.join();
    }

private:
    using batch_of_copies = std::vector<message>;

    /// What happens to a batch, all of it drawn at once.
    struct fortune {
        milliseconds delay{};
        bool refused = false;   // Not even tried.
        bool lost = false;      // Broke off before it arrived.
        bool late = false;      // The same, and arrives when nobody expects it any more.
        bool again = false;     // Arrives a second time, later.
        bool reversed = false;  // Its messages one by one, the last first.
        bool ack_lost = false;
        bool answers_cut = false;
    };

    fortune draw() {
        const std::scoped_lock lock(mutex_);
        if (calm_) return {};
        if (clock_.steady() >= changes_at_) {
            changes_at_ = clock_.steady() + milliseconds(chance_.between(20, 120));
            roughness_ = chance_.unit() * chance_.unit();
            refuses_ = refusals_left_ > 0 && chance_.in(0.04);
            if (refuses_) {
                --refusals_left_;
                parts_.counts.add("refusals");
            }
        }
        const auto is = [&](double chance, const char* name) {
            const bool yes = chance_.in(chance * roughness_);
            if (yes) parts_.counts.add(name);
            return yes;
        };
        fortune drawn{.refused = refuses_};
        if (refuses_) return drawn;
        if (is(0.3, "delayed")) drawn.delay = milliseconds(chance_.spread(1, 60));
        drawn.late = is(0.1, "overtaken");
        drawn.lost = !drawn.late && is(0.3, "connections reset");
        drawn.again = is(0.3, "duplicated");
        drawn.reversed = is(0.2, "reversed");
        drawn.ack_lost = is(0.3, "ACKs lost");
        drawn.answers_cut = is(0.2, "answers truncated");
        return drawn;
    }

    std::vector<delivery> deliver(const outgoing& batch) {
        const auto drawn = draw();
        if (drawn.refused)
            return {batch.messages.size(),
                    delivery{.what = outcome::unanswered, .error = "it is not there"}};
        if (drawn.delay.count() > 0) pause(drawn.delay);
        if (drawn.late || drawn.again) later(batch.messages);
        if (drawn.late || drawn.lost) throw std::runtime_error("broke off before it arrived");
        const message_batch messages(batch.messages.begin(), batch.messages.end());
        auto answers = drawn.reversed ? one_by_one(messages) : hand_over(messages);
        if (drawn.ack_lost) throw std::runtime_error("broke off after it arrived");
        if (drawn.answers_cut) answers.pop_back();
        return answers;
    }

    std::vector<delivery> one_by_one(const message_batch& messages) {
        std::vector<delivery> answers;
        for (auto each = messages.rbegin(); each != messages.rend(); ++each)
            answers.push_back(hand_over({*each}).at(0));
        std::ranges::reverse(answers);
        return answers;
    }

    std::vector<delivery> hand_over(message_batch batch) {
        auto answers =
            start(threads_.executor(), process_hub().deliver(parts_.to, std::move(batch))).get();
        std::string tail;
        for (const auto& each : answers) {
            parts_.answers.read(tail, each.payload);
            if (each.duplicate && each.payload.empty()) parts_.answers.miss();
        }
        return answers;
    }

    void pause(milliseconds time) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, time, [this] { return calm_; });
    }

    void later(std::span<const message* const> messages) {
        batch_of_copies copies;
        for (const auto* one : messages) copies.push_back(*one);
        const std::scoped_lock lock(mutex_);
        const auto when = clock_.steady() + milliseconds(chance_.spread(1, 400));
        later_.emplace(when, std::move(copies));
        changed_.notify_all();
    }

    void send_again() {
        std::unique_lock lock(mutex_);
        while (!calm_ || !later_.empty()) {
            if (later_.empty()) {
                changed_.wait(lock);
            } else if (!calm_ && later_.begin()->first > clock_.steady()) {
                changed_.wait_until(lock, later_.begin()->first);
            } else {
                const auto copies = std::move(later_.begin()->second);
                later_.erase(later_.begin());
                lock.unlock();
                message_batch batch;
                for (const auto& one : copies) batch.push_back(&one);
                (void)hand_over(std::move(batch));
                lock.lock();
            }
        }
    }

    road_parts parts_;
    real_clock clock_;
    std::mutex mutex_;
    std::condition_variable changed_;
    dice chance_;
    double roughness_ = 0.5;
    bool refuses_ = false;
    int refusals_left_ = 3;
    bool calm_ = false;
    steady_time changes_at_{};
    std::multimap<steady_time, batch_of_copies> later_;
    io_threads threads_{"chaos"};
    std::jthread thread_;
};

}  // namespace

std::unique_ptr<road> inprocess_road(const road_parts& parts) {
    return std::make_unique<road_in_process>(parts);
}

}  // namespace posthorn::chaos
