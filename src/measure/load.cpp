#include "measure/load.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "measure/pace.hpp"

namespace posthorn::measure {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr auto patience_ns = 60 * second_ns;

struct named_mode {
    std::string_view name;
    load_mode mode;
};
constexpr std::array modes{named_mode{"concurrent", load_mode::concurrent},
                           named_mode{"serial", load_mode::serial},
                           named_mode{"rate", load_mode::rate}};

struct span {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::int64_t begun_ns = 0;
};

/// Drives the senders for one span of time.
///
/// Lifetime: `run` once.
class driver {
public:
    driver(const load& what, sender& from, board& shared, std::uint64_t first)
        : what_(what), from_(from), shared_(shared), first_(first), next_(first) {}

    span run(double seconds, const std::function<void(double)>& tell) {
        begun_ns_ = now_ns();
        length_ns_ = static_cast<std::int64_t>(seconds * static_cast<double>(second_ns));
        planned_ = static_cast<std::uint64_t>(what_.rate * seconds);
        if (what_.chained && what_.mode == load_mode::concurrent)
            run_chains(tell);
        else
            run_threads(tell);
        if (failure_) std::rethrow_exception(failure_);
        return {.first = first_, .end = next_, .begun_ns = begun_ns_};
    }

private:
    [[nodiscard]] bool is_over() const {
        return now_ns() - begun_ns_ >= length_ns_ || failed_.load(std::memory_order_relaxed);
    }

    void run_threads(const std::function<void(double)>& tell) {
        const int count = what_.mode == load_mode::serial ? 1 : what_.senders;
        std::atomic<int> running = count;
        std::vector<std::jthread> threads;
        for (int i = 0; i < count; ++i)
            threads.emplace_back([this, &running] {
                try {
                    work();
                } catch (...) {
                    fail();
                }
                --running;
            });
        while (running > 0) watch(tell);
    }

    void work() {
        switch (what_.mode) {
            case load_mode::concurrent: return keep_sending();
            case load_mode::serial: return keep_in_turn();
            case load_mode::rate: return keep_rate();
        }
    }

    // Each sender has a turn, even if the machine lets it begin only when the time is over.
    void keep_sending() {
        do {
            one(next_++, now_ns());
        } while (!is_over());
    }

    void keep_in_turn() {
        do {
            const auto index = next_++;
            one(index, now_ns());
            if (!shared_.wait_effects(index + 1, now_ns() + patience_ns))
                throw std::runtime_error("a message took no effect: " + shared_.text());
        } while (!is_over());
    }

    // The time at which a message is due does not depend on how long the others take, and its
    // latency begins then: a stall counts for every message that would have been sent meanwhile.
    void keep_rate() {
        while (!failed_) {
            auto index = next_.load();
            do {
                if (index - first_ >= planned_) return;
            } while (!next_.compare_exchange_weak(index, index + 1));
            const auto after = static_cast<double>(index - first_) / what_.rate;
            const auto due =
                begun_ns_ + static_cast<std::int64_t>(after * static_cast<double>(second_ns));
            sleep_until(due);
            one(index, due);
        }
    }

    void one(std::uint64_t index, std::int64_t due_ns) {
        shared_.begin(index, due_ns);
        from_.send(index);
        shared_.committed(index);
    }

    void run_chains(const std::function<void(double)>& tell) {
        std::atomic<int> running = what_.senders;
        // Outlives the last call back, which is the one that makes `running` zero.
        std::function<void()> step = [&] {
            if (is_over()) {
                --running;
                return;
            }
            const auto index = next_++;
            shared_.begin(index, now_ns());
            from_.post(index, [this, &step, index] {
                shared_.committed(index);
                step();
            });
        };
        // A sender without threads of its own works on this one.
        std::jthread starter([&] {
            for (int i = 0; i < what_.senders; ++i) {
                try {
                    step();
                } catch (...) {
                    fail();
                    --running;
                }
            }
        });
        while (running > 0) watch(tell);
    }

    void watch(const std::function<void(double)>& tell) {
        const auto now = now_ns();
        try {
            tell(std::min(1.0,
                          static_cast<double>(now - begun_ns_) / static_cast<double>(length_ns_)));
        } catch (...) {
            fail();  // The senders see it, and end.
        }
        const auto left = begun_ns_ + length_ns_ - now;
        sleep_until(now + std::clamp<std::int64_t>(left, 1'000'000, second_ns / 10));
    }

    void fail() {
        const std::scoped_lock guard(lock_);
        if (!failure_) failure_ = std::current_exception();
        failed_ = true;
    }

    const load& what_;
    sender& from_;
    board& shared_;
    std::uint64_t first_;
    std::atomic<std::uint64_t> next_;
    std::int64_t begun_ns_ = 0;
    std::int64_t length_ns_ = 0;
    std::uint64_t planned_ = 0;
    std::atomic<bool> failed_ = false;
    std::mutex lock_;
    std::exception_ptr failure_;
};

void fill_latencies(outcome& into, const board& shared, const span& of) {
    std::vector<std::int64_t> effect;
    std::vector<std::int64_t> commit;
    std::vector<std::int64_t> after;
    std::vector<std::int64_t> both;
    const auto count = std::min<std::uint64_t>(of.end - of.first, board::kept_max);
    for (auto index = of.end - count; index < of.end; ++index) {
        const auto times = shared.of(index);
        effect.push_back(times.effect_ns - times.due_ns);
        commit.push_back(times.committed_ns - times.due_ns);
        both.push_back(std::max(times.effect_ns, times.committed_ns) - times.due_ns);
        // The effect may come before the sender's own thread is back.
        after.push_back(std::max<std::int64_t>(0, times.effect_ns - times.committed_ns));
    }
    into.to_both = percentiles_of(both);
    into.to_effect = percentiles_of(effect);
    into.to_commit = percentiles_of(commit);
    into.commit_to_effect = percentiles_of(after);
}

void drain(board& shared, std::uint64_t count) {
    if (!shared.wait_effects(count, now_ns() + patience_ns))
        throw std::runtime_error(fmt::format("only {} of {} messages took effect: {}",
                                             shared.effects(), count, shared.text()));
}

}  // namespace

std::string_view to_string(load_mode mode) noexcept {
    return modes[static_cast<std::size_t>(mode)].name;
}

std::optional<load_mode> parse_load_mode(std::string_view text) noexcept {
    const auto found = std::ranges::find(modes, text, &named_mode::name);
    if (found == modes.end()) return std::nullopt;
    return found->mode;
}

percentiles percentiles_of(std::vector<std::int64_t>& values) {
    if (values.empty()) return {};
    std::ranges::sort(values);
    const auto at = [&](double part) {
        const auto place = static_cast<std::size_t>(part * static_cast<double>(values.size()));
        return static_cast<double>(values[std::min(place, values.size() - 1)]) / 1000;
    };
    return {.p10_us = at(0.1), .p50_us = at(0.5), .p99_us = at(0.99), .p999_us = at(0.999)};
}

outcome run_load(const load& what, sender& from, board& shared,
                 const std::function<void(double)>& tell) {
    const auto all = what.warm_up_seconds + what.seconds;
    const auto warm_part = what.warm_up_seconds / all;
    // At full speed, so that its files have the size that they have in service: a log that still
    // grows takes longer to sync.
    auto warming = what;
    if (what.mode == load_mode::rate) {
        warming.mode = load_mode::concurrent;
        warming.chained = false;
    }
    const auto warm = driver(warming, from, shared, 0).run(what.warm_up_seconds, [&](double part) {
        if (tell) tell(part * warm_part);
    });
    drain(shared, warm.end);
    from.wait_settled();

    const auto before = from.used();
    const auto run = driver(what, from, shared, warm.end).run(what.seconds, [&](double part) {
        if (tell) tell(warm_part + part * (1 - warm_part));
    });
    drain(shared, run.end);
    const auto effective_ns = shared.last_effect_ns();
    from.wait_settled();
    const auto settled_ns = now_ns();
    const auto after = from.used();
    if (shared.doubled() > 0)
        throw std::runtime_error(fmt::format("{} messages took effect twice", shared.doubled()));

    const auto count = static_cast<double>(std::max<std::uint64_t>(1, run.end - run.first));
    outcome seen{.with = what, .messages = run.end - run.first, .all_messages = run.end};
    seen.per_second =
        count * static_cast<double>(second_ns) / static_cast<double>(effective_ns - run.begun_ns);
    fill_latencies(seen, shared, run);
    seen.cpu_us = static_cast<double>(after.cpu_ns - before.cpu_ns) / 1000 / count;
    if (before.syncs >= 0) seen.syncs = static_cast<double>(after.syncs - before.syncs) / count;
    seen.file_bytes = static_cast<double>(after.file_bytes - before.file_bytes) / count;
    seen.settle_ms = static_cast<double>(settled_ns - effective_ns) / 1e6;
    seen.memory_kib = after.memory_kib;
    return seen;
}

}  // namespace posthorn::measure
