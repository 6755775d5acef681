#include "crash/worker_network.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace posthorn::crash {
namespace {

std::vector<delivery> all(std::size_t count, outcome what, std::string why) {
    return {count, delivery{.what = what, .error = std::move(why)}};
}

}  // namespace

task<std::vector<delivery>> worker_network::receive(message_batch batch) {
    const auto count = batch.size();
    around_.points.reach("in_flight");
    if (mode_ == "down" && !around_.gate.is_open())
        co_return all(count, outcome::transient, "connection reset by peer");
    auto answers = co_await around_.to.receive(std::move(batch));
    for (const auto& one : answers)
        say(fmt::format("answer: {}{}", one.payload.empty() ? one.error : one.payload,
                        one.duplicate ? " duplicate" : ""));
    around_.points.reach("received");
    if (mode_ == "slow" && !slow_once_.exchange(true))
        std::ignore = co_await around_.time.sleep_for(std::chrono::hours(1));
    if (mode_ == "forged") {
        say("holding");
        around_.gate.wait_open();
        co_return all(count, outcome::permanent, "forged");
    }
    co_return answers;
}

}  // namespace posthorn::crash
