#include "sim/world.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/flows/courses.hpp"

namespace posthorn::sim {

using namespace std::chrono_literals;

core_options brisk_options() {
    core_options made;
    made.retries =
        retry_policy(exponential_backoff{.base = 200ms, .max = 20s, .jitter_max = 100ms});
    made.outbox.lane.attempt_timeout = brisk_attempt_timeout;
    made.outbox.lane.batch_rows = 8;
    made.outbox.judge.undeliverable_delay = 2s;
    made.outbox.drain_time = 2s;
    made.outbox.flush_time = 1s;
    made.outbox.order.interval = 20s;
    // A clock that was set is believed soon, so that messages expire within the time of a world.
    made.outbox.clock.hold = 20s;
    made.sending.max_retries = retry_for_ever;
    // Clocks jump by years here, and rows that were sent are looked at in the end.
    made.retention.sent = made.retention.expired = std::chrono::years{1000};
    made.database.wal_pages_checkpoint = 60;  // So that cuts meet checkpoints too.
    return made;
}

namespace {

std::vector<std::string> names_of(std::size_t count) {
    static constexpr const char* names[] = {"ann", "bob", "cid", "dot", "eve", "fay", "gus"};
    return {names, names + std::min(count, std::size(names))};
}

}  // namespace

world::world(const world_options& options)
    : dice(options.seed),
      net(loop, book, dice, names_of(options.services)),
      around_{loop, book, net, dice},
      work(around_, options.habits),
      downtime([this] { return std::chrono::milliseconds(dice.below(8000)); }) {
    fault_disk::seed_sqlite(static_cast<std::uint32_t>(options.seed));
    for (const auto& name : net.services()) {
        machine::setup with{.service = name,
                            .seed = options.seed * 31 + machines_.size(),
                            .processes = machines_.size() < options.nodes.size()
                                             ? options.nodes[machines_.size()]
                                             : 1U,
                            .level = options.logs_all ? log_level::trace : log_level::warn,
                            .tells_the_dead = dice.below(2) == 0,
                            .options = options.node,
                            .ready = [this, flows = options.has_flows](process& one) {
                                work.equip(one);
                                if (flows) equip_with_flows(one, around_, work.habits);
                            }};
        // From none at all to more than they need.
        if (options.has_flows) with.flow_cache = dice.below(3) * 10'000;
        machines_.push_back(std::make_unique<machine>(around_, std::move(with)));
    }
    for (const auto& one : machines_)
        for (const auto& other : machines_)
            if (one->service() < other->service()) {
                ring_file first;
                value_or_throw(first.rotate(draw_secret(dice), {.now = loop.time().wall()}));
                one->keys().install(other->service(), first);
                other->keys().install(one->service(), first);
            }
    net.find_with([this](const std::string& service) -> process* {
        for (const auto& one : machines_)
            if (one->service() == service) return one->pick(dice, true);
        return nullptr;
    });
    loop.watch([this] { look_for_crashes(); });
}

world::~world() = default;

void world::start() {
    for (const auto& one : machines_) one->boot();
    loop.settle();
}

void world::look_for_crashes() {
    for (const auto& one : machines_) {
        one->reap();
        if (!looks_for_crashes_) continue;
        if (one->has_gone_down()) {
            // What a failed sync left in the page cache is read by the next process as if nothing
            // had happened, unless the machine starts anew as well.
            if (one->disk().powered() && dice.below(2) == 0)
                one->kill_after_failed_sync();
            else
                one->cut_power();
        } else if (!one->bury_dead()) {
            continue;
        }
        boot_later(*one, downtime());
    }
}

void world::boot_later(machine& which, std::chrono::nanoseconds delay) {
    if (std::exchange(which.is_awaited, true)) return;
    outside_.spawn(boot_after(which, delay));
}

task<> world::boot_after(machine& which, std::chrono::nanoseconds delay) {
    co_await loop.time().sleep_for(delay);
    while (!which.boot()) {
        // The power went again, or the disk failed; what a failed sync left in the page cache is
        // not to be believed, so the machine starts anew as well.
        if (!which.is_fragile() &&
            (!which.disk().powered() || which.boot_error()->code() == error_code::io_failed))
            which.cut_power();
        if (which.boot_error()->code() == error_code::store_corrupt && !is_damaged_) {
            is_damaged_ = true;
            book.violate(which.service() + " is damaged: " + which.boot_error()->what());
        }
        if (is_damaged_ || !co_await loop.time().sleep_for(1s)) break;
    }
    which.is_awaited = false;
}

bool world::send(machine& from, errand what) {
    auto* const at = from.pick(dice, false);
    if (at != nullptr) send(*at, std::make_shared<const errand>(std::move(what)));
    return at != nullptr;
}

void world::send(process& at, std::shared_ptr<const errand> what, bool earlier_doubt) {
    auto* const from = std::ranges::find(machines_, at.service(), [](const auto& m) {
                           return m->service();
                       })->get();
    if (!earlier_doubt) ++in_doubt_;
    work.submit(at, what, earlier_doubt, [this, from, what](workload::ending how) {
        if (how == workload::ending::in_doubt)
            outside_.spawn(repeat(*from, what));
        else
            --in_doubt_;
    });
}

task<> world::repeat(machine& from, std::shared_ptr<const errand> what) {
    process* at = nullptr;
    do {
        if (!co_await loop.time().sleep_for(700ms)) co_return;
        at = from.pick(dice, false);
    } while (at == nullptr);
    send(*at, std::move(what), true);
}

bool world::is_drained() {
    return in_doubt_ == 0 && std::ranges::all_of(machines_, [](const auto& one) {
               return one->is_whole() && one->pending() == 0;
           });
}

bool world::drain(std::chrono::nanoseconds limit) {
    const auto end = loop.time().steady() + limit;
    while (loop.time().steady() < end) {
        loop.run_for(1s);
        if (is_drained()) return true;
    }
    return false;
}

tally world::shut_down() {
    looks_for_crashes_ = false;
    net.now = {};
    for (const auto& one : machines_) one->stop();
    outside_.cancel();
    net.cancel();
    const auto ended = [this] {
        for (const auto& one : machines_) one->reap();
        return outside_.size() == 0 && net.is_quiet() &&
               std::ranges::all_of(machines_, [](const auto& one) { return one->is_empty(); });
    };
    if (!loop.run_until(ended, 1h)) {
        book.violate("invariant 7: a node does not stop");
        for (const auto& one : machines_) one->kill();
        loop.run_until(ended, 1h);
    }
    std::map<std::string, remains> left;
    for (const auto& one : machines_) left[one->service()] = {&one->disk(), one->clock().highest()};
    return check_remains(left, book);
}

}  // namespace posthorn::sim
