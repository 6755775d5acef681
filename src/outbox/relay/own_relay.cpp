#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <posthorn/error.hpp>
#include <posthorn/own_stores.hpp>

#include "base/async/executor.hpp"
#include "base/random.hpp"
#include "base/time/clock.hpp"
#include "outbox/rules/retry_policy.hpp"

namespace posthorn {
namespace {

retry_policy policy_of(const retry_options& options) {
    return std::visit([](const auto& how) { return retry_policy(retry_policy::kind(how)); },
                      options.backoff);
}

wall_time machine_time() { return real_clock{}.wall(); }

/// What the exception under way says.
std::string current_error() {
    try {
        throw;
    } catch (const std::exception& why) {
        return why.what();
    } catch (...) {
        return "an exception of another kind than std::exception";
    }
}

}  // namespace

class own_relay::state {
public:
    state(parts with, relay_options options)
        : with_(std::move(with)), options_(std::move(options)), policy_(policy_of(options_.retry)) {
        if (!with_.publish)
            throw error(error_code::invalid_argument, "a relay needs a publisher; give it one");
        if (options_.batch_size == 0 || options_.parallel == 0)
            throw error(error_code::invalid_argument,
                        "batch_size and parallel of a relay are at least 1");
        if (!options_.wall_clock) options_.wall_clock = machine_time;
    }
    ~state() { stop(); }

    std::size_t look() {
        const std::scoped_lock alone(looking_);
        std::vector<own_message> due;
        try {
            const std::scoped_lock lock(stores_);
            due = with_.outbox.pending(options_.batch_size, options_.wall_clock());
        } catch (...) {
            tell("the outbox cannot be read, will try again: {}", current_error());
            return 0;
        }
        std::atomic<std::size_t> next = 0;
        const auto work = [&] {
            for (auto i = next++; i < due.size(); i = next++) attempt(due[i]);
        };
        {
            const auto others = std::min(options_.parallel, due.size()) - std::size_t{!due.empty()};
            std::optional<worker_threads> threads;  // Ends when all of it is done.
            if (others > 0) threads.emplace("relay", others);
            for (std::size_t k = 0; k < others; ++k) threads->post(work);
            work();
        }
        return due.size();
    }

    void start() {
        const std::scoped_lock lock(running_);
        if (thread_) return;
        ring([this] { stopping_ = false; });
        thread_.emplace("relay");
        thread_->post([this] { run(); });
    }
    void stop() {
        const std::scoped_lock lock(running_);
        ring([this] { stopping_ = true; });
        thread_.reset();  // Waits for it.
    }
    void wake() {
        ring([this] { wanted_ = true; });
    }

private:
    void run() {
        while (!is_stopping()) {
            if (look() == options_.batch_size) continue;  // There may be more.
            std::unique_lock waiting(bell_);
            rung_.wait_for(waiting, options_.polling_interval,
                           [this] { return stopping_ || wanted_; });
            wanted_ = false;
        }
    }
    bool is_stopping() {
        const std::scoped_lock lock(bell_);
        return stopping_;
    }
    template <class Change>
    void ring(Change change) {
        {
            const std::scoped_lock lock(bell_);
            change();
        }
        rung_.notify_one();
    }
    void attempt(const own_message& one) {
        std::optional<std::string> failed;
        try {
            with_.publish(one);
        } catch (...) {
            failed = current_error();
        }
        try {
            const std::scoped_lock lock(stores_);
            if (failed)
                fail(one, *failed);
            else
                with_.outbox.mark_published(one.id, options_.wall_clock());
        } catch (...) {
            tell("what became of {} cannot be recorded, it is published again: {}",
                 one.id.to_string(), current_error());
        }
    }
    void fail(const own_message& one, const std::string& why) {
        // The number is the store's, which may say anything.
        const auto before = std::clamp(one.retry_count, 0, std::numeric_limits<int>::max() - 1);
        const auto attempts = before + 1;
        const auto now = options_.wall_clock();
        std::optional<std::chrono::milliseconds> pause;
        if (options_.retry.retries_max < 0 || attempts <= options_.retry.retries_max)
            pause = policy_.delay(attempts, why, random_.unit());
        if (pause) {
            with_.outbox.mark_failed(one.id, why, now + *pause);
            return;
        }
        // First this: if the other fails, the message is tried and given up once more.
        if (with_.dead_letters != nullptr) {
            auto dead = one;
            dead.retry_count = attempts;
            dead.error = why;
            with_.dead_letters->add(dead, now);
        }
        with_.outbox.mark_failed(one.id, why, std::nullopt);
        tell("{} is given up: {}", one.id.to_string(), why);
    }
    template <class... Args>
    void tell(fmt::format_string<Args...> text, Args&&... args) const {
        if (options_.log_sink)
            options_.log_sink("Relay: " + fmt::format(text, std::forward<Args>(args)...));
    }

    parts with_;
    relay_options options_;
    retry_policy policy_;
    std::mutex looking_;
    std::mutex stores_;
    system_random random_;
    std::mutex bell_;  // For the two below.
    std::condition_variable rung_;
    bool wanted_ = false;
    bool stopping_ = false;
    std::mutex running_;
    std::optional<worker_threads> thread_;
};

own_relay::own_relay(parts with, relay_options options)
    : state_(std::make_unique<state>(std::move(with), std::move(options))) {}
own_relay::~own_relay() = default;

void own_relay::start() { state_->start(); }
void own_relay::stop() { state_->stop(); }
void own_relay::wake() { state_->wake(); }
std::size_t own_relay::look() { return state_->look(); }

bool process_once(own_inbox& inbox, std::string_view source, const uuid& id,
                  const std::function<void()>& work) {
    if (inbox.exists(source, id)) return false;
    work();
    inbox.mark_processed(source, id, machine_time());
    return true;
}

}  // namespace posthorn
