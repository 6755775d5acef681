#include "sim/people.hpp"

#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace posthorn::sim {
namespace {

using namespace std::chrono_literals;

std::vector<uuid> find(transaction& tx, std::string_view which) {
    std::vector<uuid> found;
    for (const auto& [text] : tx.query<std::string>(
             "SELECT message_id FROM outbox_messages WHERE " + std::string(which)))
        if (const auto id = uuid::parse(text)) found.push_back(*id);
    return found;
}

}  // namespace

task<> people::run() {
    while (co_await world_.loop.time().sleep_for(4s)) {
        auto& where = world_.at(world_.dice.below(world_.size()));
        auto* const at = where.pick(world_.dice, false);
        if (at == nullptr) continue;
        if (!only_close_ && world_.dice.below(2) == 0)
            requeue_one(*at);
        else
            close_keyed(*at);
    }
}

std::vector<uuid> people::find_dead(process& at) {
    const auto dead = std::make_shared<std::vector<uuid>>();
    at.core().submit_then([dead](transaction& tx) { *dead = find(tx, "status = 'Dead'"); },
                          [](const std::exception_ptr&) {});
    return *dead;
}

void people::requeue_one(process& at) {
    const auto dead = find_dead(at);
    if (dead.empty()) return;
    const auto id = dead[world_.dice.below(dead.size())];
    world_.book.touched(id, "requeues");
    std::ignore = at.core().requeue(id);
}

std::size_t people::requeue_all() {
    std::size_t count = 0;
    for (std::size_t i = 0; i < world_.size(); ++i) {
        auto* const at = world_.at(i).pick(world_.dice, false);
        if (at == nullptr) continue;
        for (const auto& id : find_dead(*at)) {
            world_.book.touched(id, "requeues");
            std::ignore = at->core().requeue(id);
            ++count;
        }
    }
    return count;
}

void people::close_keyed(process& at) {
    at.core().submit_then(
        [this](transaction& tx) {
            constexpr std::string_view given_up =
                "status IN ('Dead', 'Expired') AND order_key IS NOT NULL";
            for (const auto& id : find(tx, given_up)) {
                world_.book.touched(id, "closes");
                tx.execute(
                    "UPDATE outbox_messages SET status = 'Resolved', resolution = 'by hand'"
                    " WHERE message_id = ? AND status IN ('Dead', 'Expired')",
                    id.to_string());
            }
        },
        [](const std::exception_ptr&) {});
}

}  // namespace posthorn::sim
