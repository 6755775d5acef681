// Store-and-forward of one node under load: what `bench/forward` runs.
//
//   bench_forward --mode MODE [--count N] [--at-once N] [--rate N] [--folder DIR]
//
//   send     so many threads that send to the node itself, with the handler that `forward` has too
//   forward  the same work, forwarded to a target that takes it at once
//   calls    the same, by threads that wait for the first attempt
//   start    how long a node takes to start, and what it has in memory, with so many held and without
//   live     how long forwarded work takes to its target: alone, with so much held or parked beside
//            it, and while the backlog is replayed at its rate, which is counted in every 10 s
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <posthorn/node.hpp>

#include "common/scratch.hpp"
#include "limit/database.hpp"
#include "measure/pace.hpp"

namespace posthorn::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view payload_text =
    R"({"order":17,"text":"0123456789012345678901234567890123456789012345678901234567890123456789"})";

struct settings {
    std::string mode = "forward";
    std::int64_t count = 20'000;
    int at_once = 64;
    double rate = 500;
    std::string folder{};
};

settings read_settings(std::span<char*> words) {
    settings read;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view name = words[i];
        if (name == "--json") continue;  // There is nothing else.
        if (++i == words.size()) throw std::invalid_argument(fmt::format("{} has a value", name));
        const char* const value = words[i];
        if (name == "--mode")
            read.mode = value;
        else if (name == "--count")
            read.count = std::atoll(value);
        else if (name == "--at-once")
            read.at_once = std::atoi(value);
        else if (name == "--rate")
            read.rate = std::atof(value);
        else if (name == "--folder")
            read.folder = value;
        else
            throw std::invalid_argument(fmt::format("there is no {}", name));
    }
    if (read.count <= 0 || read.at_once <= 0 || read.rate <= 0)
        throw std::invalid_argument("--count, --at-once and --rate are above zero");
    return read;
}

void rest(std::chrono::nanoseconds span) { measure::sleep_until(measure::now_ns() + span.count()); }

/// What the process has to itself, in bytes.
std::int64_t memory_bytes() {
    std::ifstream from("/proc/self/statm");
    std::int64_t whole = 0, resident = 0, shared = 0;
    from >> whole >> resident >> shared;
    return (resident - shared) * ::sysconf(_SC_PAGESIZE);
}

struct percentiles {
    double p50_ms = 0;
    double p99_ms = 0;
};

percentiles of(std::vector<std::int64_t> took) {
    std::ranges::sort(took);
    const auto at = [&](double share) {
        return static_cast<double>(
                   took[static_cast<std::size_t>(share * static_cast<double>(took.size() - 1))]) /
               1e6;
    };
    return {at(0.5), at(0.99)};
}

/// A site with a target of its own, which is out when it is told to be.
class site {
public:
    explicit site(const settings& with) : with_(with), place_(with.folder) {}

    void open() {
        node_.reset();
        std::ofstream(file("toml")) << fmt::format(
            "[service]\nid = \"site\"\n[store]\nurl = \"sqlite:{}\"\n[log]\nlevel = \"error\"\n"
            "[listen]\nhttp = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n"
            "[forward]\nreplay_rate = {:.1f}\nreplay_ramp = \"0s\"\nreplay_settle_time = \"1s\"\n",
            file("db"), with_.rate);
        auto from = load(file("toml"));
        from.options.default_route = "inprocess:";
        node_.emplace(std::move(from));
        node_->forward_handler("ExternalSystem",
                               [this](const forward_message& work) { return deliver(work); },
                               {.retry_interval = 1s});
        node_->handle_external("Deliver", [this](const message&) { ++done; });
    }
    void start() { node_->start(); }
    void close() { node_.reset(); }
    node* operator->() { return &*node_; }
    [[nodiscard]] std::string file(std::string_view end) const {
        return (place_.path() / fmt::format("site.{}", end)).string();
    }
    [[nodiscard]] std::int64_t number(const std::string& sql) {
        database rows(file("db"), "");
        return statement(rows.raw(), sql.c_str()).get();
    }
    void run(const std::string& sql) {
        node_->transact([&](transaction& tx) { tx.execute(sql); });
    }

    /// So many that wait, each of a size that is usual.
    void hold(std::int64_t count) {
        constexpr std::int64_t at_a_time = 5'000;
        for (std::int64_t held = 0; held < count; held += at_a_time)
            node_->transact([&](transaction& tx) {
                for (std::int64_t i = 0; i < std::min(at_a_time, count - held); ++i)
                    tx.forward("ExternalSystem", "plant", payload_text, {.attempt_now = false});
            });
    }
    /// How long so many take from the call to their target, at an even rate.
    percentiles live(std::int64_t count, double a_second) {
        {
            const std::scoped_lock lock(mutex_);
            arrived_.clear();
        }
        std::map<uuid, std::int64_t> began;
        auto due = measure::now_ns();
        for (std::int64_t i = 0; i < count; ++i) {
            due += static_cast<std::int64_t>(1e9 / a_second);
            measure::sleep_until(due);
            const auto at = measure::now_ns();
            const auto id = node_->transact([&](transaction& tx) {
                return tx.forward("ExternalSystem", "plant", payload_text);
            });
            began.emplace(id, at);
        }
        std::vector<std::int64_t> took;
        while (took.size() < began.size()) {
            rest(5ms);
            const std::scoped_lock lock(mutex_);
            took.clear();
            for (const auto& [id, at] : began)
                if (const auto there = arrived_.find(id); there != arrived_.end())
                    took.push_back(there->second - at);
        }
        return of(std::move(took));
    }

    std::atomic<std::int64_t> done = 0;
    std::atomic<bool> is_out = false;
    std::atomic<bool> remembers = false;

private:
    bool deliver(const forward_message& work) {
        if (is_out) throw unreachable("the line is cut");
        if (remembers) {
            const std::scoped_lock lock(mutex_);
            arrived_.emplace(work.id, measure::now_ns());
        }
        ++done;
        return true;
    }

    settings with_;
    scratch place_;
    std::mutex mutex_;
    std::map<uuid, std::int64_t> arrived_;
    std::optional<node> node_;
};

void run_load(const settings& with) {
    site one(with);
    one.open();
    one.start();
    std::atomic<std::int64_t> left = with.count;
    const auto began = measure::now_ns();
    std::vector<std::jthread> threads;
    for (int i = 0; i < with.at_once; ++i)
        threads.emplace_back([&] {
            while (--left >= 0) {
                if (with.mode == "calls")
                    one->forward("ExternalSystem", "plant", payload_text);
                else
                    one->transact([&](transaction& tx) {
                        if (with.mode == "send")
                            tx.send("site", "Deliver", payload_text);
                        else
                            tx.forward("ExternalSystem", "plant", payload_text);
                    });
            }
        });
    threads.clear();
    while (one.done < with.count) rest(1ms);
    const auto seconds = static_cast<double>(measure::now_ns() - began) / 1e9;
    fmt::print(R"({{"mode":"{}","count":{},"per_second":{:.1f}}})"
               "\n",
               with.mode, with.count, static_cast<double>(with.count) / seconds);
}

void run_start(const settings& with) {
    site one(with);
    one.is_out = true;
    const auto measure_start = [&] {
        const auto before = memory_bytes();
        const auto began = measure::now_ns();
        one.open();
        one.start();
        const auto ms = static_cast<double>(measure::now_ns() - began) / 1e6;
        rest(3s);  // What it reads after that counts as well.
        return std::pair(ms, memory_bytes() - before);
    };
    const auto bare = measure_start();
    one.close();
    one.open();
    one.hold(with.count);
    one.close();
    const auto full = measure_start();
    fmt::print(R"({{"held":{},"start_ms":{:.1f},"empty_start_ms":{:.1f},"more_bytes":{}}})"
               "\n",
               one.number("SELECT count(*) FROM forward_messages"), full.first, bare.first,
               full.second - bare.second);
}

void print_live(std::string_view when, const percentiles& seen) {
    fmt::print(R"({{"live":"{}","p50_ms":{:.3f},"p99_ms":{:.3f}}})"
               "\n",
               when, seen.p50_ms, seen.p99_ms);
    std::fflush(stdout);
}

void run_live(const settings& with) {
    constexpr std::int64_t samples = 1'000;
    constexpr double a_second = 100;
    site one(with);
    one.open();
    one.start();
    one.remembers = true;
    one.live(200, a_second);
    print_live("alone", one.live(samples, a_second));
    // Parked, and held for another target, which is out.
    one.is_out = true;
    one.hold(with.count);
    one.run("UPDATE outbox_messages SET status = 'Dead' WHERE status = 'Pending'");
    one.is_out = false;
    print_live("beside what is parked", one.live(samples, a_second));
    one.run("DELETE FROM sf_messages WHERE status = 2");
    one.is_out = true;
    one.hold(with.count);
    rest(5s);
    one.done = 0;
    one.is_out = false;
    while (one.done < 50) rest(10ms);  // It has answered, has settled, and is replayed.
    rest(5s);
    std::vector<double> windows;
    std::jthread counting([&](const std::stop_token& over) {
        while (!over.stop_requested()) {
            const auto before = one.done.load();
            rest(10s);
            windows.push_back(static_cast<double>(one.done - before) / 10);
        }
    });
    print_live("while a backlog is replayed", one.live(samples * 3, a_second));
    counting.request_stop();
    counting.join();
    for (const auto each : windows)
        fmt::print(R"({{"per_second":{:.1f},"rate":{:.1f},"live_rate":{:.1f}}})"
                   "\n",
                   each, with.rate, a_second);
}

}  // namespace
}  // namespace posthorn::bench

int main(int count, char** words) {
    using namespace posthorn::bench;
    try {
        const auto with = read_settings({words + 1, static_cast<std::size_t>(count - 1)});
        if (with.mode == "start")
            run_start(with);
        else if (with.mode == "live")
            run_live(with);
        else
            run_load(with);
        return 0;
    } catch (const std::exception& why) {
        std::fputs(why.what(), stderr);
        std::fputs("\n", stderr);
        return 1;
    }
}
