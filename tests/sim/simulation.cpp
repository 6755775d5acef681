#include "sim/simulation.hpp"

#include <cstdlib>
#include <filesystem>
#include <tuple>

#include <fmt/format.h>

#include "sim/faults/faults.hpp"
#include "sim/flows/flow_traffic.hpp"
#include "sim/people.hpp"

namespace posthorn::sim {
namespace {

using namespace std::chrono_literals;

class run {
public:
    explicit run(const simulation_options& options)
        : options_(options),
          world_(shape(options)),
          faults_(world_, {.pause_mean = pause_between_faults(options),
                           .power_only = options.power_only,
                           .clock_wrong_max = purges(options) ? 6s : 20s}),
          people_(world_),
          flows_(world_) {
        world_.book.keep_log(options.keep_log);
        if (options.power_only) {
            world_.downtime = [this] { return std::chrono::milliseconds(world_.dice.below(300)); };
            world_.net.look_interval = 8;
        }
    }

    simulation_outcome operator()() {
        world_.start();
        world_.outside().spawn(clients());
        world_.outside().spawn(people_.run());
        world_.outside().spawn(faults_.run());
        const auto worked = [this] {
            return (done_ && !faults_.is_taking_over()) || world_.is_damaged();
        };
        if (!world_.loop.run_until(worked, 24h)) world_.book.violate("the clients got stuck");
        faults_.heal();
        people_.only_close();
        if (!world_.is_damaged()) come_to_an_end();
        if (!world_.is_damaged() && options_.flows > 0) flows_.check();
        simulation_outcome seen;
        seen.flows = flows_.started();
        seen.flow_steps = flows_.steps();
        seen.seconds =
            std::chrono::duration<double>(world_.loop.time().steady().time_since_epoch()).count();
        seen.count = world_.shut_down();
        seen.hash = world_.book.hash();
        seen.faults = faults_.counts();
        if (requeued_late_ > 0)
            seen.faults["dead letters requeued past the horizon"] = requeued_late_;
        seen.cuts = cuts();
        for (std::size_t i = 0; i < world_.size(); ++i) {
            seen.kills += world_.at(i).disk().kills();
            seen.nodes += world_.at(i).processes();
        }
        seen.replayed = faults_.copies().replayed();
        seen.deliveries = world_.net.seen().deliveries;
        seen.looks = world_.net.seen().looks;
        seen.refused_signatures = world_.net.seen().refused;
        seen.repeats = world_.net.seen().echoes + world_.net.seen().duplicates;
        seen.violations = world_.book.violations();
        seen.log = world_.book.log();
        report(seen);
        return seen;
    }

private:
    static world_options shape(const simulation_options& options) {
        seeded_random dice(options.seed ^ 0x5eed);
        world_options made{.seed = options.seed, .node = brisk_options()};
        made.services = 2;
        if (!options.power_only) {
            // Three to seven nodes: some services have one, some share their file.
            const auto nodes = 3 + dice.below(5);
            made.services = 2 + dice.below(std::min<std::uint64_t>(nodes - 1, 4));
            made.nodes.assign(made.services, 1);
            for (auto left = nodes - made.services; left > 0; --left)
                ++made.nodes[dice.below(made.services)];
            made.logs_all = dice.below(8) == 0;
        }
        if (purges(options)) {
            made.node.sending.expires_in = 40s;
            made.node.inbox.intake.horizon = {.grace = 15s, .row_life_min = 20s};
            made.node.inbox.purge.interval = 3s;
            made.node.inbox.clock.hold = 8s;
        }
        made.has_flows = options.flows > 0;
        made.node.outbox.order.policy =
            dice.below(2) == 0 ? order_policy::park : order_policy::pass;
        return made;
    }

    /// A small world is to see many kinds of them; in a large one the same pace would have most
    /// messages expire, and prove little of the rest.
    static std::chrono::milliseconds pause_between_faults(const simulation_options& options) {
        if (options.power_only) return 400ms;
        return options.messages < 5'000 ? 700ms : 1'800ms;
    }

    /// In every second world rows are purged within its time.
    static bool purges(const simulation_options& options) {
        return !options.power_only && options.seed % 2 == 0;
    }

    void come_to_an_end() {
        const auto drain = [this] {
            const bool ended = world_.drain(30min) && drain_flows();
            if (!ended) world_.book.violate("invariant 7: not everything comes to an end");
            return ended;
        };
        if (!drain()) return;
        if (!faults_.copies().replay_rest())
            world_.book.violate("invariant 7: not everything can be sent again");
        if (purges(options_)) {
            // Long enough that nobody knows most of it any more; then some of it comes again.
            world_.loop.run_for(75s);
            requeued_late_ = people_.requeue_all();
            for (std::size_t i = 0; i < world_.size(); ++i)
                if (auto* const at = world_.at(i).pick(world_.dice, false))
                    world_.net.echo(*at, 16);
        }
        std::ignore = drain();
    }

    /// What a workflow does last may be a message, so both have to be quiet at once.
    bool drain_flows() {
        if (options_.flows == 0) return true;
        for (int i = 0; i < 60; ++i) {
            if (flows_.is_drained() && world_.is_drained()) return true;
            if (!world_.drain(30min)) return false;
            world_.loop.run_for(30s);
        }
        return false;
    }

    std::uint64_t cuts() {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < world_.size(); ++i) sum += world_.at(i).cuts();
        return sum;
    }

    [[nodiscard]] bool has_more_to_do() {
        return asked_ < options_.messages || flows_.started() < options_.flows ||
               (options_.power_only && cuts() < options_.cuts);
    }

    task<> clients() {
        auto& dice = world_.dice;
        while (has_more_to_do()) {
            if (!co_await world_.loop.time().sleep_for(std::chrono::milliseconds(dice.below(120))))
                co_return;
            if (dice.below(8) == 0) {
                const auto from = dice.below(world_.size());
                const auto to = (from + 1 + dice.below(world_.size() - 1)) % world_.size();
                const auto key = dice.below(2) == 0 ? "k0" : "";
                world_.at(from).write_foreign(world_.at(to).service(), key);
            }
            if (options_.flows > 0) flows_.act();
            const auto burst = dice.below(10) == 0 ? 8U : 1U;
            for (unsigned i = 0; i < burst; ++i) {
                auto& from = world_.at(dice.below(world_.size()));
                auto what = world_.work.draw(from.service());
                const auto letters = what.letters.size();
                if (world_.send(from, std::move(what))) asked_ += letters;
            }
        }
        done_ = true;
    }

    void report(simulation_outcome& seen) {
        if (seen.violations.empty()) return;
        auto& out = seen.report;
        out = fmt::format("seed {}: {} things are wrong\n", options_.seed, seen.violations.size());
        std::size_t shown = 0;
        for (const auto& one : seen.violations)
            if (++shown <= 10) out += "  " + one + '\n';
        shown = 0;
        for (const auto& id : world_.book.concerned())
            if (++shown <= 3) out += id.to_string() + '\n' + world_.book.trace(id);
        const char* const bug = std::getenv("POSTHORN_PLANTED");
        out += fmt::format("replay it: {}{} --seed={} --messages={}{}{}\n",
                           bug == nullptr ? "" : fmt::format("POSTHORN_PLANTED={} ", bug),
                           std::filesystem::read_symlink("/proc/self/exe").string(), options_.seed,
                           options_.messages,
                           options_.power_only ? fmt::format(" --cuts={}", options_.cuts) : "",
                           options_.flows > 0 ? fmt::format(" --flows={}", options_.flows) : "");
    }

    simulation_options options_;
    world world_;
    faults faults_;
    people people_;
    flow_traffic flows_;
    std::uint64_t asked_ = 0;
    std::uint64_t requeued_late_ = 0;
    bool done_ = false;
};

}  // namespace

simulation_outcome simulate(const simulation_options& options) { return run(options)(); }

}  // namespace posthorn::sim
