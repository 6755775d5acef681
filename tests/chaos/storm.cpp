#include "chaos/storm.hpp"

#include <algorithm>
#include <utility>

namespace posthorn::chaos {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using then = test::fault_proxy::then;

constexpr std::size_t later_max = 200;               // Requests waiting to be sent again.
constexpr std::size_t seen_bytes_max = 1 << 20;      // Of a request that is not complete.
constexpr std::size_t stream_bytes_max = 32 * 1024;  // Of what is sent again as it came.
constexpr auto answer_patience = 2s;

constexpr double sent_again = 0.12;      // Of all requests,
constexpr double sent_late_only = 0.03;  // and those that go nowhere but later, elsewhere.

}  // namespace

storm::storm(storm_options options, tally& counts, stamps& answers)
    : options_(std::move(options)),
      counts_(counts),
      answers_(answers),
      proxy_(options_.at, {}, this),
      thread_([this] { weather(); }) {}

storm::~storm() { calm(); }

void storm::calm() {
    {
        const std::scoped_lock lock(mutex_);
        calm_ = true;
    }
    changed_.notify_all();
    if (!thread_.joinable()) return;
    thread_.join();
    // Those that are half closed or silent would do harm for as long as somebody uses them.
    proxy_.refuse();
    proxy_.accept_again();
}

storm::connection& storm::known(std::size_t number) {
    const auto found = connections_.find(number);
    if (found != connections_.end()) return found->second;
    auto& made =
        connections_.emplace(number, connection{.chance = dice(options_.seed * 1'000'003 + number)})
            .first->second;
    for (const auto way : {direction::to_server, direction::to_client})
        (way == direction::to_server ? made.up : made.down).until_fault =
            made.chance.in(0.1) ? made.chance.between(0, 400)  // In its beginning.
                                : draw_distance(made.chance, way);
    return made;
}

std::int64_t storm::draw_distance(dice& chance, direction way) const {
    constexpr std::int64_t longer = 5;  // Requests are, than answers.
    const auto about = roughness_.load() / (way == direction::to_client ? longer : 1);
    return chance.spread(about / 10 + 1, about * 4);
}

void storm::gone(std::size_t number) {
    const auto found = connections_.find(number);
    if (found == connections_.end()) return;
    auto& over = found->second;
    if (!options_.size_of && !calm_ && over.chance.in(sent_again))
        send_later(over, std::move(over.up.seen));
    connections_.erase(found);
}

test::fault_proxy::verdict storm::come(std::size_t number, direction way, std::string& bytes) {
    auto& on = known(number);
    auto& one = way == direction::to_server ? on.up : on.down;
    if (way == direction::to_client) answers_.read(one.seen, bytes);
    const bool goes_elsewhere = way == direction::to_server && record(on, bytes);
    if (on.silent) bytes.clear();
    if (calm_ || bytes.empty()) return {.what = on.silent && calm_ ? then::reset : then::go_on};
    if (goes_elsewhere) {
        counts_.add("overtaken");
        bytes.clear();
        return {.what = then::reset};
    }
    const auto size = static_cast<std::int64_t>(bytes.size());
    const auto dropped = std::min(size, std::exchange(one.to_drop, 0));
    bytes.erase(0, static_cast<std::size_t>(dropped));
    if (size <= one.until_fault || bytes.empty()) {
        one.until_fault -= size;
        return {};
    }
    const auto at =
        std::clamp<std::int64_t>(one.until_fault, 0, static_cast<std::int64_t>(bytes.size()) - 1);
    one.until_fault = draw_distance(on.chance, way);
    return way == direction::to_server ? harm_request(on, bytes, static_cast<std::size_t>(at))
                                       : harm_answer(on, bytes, static_cast<std::size_t>(at));
}

bool storm::record(connection& on, std::string_view bytes) {
    auto& seen = on.up.seen;
    if (!options_.size_of) {
        if (seen.size() < stream_bytes_max) seen += bytes;
        return false;
    }
    seen += bytes;
    bool elsewhere = false;
    while (const auto size = options_.size_of(seen)) {
        const bool late = on.chance.in(sent_late_only);
        if (!calm_ && (late || on.chance.in(sent_again))) send_later(on, seen.substr(0, size));
        elsewhere = elsewhere || late;
        seen.erase(0, size);
    }
    if (seen.size() > seen_bytes_max) seen.clear();
    return elsewhere;
}

void storm::send_later(connection& on, std::string bytes) {
    const auto when = clock_.steady() + milliseconds(on.chance.spread(1, 400));
    const std::scoped_lock lock(mutex_);
    if (later_.size() < later_max) later_.emplace(when, std::move(bytes));
    changed_.notify_all();
}

test::fault_proxy::verdict storm::harm_request(connection& on, std::string& bytes, std::size_t at) {
    if (!on.chance.in(0.35)) return harm_either(on, on.up, bytes, at);
    bytes.erase(at);
    if (on.chance.in(0.5)) {
        counts_.add("connections reset");
        return {.what = then::reset};
    }
    counts_.add("requests truncated");
    return {.what = then::end};
}

test::fault_proxy::verdict storm::harm_answer(connection& on, std::string& bytes, std::size_t at) {
    if (!on.chance.in(0.6)) return harm_either(on, on.down, bytes, at);
    if (on.chance.in(0.7)) {
        counts_.add("ACKs lost");
        bytes.clear();
        return {.what = on.chance.in(0.5) ? then::reset : then::end};
    }
    counts_.add("answers truncated");
    bytes.erase(at);
    return {.what = on.chance.in(0.5) ? then::reset : then::end};
}

test::fault_proxy::verdict storm::harm_either(connection& on, stream& one, std::string& bytes,
                                              std::size_t at) {
    auto& chance = on.chance;
    const auto kind = chance.between(0, 99);
    if (kind < 35) {
        counts_.add("delayed");
        return {.hold = milliseconds(chance.spread(1, 60))};
    }
    if (kind < 60) {
        counts_.add("dribbled");
        return {.dribble = static_cast<std::size_t>(chance.between(20, 400))};
    }
    if (kind < 85) {
        counts_.add("bytes corrupted");
        bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1 << chance.between(0, 7)));
        return {};
    }
    if (kind < 91) {
        counts_.add("bytes dropped");
        const auto left = static_cast<std::int64_t>(bytes.size() - at);
        const auto size = chance.spread(1, 3000);
        bytes.erase(at, static_cast<std::size_t>(size));
        one.to_drop = std::max<std::int64_t>(0, size - left);
        return {};
    }
    if (kind < 98) {
        counts_.add("half closed");
        bytes.erase(at);
        return {.what = then::end_this_way};
    }
    counts_.add("gone silent");
    on.silent = true;
    bytes.erase(at);
    return {};
}

void storm::weather() {
    dice chance(options_.seed * 31 + 17);
    std::unique_lock lock(mutex_);
    auto changes_at = clock_.steady();
    while (!calm_) {
        if (clock_.steady() >= changes_at) {
            lock.unlock();
            change(chance);
            lock.lock();
            changes_at = clock_.steady() + milliseconds(chance.between(20, 120));
        }
        send_due(lock, false);
        const auto next = later_.empty() ? changes_at : std::min(changes_at, later_.begin()->first);
        changed_.wait_until(lock, next);
    }
    lock.unlock();
    proxy_.accept_again();
    lock.lock();
    send_due(lock, true);
}

// Now and then nobody is there, until the next change. Senders wait for long after that, so that it
// is not to be often.
void storm::change(dice& chance) {
    proxy_.accept_again();
    roughness_ = chance.spread(2'000, 100'000);
    if (refusals_left_ == 0 || !chance.in(0.04)) return;
    --refusals_left_;
    counts_.add("refusals");
    proxy_.refuse();
}

void storm::send_due(std::unique_lock<std::mutex>& lock, bool all) {
    while (!later_.empty() && (all || later_.begin()->first <= clock_.steady())) {
        const auto bytes = std::move(later_.begin()->second);
        later_.erase(later_.begin());
        lock.unlock();
        std::string tail;
        if (const auto said = proxy_.send(bytes, answer_patience)) {
            counts_.add(options_.size_of ? "duplicated" : "replayed");
            answers_.read(tail, *said);
        }
        lock.lock();
    }
}

}  // namespace posthorn::chaos
