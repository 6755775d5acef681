#include "sim/machine.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "engine/engine_feature.hpp"
#include "engine/rows/engine_tables.hpp"
#include "sim/disk_query.hpp"
#include "sim/workload.hpp"

namespace posthorn::sim {
namespace {

constexpr migration business[] = {
    {1,
     "CREATE TABLE chain (number INTEGER PRIMARY KEY, tag TEXT NOT NULL, hash INTEGER NOT NULL);"
     // Without a constraint, so that a double effect shows.
     "CREATE TABLE effects (message_id TEXT NOT NULL, source TEXT NOT NULL, sent TEXT NOT NULL,"
     " expires_at INTEGER NOT NULL);"}};

// Clocks jump by years here, and all that ever was is looked at in the end.
feature_settings flow_settings(std::size_t cache_bytes) {
    std::map<std::string, feature_value, std::less<>> said;
    for (const auto& key : engine_feature().keys()) said[std::string(key.name)] = key.fallback();
    for (const auto* const kept :
         {"completed_kept", "cancelled_kept", "failed_kept", "signals_kept"})
        said[kept] = std::chrono::milliseconds{0};  // For ever.
    said["unclaimed_kept"] = std::chrono::milliseconds(std::chrono::years{1000});
    said["cache_bytes"] = static_cast<std::int64_t>(cache_bytes);
    return feature_settings(std::move(said));
}

}  // namespace

machine::machine(const surroundings& around, setup with)
    : around_(around), with_(std::move(with)), disk_(with_.seed), clock_(around.loop.time()) {
    disk_.set_clock([this] { return clock_.wall().time_since_epoch().count(); });
}

core_options machine::options_of(const std::string& name) {
    auto options = with_.options;
    options.database.path = database_path;
    options.database.service = with_.service;
    options.database.shared = with_.processes > 1;
    options.database.above.push_back(table_set{.sqlite = {"sim", business}});
    if (with_.flow_cache) {
        options.database.above.push_back(engine_tables());
        options.features.push_back(
            {.what = &engine_feature(), .settings = flow_settings(*with_.flow_cache)});
    }
    options.sending.source = with_.service;
    options.outbox.lease.owner = name;
    options.default_route = "sim:";
    options.watch_commits = false;
    options.owner_is_gone = [this](const std::string& owner) {
        const auto is_it = [&](const auto& one) { return one->name() == owner && !one->is_dead(); };
        return with_.tells_the_dead && std::ranges::none_of(running_, is_it) &&
               std::ranges::none_of(leaving_, is_it);
    };
    options.fail_stop = [this](const std::string& why) {
        // A failed sync ends a node, and the supervisor, which reads the log, starts it anew. No
        // unit of the simulator hangs.
        if (why.find("in doubt") != std::string::npos) return;
        around_.book.violate(fmt::format("{} fail-stopped: {}", with_.service, why));
    };
    return options;
}

std::vector<process*> machine::running() {
    std::vector<process*> found;
    for (const auto& one : running_) found.push_back(one.get());
    return found;
}

process* machine::pick(random_source& dice, bool paused_too) {
    std::vector<process*> open;
    for (const auto& one : running_)
        if (one->is_open() && (paused_too || !one->is_paused())) open.push_back(one.get());
    return open.empty() ? nullptr : open[open.size() == 1 ? 0 : dice.below(open.size())];
}

bool machine::boot() {
    while (running_.size() < with_.processes) {
        const auto name = fmt::format("{}#{}", with_.service, ++runs_);
        auto made = std::make_unique<process>(
            around_,
            host{with_.service, disk_, clock_, keys_.rings(), with_.processes > 1, with_.level},
            name, with_.seed * 1000 + runs_);
        if (auto opened = made->open(options_of(name), with_.ready); !opened) {
            around_.book.note(name + " cannot start: " + opened.error().what());
            boot_error_ = opened.error();
            return false;
        }
        fragile_ = false;
        running_.push_back(std::move(made));
        running_.back()->start();
    }
    return true;
}

void machine::bury_all() {
    failed_as_it_left_ = false;
    for (auto& one : running_) {
        one->kill();
        leaving_.push_back(std::move(one));
    }
    running_.clear();
}

void machine::kill() {
    disk_.kill_processes();
    bury_all();
}

void machine::kill_one(std::size_t which) {
    running_[which]->kill();
    leaving_.push_back(std::move(running_[which]));
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(which));
}

void machine::kill_after_failed_sync() {
    around_.book.note(with_.service + " starts anew after a failed sync, its machine does not");
    disk_.fail_next_syncs(0);
    disk_.cut_after_operations(fault_disk::unlimited);
    fragile_ = true;
    kill();
}

bool machine::bury_dead() {
    bool found = false;
    for (std::size_t i = 0; i < running_.size();) {
        if (!running_[i]->is_dead() && ++i > 0) continue;
        kill_one(i);
        found = true;
    }
    return found;
}

void machine::cut_power(fault_disk::unsynced fate) {
    around_.book.note("the power of " + with_.service + " fails");
    disk_.cut_now();
    bury_all();
    disk_.restore_power(fate);
}

bool machine::has_gone_down() const {
    return !disk_.powered() || failed_as_it_left_ ||
           std::ranges::any_of(running_, [](const auto& one) { return one->has_failed(); });
}

void machine::stop_one(std::size_t which) {
    running_[which]->pause(false);
    running_[which]->stop();
    leaving_.push_back(std::move(running_[which]));
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(which));
}

void machine::stop() {
    while (!running_.empty()) stop_one(0);
}

void machine::reap() {
    for (const auto& one : leaving_)
        if (one->is_gone() && one->has_failed() && !one->is_dead()) failed_as_it_left_ = true;
    std::erase_if(leaving_, [](const auto& one) { return one->is_gone(); });
}

void machine::write_foreign(const std::string& to, const std::string& order_key) {
    if (running_.empty() || has_gone_down()) return;
    const auto done = write_disk(
        disk_, database_path,
        fmt::format("INSERT INTO outbox_messages (destination, endpoint, payload, max_retries,"
                    " order_key) VALUES ('{}', 'Effect', '{}', -1, nullif('{}', ''))",
                    to, payload_of(order_key, 1), order_key));
    around_.book.note(fmt::format("plain SQL at {} {}", with_.service, done ? "sends" : "fails"));
}

std::int64_t machine::pending() {
    for (const auto& one : running_) {
        if (!one->is_open()) continue;
        if (const auto seen = one->core().stats()) return seen->pending;
    }
    return -1;
}

}  // namespace posthorn::sim
