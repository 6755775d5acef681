#include "sim/process.hpp"

#include <utility>

#include "sim/network.hpp"

namespace posthorn::sim {

/// Where a node's messages leave it: to its hub this is the other service.
class process::link final : public receiver {
public:
    link(process& from, std::string to) : from_(from), to_(std::move(to)) {}

    task<std::vector<delivery>> receive(message_batch batch) override {
        return from_.around_.net.carry(from_, to_, std::move(batch));
    }

private:
    process& from_;
    std::string to_;
};

process::process(const surroundings& around, const host& on, std::string name, std::uint64_t seed)
    : around_(around),
      on_(on),
      seat_(on.disk.add_user()),
      name_(std::move(name)),
      random_(seed),
      place_(around.loop.add()),
      log_({.level = log_level::warn, .sink = [this](std::string_view line) { hear(line); }},
           [&clock = on.clock] { return clock.wall(); }),
      visits_(place_->context.get_executor()),
      life_(place_->context.get_executor()) {}

process::~process() = default;

void process::hear(std::string_view line) {
    if (line.find("Store: stopped") != std::string_view::npos) failed_ = true;
    around_.book.note(name_ + " logs " + std::string(line));
}

result<> process::open(core_options options, const std::function<void(process&)>& ready) {
    auto& time = around_.loop.time();
    options.database.vfs = seat_->vfs_name();
    auto opened = node_core::open(
        std::move(options), {on_.clock, time, random_, place_->context.get_executor(), writer_,
                             readers_, workers_, log_, hub_});
    if (!opened) return std::unexpected(std::move(opened).error());
    core_ = *std::move(opened);
    for (const auto& other : around_.net.services()) {
        if (other == service()) continue;
        links_.push_back(std::make_unique<link>(*this, other));
        POSTHORN_TRY(hub_.join(other, *links_.back()));
    }
    ready(*this);
    return {};
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
    core_->store().stop();
}

}  // namespace posthorn::sim
