// Workflows with long histories.
#include <stdexcept>

#include <fmt/format.h>

#include "workflow_load/shop.hpp"

namespace load {
namespace {

using posthorn::flow;
using posthorn::the;
using posthorn::workflow;

struct go_on {
    using contract = posthorn::as_signal<"GoOn">;
    std::int64_t number = 0;
};

/// As many steps as it is told, and then a wait.
workflow<std::int64_t> many_steps(flow<>& f, std::int64_t number, std::int64_t steps) {
    std::int64_t sum = 0;
    for (std::int64_t step = 1; step < steps; ++step)
        sum += co_await f.transact([](posthorn::transaction&) { return std::int64_t{1}; });
    co_await f.wait(the<&go_on::number> == number);
    co_return sum;
}
POSTHORN_WORKFLOW(many_steps, "ManySteps", 1)

}  // namespace
}  // namespace load

namespace posthorn::bench {
namespace {

constexpr auto count_waits = "SELECT count(*) FROM workflow_waits";

void add_many_steps(node& on) { on.add(load::many_steps); }

}  // namespace

void run_replay(const workflow_settings& with) {
    shop one(with.folder, &add_many_steps, {.service = "shop", .log_level = "error"});
    one->start();
    const auto instances = static_cast<std::int64_t>(with.at_once);
    const auto steps = static_cast<std::int64_t>(with.count / with.at_once);
    one.start_many(instances, [&](transaction& tx, std::int64_t number) {
        tx.start(load::many_steps, std::to_string(number), number, steps);
    });
    one.await(count_waits, instances);
    one.open();  // Nothing of them is in memory.
    one->start();
    const auto began = measure::now_ns();
    one->transact([&](transaction& tx) {
        for (std::int64_t number = 0; number < instances; ++number) tx.signal(load::go_on{number});
    });
    for (std::int64_t number = 0; number < instances; ++number)
        if (one->wait_for_end(load::many_steps, std::to_string(number), std::chrono::minutes(1))
                .result != std::to_string(steps - 1))
            throw std::runtime_error("a workflow did not come out the same");
    const auto seconds = static_cast<double>(measure::now_ns() - began) / 1e9;
    fmt::print(R"({{"instances":{},"events":{},"events_per_second":{:.0f}}})"
               "\n",
               instances, instances * steps, static_cast<double>(instances * steps) / seconds);
}

void run_long(const workflow_settings& with) {
    shop one(with.folder, &add_many_steps, {.service = "shop", .log_level = "error"});
    one->start();
    const auto steps = static_cast<std::int64_t>(with.count);
    one->transact(
        [&](transaction& tx) { tx.start(load::many_steps, "0", std::int64_t{0}, steps); });
    one.await(count_waits, 1);
    const auto span = [&](std::int64_t from, std::int64_t to) {
        const auto sql = fmt::format(
            "SELECT max(at) - min(at) FROM workflow_history WHERE step BETWEEN {} AND {}", from,
            to);
        return static_cast<double>(one.number(sql.c_str())) * 1000 / static_cast<double>(to - from);
    };
    const auto part = steps / 5;
    fmt::print(R"({{"steps":{},"first_us":{:.2f},"last_us":{:.2f}}})"
               "\n",
               steps, span(part / 10, part), span(steps - part, steps - part / 10));
}

}  // namespace posthorn::bench
