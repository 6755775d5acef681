// Processes paused with SIGSTOP for longer than others wait for them, and then let go on.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>

#include <gtest/gtest.h>

#include "crash/invariants.hpp"
#include "support/eventually.hpp"
#include "support/proof_run.hpp"

namespace posthorn::crash {
namespace {

using namespace std::chrono_literals;
using test::eventually;

constexpr std::uint64_t pauses_of_a_world = 10;
constexpr auto lease = 300ms;
constexpr auto timeout = 150ms;

class paused_services : public services {
public:
    using services::services;

    /// Returns when all its threads stand still.
    void pause(const std::string& name) {
        at(name).send_signal(SIGSTOP);
        EXPECT_TRUE(eventually([&] { return at(name).is_stopped(); }));
    }
    void go_on(const std::string& name) { at(name).send_signal(SIGCONT); }

    [[nodiscard]] std::int64_t epoch() const { return source("SELECT epoch FROM posthorn_leases"); }
    [[nodiscard]] bool dispatches(const std::string& name) {
        const auto owner = open("source").text("SELECT owner FROM posthorn_leases");
        return owner.contains("/" + std::to_string(at(name).id()) + "/");
    }

    /// Pauses the one of `a` and `b` that has the lease at a moment that is drawn, after so many
    /// effects at most; gives which.
    std::string pause_dispatcher(int effects_max) {
        std::string paused;
        const bool is_paused = eventually([&] {
            const std::string name = dispatches("a") ? "a" : "b";
            if (!dispatches(name)) return false;
            if (effects_max > 0 && draw(3) != 0) await_effects(1 + draw(effects_max));
            EXPECT_EQ(at(name).wait(std::chrono::milliseconds(draw(20))), std::nullopt)
                << at(name).out() << at(name).err();
            pause(name);
            // On a slow machine it may just have lost the lease. Or it was about to show a commit,
            // and until it goes on nobody can read.
            if (!can_be_read() || dispatches(name))
                paused = name;
            else
                go_on(name);
            return !paused.empty() || testing::Test::HasFailure();
        });
        EXPECT_TRUE(is_paused) << "nobody dispatches";
        return paused;
    }

    /// Whether the source's database can be written, so that nobody who is paused holds it.
    bool can_be_written() const { return open("source").takes("BEGIN IMMEDIATE; ROLLBACK"); }
    bool can_be_read() const { return open("source").takes("SELECT 1 FROM posthorn_leases"); }
};

/// Pauses the dispatcher until the other one has taken over. Gives whether it could: nobody can
/// while one is paused that was about to commit.
bool pause_past_lease(paused_services& world) {
    const auto name = world.pause_dispatcher(50);
    if (name.empty()) return false;
    const bool is_free = world.can_be_written();
    if (is_free) {
        EXPECT_TRUE(eventually([&] { return !world.dispatches(name); })) << "nobody took over";
        if (world.draw(2) == 0) world.await_effects(1);
    } else {
        EXPECT_EQ(world.at(name).wait(lease + lease / 2), std::nullopt);
    }
    world.go_on(name);
    return is_free;
}

/// Pauses the dispatcher with requests on their way that never come back, since the receiver falls
/// meanwhile. When it goes on, the other one has the lease, and stands still with its messages:
/// what the first one now says of them must not count. Gives whether it came to that.
bool pause_with_requests_lost(paused_services& world) {
    world.pause("target");
    EXPECT_TRUE(eventually([&] {
        return world.source("SELECT count(*) FROM outbox_messages WHERE status = 'Pending'") > 20;
    }));
    const auto first = world.pause_dispatcher(0);
    if (first.empty()) return false;
    const std::string second = first == "a" ? "b" : "a";
    world.pause(second);
    // On a slow machine the second one may just have taken over.
    const bool is_free = world.can_be_written() && world.dispatches(first);
    if (is_free) {
        const auto epoch = world.epoch();
        world.kill({"target"});
        world.start("target");
        if (!world.await_line("target", "quiet")) return false;
        world.go_on(second);
        EXPECT_TRUE(eventually([&] { return world.epoch() > epoch; })) << "nobody took over";
        world.pause(second);
    }
    world.go_on(first);
    EXPECT_EQ(world.at(first).wait(is_free ? lease / 3 : 0ms), std::nullopt);
    world.go_on(second);
    if (!is_free) world.go_on("target");
    return is_free;
}

void pause_dispatchers(test::proof_run& run, std::uint64_t pauses) {
    paused_services world({.seed = run.seed(), .rounds = pauses});
    const services::words load{"callers=2", "pause_ms=4",
                               "lease_ms=" + std::to_string(lease.count())};
    world.start("target");
    if (!world.await_line("target", "quiet")) return;
    for (const auto* const name : {"a", "b"}) world.start(name, load);
    for (const auto* const name : {"a", "b"})
        if (!world.await_line(name, "ready")) return;
    for (std::uint64_t done = 0; done < pauses && !testing::Test::HasFailure();) {
        const bool loses_requests = done % 5 == 4;
        const bool took_over =
            loses_requests ? pause_with_requests_lost(world) : pause_past_lease(world);
        run.count(!took_over       ? "paused in a commit"
                  : loses_requests ? "take-overs with requests lost"
                                   : "take-overs");
        if (took_over) ++done;
    }
    for (const auto* const name : {"a", "b"}) {
        world.at(name).send_signal(SIGUSR1);
        world.await_line(name, "quiet");
    }
    if (testing::Test::HasFailure() || !world.await_drained()) return;
    EXPECT_EQ(world.source("SELECT sum(retry_count) FROM outbox_messages"), 0);
    EXPECT_EQ(world.open("source").lines("SELECT error FROM outbox_attempts"), "");
    run.count("asked again", world.ask_again());
    for (const auto* const name : {"a", "b", "target"}) world.stop(name);
    const auto links = expect_invariants(world, {.promised = world.promised({"a", "b"})});
    run.count("messages", static_cast<std::uint64_t>(links));
}

/// In worlds of a few rounds, so that neither time nor room grows with their number.
void run_worlds(test::proof_run& run,
                const std::function<void(test::proof_run&, std::uint64_t)>& play) {
    while (run.goes_on() && !testing::Test::HasFailure()) {
        const auto left = std::max(run.rounds(), std::uint64_t{1}) - run.done();
        const auto rounds = std::min(pauses_of_a_world, left);
        play(run, rounds);
        run.advance(rounds);
    }
}

TEST(pause, of_a_dispatcher_past_its_lease_loses_doubles_disorders_and_charges_nothing) {
    test::proof_run run("pause", {.rounds = 10});
    run_worlds(run, pause_dispatchers);
}

void pause_receiver(paused_services& world) {
    world.await_effects(1 + world.draw(50));
    world.pause("target");
    EXPECT_EQ(world.at("target").wait(timeout + timeout * world.draw(20) / 10), std::nullopt);
    world.go_on("target");
}

void pause_receivers(test::proof_run& run, std::uint64_t pauses) {
    paused_services world({.seed = run.seed(), .rounds = pauses});
    world.start("target", {"receipts=1"});
    if (!world.await_line("target", "quiet")) return;
    world.start("source",
                {"callers=4", "pause_ms=2", "timeout_ms=" + std::to_string(timeout.count())});
    if (!world.await_line("source", "ready")) return;
    for (std::uint64_t done = 0; done < pauses && !testing::Test::HasFailure(); ++done)
        pause_receiver(world);
    world.at("source").send_signal(SIGUSR1);
    if (!world.await_line("source", "quiet") || !world.await_drained()) return;
    run.count("charged attempts",
              static_cast<std::uint64_t>(world.source("SELECT count(*) FROM outbox_attempts")));
    run.count("asked again", world.ask_again());
    for (const auto* const name : {"source", "target"}) world.stop(name);
    const auto links =
        expect_invariants(world, {.promised = world.promised({"source"}), .receipts = true});
    run.count("messages", static_cast<std::uint64_t>(links));
}

TEST(pause, of_a_receiver_past_the_senders_time_out_loses_doubles_and_disorders_nothing) {
    test::proof_run run("pause of the receiver", {.rounds = 10});
    run_worlds(run, pause_receivers);
}

}  // namespace
}  // namespace posthorn::crash
