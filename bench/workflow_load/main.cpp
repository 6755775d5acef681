// Workflows of one node under load: what `bench/workflows` runs, by turns with the minimum
// (`limit/workflows.cpp`).
//
//   bench_workflows [--mode MODE] [--count N] [--at-once N] [--beside N] [--folder DIR]
//
//   chains   so many at once of three `transact` steps each; the last step of each starts the next;
//            with --beside so many others that wait for a signal
//   alone    one after the other, from `start` until its end is known
//   waiting  so many that wait for a signal: memory, the next start, and how long a match takes
//   calls    so many at once of three calls to a service in another process
//   replay   so many events in all, of --at-once workflows, repeated from the file
//   long     one workflow of so many steps: what one takes at the beginning, and at the end
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <posthorn/node.hpp>
#include <posthorn/workflow.hpp>

#include "workflow_load/shop.hpp"

namespace load {
namespace {

using posthorn::flow;
using posthorn::the;
using posthorn::workflow;

std::atomic<std::int64_t> to_start = 0;

void note(posthorn::transaction& tx, std::int64_t number, std::int64_t step) {
    tx.execute("INSERT INTO effects VALUES (?, ?)", number, step);
}

workflow<std::int64_t> three_steps(flow<>& f, std::int64_t number);
void start_next(posthorn::transaction& tx);

workflow<std::int64_t> three_steps(flow<>& f, std::int64_t number) {
    std::int64_t sum = 0;
    for (std::int64_t step = 1; step <= 3; ++step)
        sum += co_await f.transact([number, step](posthorn::transaction& tx) {
            note(tx, number, step);
            if (step == 3) start_next(tx);
            return std::int64_t{1};
        });
    co_return sum;
}
POSTHORN_WORKFLOW(three_steps, "ThreeSteps", 1)

/// A unit that is done again may leave a number out, so what ends is counted, not what starts.
void start_next(posthorn::transaction& tx) {
    const auto number = --to_start;
    if (number >= 0) tx.start(three_steps, std::to_string(number), number);
}

struct decided {
    using contract = posthorn::as_signal<"Decided">;
    std::int64_t number = 0;
};

workflow<std::int64_t> waits(flow<>& f, std::int64_t number) {
    const auto heard = co_await f.wait(the<&decided::number> == number);
    co_return heard.number;
}
POSTHORN_WORKFLOW(waits, "Waits", 1)

}  // namespace
}  // namespace load

namespace posthorn::bench {
namespace {

using namespace std::chrono_literals;

void add_all(node& on) {
    on.add(load::three_steps);
    on.add(load::waits);
}

void let_wait(shop& one, std::int64_t count) {
    one.start_many(count, [](transaction& tx, std::int64_t number) {
        tx.start(load::waits, std::to_string(number), number);
    });
    one.await("SELECT count(*) FROM workflow_waits", count);
}

void run_chains(const workflow_settings& with) {
    shop one(with.folder, &add_all);
    one->transact([](transaction& tx) { tx.execute("CREATE TABLE effects (number, step)"); });
    one->start();
    let_wait(one, static_cast<std::int64_t>(with.beside));
    const auto processor_before = with.beside > 0 ? processor_seconds() : 0;
    const auto count = static_cast<std::int64_t>(with.count);
    const auto first = static_cast<std::int64_t>(std::min(with.at_once, with.count));
    load::to_start = count - first;
    const auto began = measure::now_ns();
    one->transact([&](transaction& tx) {
        for (auto number = count - first; number < count; ++number)
            tx.start(load::three_steps, std::to_string(number), number);
    });
    const auto is_over = [&] { return one.number(count_ended) >= count; };
    // Rarely, so that looking does not compete with what is measured.
    while (load::to_start > 0) rest(5ms);
    while (!is_over()) rest(2ms);
    print_chains(with, static_cast<double>(measure::now_ns() - began) / 1e9, processor_before);
    if (one.number("SELECT count(*) FROM effects") != count * 3)
        throw std::runtime_error("an effect is missing, or there twice");
}

void run_alone(const workflow_settings& with) {
    shop one(with.folder, &add_all);
    one->transact([](transaction& tx) { tx.execute("CREATE TABLE effects (number, step)"); });
    one->start();
    std::vector<std::int64_t> took;
    for (std::uint64_t i = 0; i < with.count; ++i) {
        const auto number = static_cast<std::int64_t>(i);
        const auto began = measure::now_ns();
        one->transact(
            [&](transaction& tx) { tx.start(load::three_steps, std::to_string(number), number); });
        if (one->wait_for_end(load::three_steps, std::to_string(number), 30s).result != "3")
            throw std::runtime_error("a workflow did not end as it should");
        took.push_back(measure::now_ns() - began);
    }
    print_alone(std::move(took));
}

void run_waiting(const workflow_settings& with) {
    shop one(with.folder, &add_all);
    one->start();
    const auto count = static_cast<std::int64_t>(with.count);
    const auto before = memory_bytes();
    let_wait(one, count);
    const auto each = static_cast<double>(memory_bytes() - before) / static_cast<double>(count);

    one.open();
    const auto began = measure::now_ns();
    one->start();
    const auto start_ms = static_cast<double>(measure::now_ns() - began) / 1e6;
    std::vector<std::int64_t> took;
    for (std::int64_t i = 0; i < 2000; ++i) {
        const auto number = i * 7919 % count;
        if (i * 7919 / count > 0 && i >= count) break;
        const auto told = measure::now_ns();
        one->transact([&](transaction& tx) { tx.signal(load::decided{number}); });
        if (one->wait_for_end(load::waits, std::to_string(number), 30s).result !=
            std::to_string(number))
            throw std::runtime_error("a signal reached another");
        took.push_back(measure::now_ns() - told);
    }
    fmt::print(R"({{"waiting":{},"bytes_each":{:.0f},"start_ms":{:.1f}}})"
               "\n",
               count, each, start_ms);
    print_alone(std::move(took));
}

void run(const workflow_settings& with) {
    if (with.mode == "chains") return run_chains(with);
    if (with.mode == "alone") return run_alone(with);
    if (with.mode == "waiting") return run_waiting(with);
    if (with.mode == "calls") return run_calls(with);
    if (with.mode == "replay") return run_replay(with);
    if (with.mode == "long") return run_long(with);
    throw std::invalid_argument(fmt::format("there is no mode {}", with.mode));
}

}  // namespace
}  // namespace posthorn::bench

int main(int count, char** words) {
    try {
        posthorn::bench::run(posthorn::bench::read_workflow_settings(
            {words + 1, static_cast<std::size_t>(count - 1)}));
        return 0;
    } catch (const std::exception& why) {
        fmt::print(stderr, "error: {}\n", why.what());
        return 1;
    }
}
