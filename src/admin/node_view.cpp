#include "admin/node_view.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/async/run_on.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr auto look_every = 1s;

void add(bounded_count& to, const bounded_count& more) {
    to.value += more.value;
    to.at_least |= more.at_least;
}

// A node with two databases sends from both.
void add(outbox_overview& to, outbox_overview more) {
    add(to.pending, more.pending);
    add(to.dead, more.dead);
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

// Empty if the caller is to look; then it must.
std::shared_ptr<const node_view::state> node_view::recent() {
    const std::scoped_lock lock(mutex_);
    if (last_ && (looking_ || parts_.time.steady() - last_->at < look_every)) return last_;
    looking_ = true;
    return nullptr;
}

task<std::shared_ptr<const node_view::state>> node_view::look() {
    if (auto known = recent()) co_return known;
    auto seen =
        co_await run_on(parts_.readers, [this] { return std::make_shared<const state>(read()); });
    const std::scoped_lock lock(mutex_);
    looking_ = false;
    last_ = seen;
    co_return seen;
}

}  // namespace posthorn
