#include "nodes/ask_all.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/async/task_group.hpp"

namespace posthorn {
namespace {

// What it refers to lives in the frame that awaits it.
task<> take_turns(std::atomic<std::size_t>& next, std::size_t count,
                  const std::function<task<>(std::size_t)>& ask) {
    for (auto number = next++; number < count; number = next++) co_await ask(number);
}

}  // namespace

task<> ask_all(std::size_t count, std::size_t at_once, std::function<task<>(std::size_t)> ask) {
    std::atomic<std::size_t> next = 0;
    std::vector<task<>> turns;
    for (std::size_t i = 0; i < std::min(count, at_once); ++i)
        turns.push_back(take_turns(next, count, ask));
    co_await run_all(std::move(turns));
}

}  // namespace posthorn
