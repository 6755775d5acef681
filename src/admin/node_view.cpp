#include "admin/node_view.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <fmt/format.h>

#include "base/async/cancellation.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr auto look_every = 1s;
// As for writes that wait.
constexpr auto unread_yellow_from = 3s;
constexpr auto unread_red_from = 10s;

std::string describe_unread(std::chrono::nanoseconds waited, wall_time now) {
    const auto since = now - std::chrono::floor<std::chrono::milliseconds>(waited);
    return fmt::format(
        "the store has not answered a question for {} s, since {}: another program may hold a lock "
        "on its tables, or the database is stuck; what else is told here was seen before",
        std::chrono::floor<std::chrono::seconds>(waited).count(), to_iso8601(since));
}

void add(bounded_count& to, const bounded_count& more) {
    to.value += more.value;
    to.at_least |= more.at_least;
}

// A node with two databases sends from both.
void add(outbox_overview& to, outbox_overview more) {
    add(to.pending, more.pending);
    add(to.dead, more.dead);
    add(to.dead_messages, more.dead_messages);
    add(to.expired, more.expired);
    add(to.resolved, more.resolved);
    add(to.undeliverable, more.undeliverable);
    to.oldest_age = std::max(to.oldest_age, more.oldest_age);
    to.more_destinations |= more.more_destinations;
    to.blocked.more |= more.blocked.more;
    std::ranges::move(more.blocked.keys, std::back_inserter(to.blocked.keys));
    if (to.undeliverable_destination.empty()) {
        to.undeliverable_destination = std::move(more.undeliverable_destination);
        to.undeliverable_error = std::move(more.undeliverable_error);
    }
    for (auto& one : more.backlog) {
        const auto same =
            std::ranges::find(to.backlog, one.destination, &destination_backlog::destination);
        if (same == to.backlog.end()) {
            to.backlog.push_back(std::move(one));
            continue;
        }
        add(same->pending, one.pending);
        add(same->undeliverable, one.undeliverable);
        if (same->undeliverable_error.empty())
            same->undeliverable_error = std::move(one.undeliverable_error);
        if (one.oldest) same->oldest = std::min(same->oldest.value_or(*one.oldest), *one.oldest);
    }
}

}  // namespace

node_view::state node_view::read() const {
    state seen{.facts = {}, .at = parts_.time.steady()};
    auto& broken = seen.facts.broken;
    if (parts_.broken) broken = parts_.broken();
    if (parts_.worries) seen.facts.worries = parts_.worries();
    for (auto* const where : parts_.stores) {
        if (where->has_failed())
            broken.emplace_back(
                "the store has stopped, because a commit is in doubt; restart the node");
        auto overview = overview_outbox(*where, parts_.time.wall(), {.count_sent = parts_.of_file});
        if (!overview) {
            seen.store_read = false;
            broken.push_back(fmt::format("the store cannot be read: {}", overview.error().what()));
        } else {
            add(seen.facts.outbox, *std::move(overview));
        }
    }
    if (auto paused = list_pauses(parts_.stores))
        seen.facts.lanes = merge_lanes(lanes(), *std::move(paused));
    std::ranges::sort(broken);
    broken.erase(std::ranges::unique(broken).begin(), broken.end());
    return seen;
}

std::vector<lane_state> node_view::lanes() const {
    std::vector<lane_state> all;
    for (const auto* const of_database : parts_.counters) {
        auto some = of_database->board.list();
        all.insert(all.end(), std::make_move_iterator(some.begin()),
                   std::make_move_iterator(some.end()));
    }
    return all;
}

node_view::~node_view() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return !looking_since_; });
}

node_view::sight node_view::recent() {
    const std::scoped_lock lock(mutex_);
    const auto now = parts_.time.steady();
    if (last_ && now - last_->at < look_every) return {.what = last_};
    if (looking_since_) {
        if (parts_.sleeper != nullptr && now - *looking_since_ >= unread_yellow_from) return {};
        if (last_) return {.what = last_};
    }
    sight told{.turn = waiting_.emplace_back(waiter::make()), .looks = !looking_since_};
    if (told.looks) looking_since_ = now;
    return told;
}

void node_view::begin() {
    parts_.readers.post([this] { finish(std::make_shared<const state>(read())); });
}

void node_view::finish(known seen) {
    const std::scoped_lock lock(mutex_);
    last_ = std::move(seen);
    looking_since_.reset();
    for (const auto& each : std::exchange(waiting_, {})) each->wake();
    ended_.notify_all();
}

// What the node knows without its store is told as it is now.
node_view::known node_view::overdue() {
    auto broken = parts_.broken ? parts_.broken() : std::vector<std::string>{};
    const std::scoped_lock lock(mutex_);
    if (!looking_since_) return last_;  // It has come meanwhile.
    auto told = last_ ? std::make_shared<state>(*last_) : std::make_shared<state>();
    told->facts.broken = std::move(broken);
    const auto waited = parts_.time.steady() - *looking_since_;
    auto why = describe_unread(waited, parts_.time.wall());
    if (waited < unread_red_from) {
        told->facts.worries.push_back({health_level::yellow, std::move(why)});
    } else {
        told->facts.broken.push_back(std::move(why));
        told->store_read = false;
    }
    return told;
}

task<std::shared_ptr<const node_view::state>> node_view::look() {
    using namespace boost::asio::experimental::awaitable_operators;
    const auto told = recent();
    if (told.looks) begin();
    if (told.what) co_return told.what;
    if (told.turn) {
        if (parts_.sleeper == nullptr)
            co_await told.turn->wait_regardless();
        else
            co_await (cancellable(told.turn->wait()) ||
                      cancellable(parts_.sleeper->sleep_for(unread_yellow_from)));
    }
    co_return overdue();
}

}  // namespace posthorn
