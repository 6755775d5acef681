#include "sim/process.hpp"

#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "engine/engine.hpp"
#include "sim/checks/keys.hpp"
#include "sim/machine.hpp"
#include "sim/network.hpp"

namespace posthorn::sim {

void place_executor::post(job work) {
    boost::asio::post(where_.context,
                      [here = std::weak_ptr(is_here_), work = std::move(work)]() mutable {
                          if (!here.expired()) work();
                      });
}

process::process(const surroundings& around, const host& on, std::string name, std::uint64_t seed)
    : around_(around),
      on_(on),
      seat_(on.disk.add_user()),
      name_(std::move(name)),
      random_(seed),
      place_(around.loop.add()),
      flows_(*place_),
      log_({.level = on.level, .sink = [this](std::string_view line) { hear(line); }},
           [&clock = on.clock] { return clock.wall(); }),
      connector_(*this, around.net),
      door_(*this, around.net),
      server_({door_, on.keys, on.clock, log_}, {.service = on.service}),
      visits_(place_->context.get_executor()),
      life_(place_->context.get_executor()) {}

process::~process() = default;

void process::hear(std::string_view line) {
    if (line.find("Store: stopped") != std::string_view::npos) failed_ = true;
    if (shows_canary(line))
        around_.book.violate(fmt::format("invariant 8: {} logs a canary: {}", name_, line));
    around_.book.note(name_ + " logs " + std::string(line));
}

result<> process::open(core_options options, const std::function<void(process&)>& ready) {
    auto& time = around_.loop.time();
    options.database.vfs = seat_->vfs_name();
    options.database.readers = 1;  // There is one thread, and each reader takes its time to open.
    auto opened = node_core::open(
        std::move(options),
        {{on_.clock, time, random_, log_, place_->context.get_executor(), readers_, workers_},
         writer_,
         hub_,
         nullptr,
         nullptr,
         &connector_});
    if (!opened) return std::unexpected(std::move(opened).error());
    core_ = *std::move(opened);
    if (auto* const runs = core_->features().find<engine>()) runs->use(flows_);
    ready(*this);
    return {};
}

bool process::is_owner() const {
    if (!on_.shared) return true;
    bool is_it = false;
    if (!lease_) lease_ = std::make_unique<plain_query>(seat_->vfs_name(), database_path);
    lease_->ask("SELECT owner FROM posthorn_leases WHERE name = 'dispatcher'",
                [&](const plain_row& row) { is_it = row.text(0) == name_; });
    return is_it;
}

void process::start() {
    started_ = true;
    life_.spawn(live());
    around_.book.note(name_ + " starts");
}

void process::stop() {
    ending_ = true;
    end_.ring();
    around_.book.note(name_ + " stops");
}

void process::kill() {
    if (!seat_->is_dead()) seat_->kill();
    killed_ = true;
    ending_ = true;
    place_->paused = false;  // Or it could not wind down.
    end_.ring();
    around_.book.note(name_ + " is dead");
}

task<> process::live() {
    value_or_throw(co_await core_->start());
    co_await end_.wait();
    co_await core_->stop();
    co_await visits_.join();
    lease_.reset();  // So that the store is the last to have the file.
    core_->store().stop();
}

}  // namespace posthorn::sim
