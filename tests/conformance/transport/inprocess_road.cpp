#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "base/async/bell.hpp"
#include "base/async/task_group.hpp"
#include "base/async/waiter.hpp"
#include "conformance/transport/road.hpp"
#include "transport/inprocess/hub.hpp"

namespace posthorn::conformance {
namespace {

using std::chrono::milliseconds;

using namespace boost::asio::experimental::awaitable_operators;

/// Stands between the hub and the receiver, and breaks off where a wire would.
class faulty_receiver final : public receiver {
public:
    enum class fault : std::uint8_t { none, before, after, too_few_answers };

    explicit faulty_receiver(receiver& to) : to_(to) {}

    task<std::vector<delivery>> receive(message_batch batch) override {
        const fault now = what;
        if (now == fault::before) throw std::runtime_error("broke off before it arrived");
        auto answers = co_await take_in(std::move(batch));
        if (now == fault::after) throw std::runtime_error("broke off after it arrived");
        if ((now == fault::too_few_answers || forges) && !answers.empty()) answers.pop_back();
        co_return answers;
    }

    task<> again() {
        std::vector<message> copies;
        {
            const std::scoped_lock lock(mutex_);
            copies = taken_;
        }
        for (const auto& one : copies) co_await to_.receive({&one});
    }

    /// Ends what is at work, as a node does that has no patience left.
    void cut_off() {
        const std::scoped_lock lock(mutex_);
        for (const auto& one : at_work_) one->wake();
    }

    std::atomic<fault> what = fault::none;
    std::atomic<bool> piecemeal = false;
    std::atomic<bool> forges = false;

private:
    task<std::vector<delivery>> take_in(message_batch batch) {
        const auto end = waiter::make();
        {
            const std::scoped_lock lock(mutex_);
            for (const message* one : batch) taken_.push_back(*one);
            at_work_.push_back(end);
        }
        auto first = co_await (one_by_one(std::move(batch)) || end->wait());
        const std::scoped_lock lock(mutex_);
        std::erase(at_work_, end);
        if (first.index() == 1) throw std::runtime_error("the receiver stopped");
        co_return std::get<0>(std::move(first));
    }

    task<std::vector<delivery>> one_by_one(message_batch batch) {
        co_await boost::asio::this_coro::throw_if_cancelled(false);
        if (!piecemeal) co_return co_await to_.receive(std::move(batch));
        std::vector<delivery> answers;
        for (const message* one : batch)
            for (auto& each : co_await to_.receive({one})) answers.push_back(std::move(each));
        co_return answers;
    }

    receiver& to_;
    std::mutex mutex_;
    std::vector<message> taken_;
    std::vector<std::shared_ptr<waiter>> at_work_;
};

/// A gate before a transport. Inside a process there is no time-out, so the gate has it.
struct gate {
    std::atomic<bool> used = false;
    std::atomic<bool> held = false;
    bell opened{};  // One delivery waits at a time.
};

class gated_transport final : public transport {
public:
    gated_transport(std::unique_ptr<transport> to, std::shared_ptr<gate> at, timer& time,
                    milliseconds patience)
        : to_(std::move(to)), gate_(std::move(at)), time_(time), patience_(patience) {}

    task<std::vector<delivery>> deliver(message_batch batch) override {
        gate_->used = true;
        if (gate_->held && !co_await gate_->opened.wait_for(time_, patience_))
            co_return std::vector<delivery>(
                batch.size(), delivery{.what = outcome::unanswered, .error = "no answer in time"});
        co_return co_await to_->deliver(std::move(batch));
    }

private:
    std::unique_ptr<transport> to_;
    std::shared_ptr<gate> gate_;
    timer& time_;
    milliseconds patience_;
};

class road_in_process final : public road {
public:
    explicit road_in_process(const road_parts& parts) : parts_(parts), faulty_(parts.to) {
        start_peer();
    }
    ~road_in_process() override {
        mend();
        refuse();
    }

    std::unique_ptr<transport> connect(road_settings settings) override {
        // Who is trusted inside a process is who has joined its hub: there is no other secret.
        const std::string to(settings.wrong_secret ? "somebody else" : destination);
        return std::make_unique<gated_transport>(std::make_unique<inprocess_transport>(hub_, to),
                                                 gates_.emplace_back(std::make_shared<gate>()),
                                                 parts_.time, settings.patience);
    }

    void refuse() override { start(parts_.threads.executor(), stop_peer(milliseconds(0))).get(); }
    void break_requests() override { faulty_.what = faulty_receiver::fault::before; }
    void lose_answers() override { faulty_.what = faulty_receiver::fault::after; }
    void truncate_answers() override { faulty_.what = faulty_receiver::fault::too_few_answers; }
    void dribble() override { faulty_.piecemeal = true; }
    void hold() override {
        for (const auto& each : gates_) each->held = each->used.load();
    }
    void mend() override {
        faulty_.what = faulty_receiver::fault::none;
        faulty_.piecemeal = false;
        for (const auto& each : gates_)
            if (each->held.exchange(false)) each->opened.ring();
        start_peer();
    }
    void replay() override { start(parts_.threads.executor(), faulty_.again()).get(); }
    // Nobody stands between two nodes of a process; what is left is a receiver that breaks its
    // contract.
    void forge_answers(forgery how) override { faulty_.forges = how != forgery::none; }

    task<> stop_peer(milliseconds patience) override {
        here_ = false;
        if (patience.count() == 0) faulty_.cut_off();
        co_await hub_.leave(std::string(destination));
    }
    void start_peer() override {
        if (!here_.exchange(true)) (void)hub_.join(std::string(destination), faulty_);
    }

private:
    road_parts parts_;
    inprocess_hub hub_;
    faulty_receiver faulty_;
    std::vector<std::shared_ptr<gate>> gates_;
    std::atomic<bool> here_ = false;
};

}  // namespace

std::unique_ptr<road> inprocess_road(const road_parts& parts) {
    return std::make_unique<road_in_process>(parts);
}

}  // namespace posthorn::conformance
