#include "sim/network.hpp"

#include <optional>

#include <fmt/format.h>

#include "sim/disk_query.hpp"
#include "sim/machine.hpp"

namespace posthorn::sim {

using namespace std::chrono_literals;

struct network::visit {
    std::shared_ptr<const parcel> what;
    std::optional<answers> given;
    std::shared_ptr<waiter> ended = waiter::make();
};

network::network(world_loop& loop, ledger& book, random_source& dice,
                 std::vector<std::string> services)
    : loop_(loop),
      book_(book),
      dice_(dice),
      services_(std::move(services)),
      late_(loop.executor()) {}

void network::find_with(std::function<process*(const std::string&)> find) {
    find_ = std::move(find);
}

bool network::happens(unsigned chance) { return chance > 0 && dice_.below(1000) < chance; }

std::chrono::nanoseconds network::travel() {
    if (happens(now.delayed))
        return std::chrono::milliseconds(
            dice_.below(static_cast<std::uint64_t>(now.delay_max.count()) + 1));
    return std::chrono::microseconds(100 + dice_.below(2000));
}

task<std::vector<delivery>> network::carry(process& from, std::string to, message_batch batch) {
    const auto count = batch.size();
    if (from.is_dead()) co_return co_await nothing(count);
    auto what = std::make_shared<parcel>(parcel{from.service(), std::move(to), {}});
    for (const auto* one : batch) {
        what->messages.push_back(*one);
        book_.note(one->id, fmt::format("{} sends it to {}", from.name(), what->to));
    }
    if (on_leaving) on_leaving(*what);
    if (from.is_dead()) co_return co_await nothing(count);
    check_sender(from, *what);
    const bool lost = happens(now.lost), ack_lost = happens(now.ack_lost);
    if (happens(now.doubled)) late_.spawn(bring_late(what, travel() + travel()));
    co_await loop_.time().sleep_for(travel());
    if (lost || cut.contains({what->from, what->to})) co_return co_await nothing(count);
    auto given = co_await bring(what);
    if (!given || ack_lost || cut.contains({what->to, what->from}))
        co_return co_await nothing(count);
    co_await loop_.time().sleep_for(travel());
    co_return *std::move(given);
}

// Either side may notice at once, or wait in vain.
task<network::answers> network::nothing(std::size_t count) {
    if (dice_.below(2) == 0) co_await loop_.time().sleep_for(1h);
    co_return answers(count, {.what = outcome::transient, .error = "the connection was lost"});
}

task<> network::bring_late(std::shared_ptr<const parcel> what, std::chrono::nanoseconds delay) {
    if (!co_await loop_.time().sleep_for(delay)) co_return;
    ++seen_.duplicates;
    for (const auto& one : what->messages) book_.note(one.id, "it arrives once more");
    co_await bring(std::move(what));
}

task<std::optional<network::answers>> network::bring(std::shared_ptr<const parcel> what) {
    auto* const at = find_(what->to);
    if (at == nullptr) co_return std::nullopt;
    const auto here = std::make_shared<visit>();
    here->what = std::move(what);
    at->visits().spawn(serve(*at, here));
    co_await here->ended->wait();
    co_return std::move(here->given);
}

task<> network::serve(process& at, std::shared_ptr<visit> here) {
    const auto& what = *here->what;
    ++seen_.deliveries;
    if (on_arriving) on_arriving(what, at);
    if (!at.is_dead()) {
        message_batch batch;
        for (const auto& one : what.messages) batch.push_back(&one);
        auto given = co_await at.hub().deliver(what.to, std::move(batch));
        if (on_answered) on_answered(what, at);
        if (!at.is_dead()) {
            check_receiver(at, what, given);
            here->given = std::move(given);
        }
    }
    here->ended->wake();
}

void network::check_sender(const process& from, const parcel& what) {
    if (look_interval == 0 || dice_.below(look_interval) != 0) return;
    ++seen_.looks;
    const auto survivor = from.disk().clone_durable();
    for (const auto& one : what.messages) {
        bool there = false;
        query_disk(*survivor, database_path,
                   fmt::format("SELECT 1 FROM outbox_messages WHERE message_id = '{}'",
                               one.id.to_string()),
                   [&](const plain_row&) { there = true; });
        if (!there) book_.violate("invariant 2: it left its sender before it was on disk", one.id);
    }
}

void network::check_receiver(const process& at, const parcel& what, const answers& given) {
    bool delivers = false;
    for (std::size_t i = 0; i < given.size(); ++i) {
        book_.answered(what.messages[i], given[i]);
        delivers |= given[i].what == outcome::delivered;
    }
    if (!delivers || look_interval == 0 || dice_.below(look_interval) != 0) return;
    ++seen_.looks;
    const auto survivor = at.disk().clone_durable();
    std::set<std::string> processed;
    query_disk(*survivor, database_path,
               "SELECT message_id FROM inbox_messages WHERE processed_at IS NOT NULL",
               [&](const plain_row& row) { processed.insert(row.text(0)); });
    for (std::size_t i = 0; i < given.size(); ++i)
        if (given[i].what == outcome::delivered &&
            !processed.contains(what.messages[i].id.to_string()))
            book_.violate("invariant 3: its ACK left before its inbox row was on disk",
                          what.messages[i].id);
}

}  // namespace posthorn::sim
