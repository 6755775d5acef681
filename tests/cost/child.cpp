// A process whose cost is measured, so that nothing of the test itself is in the figures.
//
//   cost_child idle DATABASE        a node with nothing to do; prints wakeups a second and the CPU
//                                   time of a second in microseconds
//   cost_child backlog DATABASE     a node on a database with a backlog for `nowhere`, which has no
//                                   route, or for `silent`, which does not answer, while another
//                                   destination is served; prints the peak of memory in KiB
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include <posthorn/node.hpp>

#include "cost/process_status.hpp"

namespace posthorn::cost {
namespace {

using namespace std::chrono_literals;

/// Counts, and lets one wait for a count.
class counter {
public:
    void add() {
        {
            const std::scoped_lock lock(mutex_);
            ++count_;
        }
        changed_.notify_all();
    }
    /// False if it did not get there in time.
    bool wait_for(int count, std::chrono::milliseconds limit) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, limit, [&] { return count_ >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int count_ = 0;
};

// A span of real time is what is measured here; nothing ever wakes it.
void let_pass(std::chrono::milliseconds span) { counter{}.wait_for(1, span); }

int idle(const std::string& database) {
    node quiet({.service = "orders", .store = {.database = database}});
    quiet.start();
    let_pass(1s);               // The start is no part of idling.
    constexpr auto span = 12s;  // Four beats: where it falls between them matters little.
    const auto before = read_process_status();
    let_pass(span);
    const auto after = read_process_status();
    std::printf("%.1f %lld\n", static_cast<double>(after.wakeups - before.wakeups) / span.count(),
                static_cast<long long>((after.cpu_time - before.cpu_time).count() / span.count()));
    quiet.stop();
    return 0;
}

int backlog(const std::string& database) {
    constexpr int served = 500;
    counter stuck;
    counter billed;
    counter never;

    node billing({.service = "billing", .store = {.database = database + ".billing"}});
    billing.handle("Charge", [&](context&, const message&) { billed.add(); });
    node silent({.service = "silent", .store = {.database = database + ".silent"}});
    silent.handle_external("Charge", [&](const message&) {
        stuck.add();
        never.wait_for(1, 1h);
    });
    node orders({.service = "orders",
                 .store = {.database = database},
                 .routes = {{"billing", "inprocess:"}, {"silent", "inprocess:"}},
                 .log_level = "error",
                 .log_sink = [&](std::string_view line) {
                     if (line.find("no route") != std::string_view::npos) stuck.add();
                 }});
    billing.start();
    silent.start();
    orders.start();

    if (!stuck.wait_for(1, 20s)) return 3;  // The backlog was not even looked at.
    for (int i = 0; i < served; ++i) orders.send("billing", "Charge", R"({"amount":1})");
    if (!billed.wait_for(served, 20s)) return 4;  // The backlog starved it.
    let_pass(2s);                                 // Two sweeps more.
    std::printf("%lld\n", static_cast<long long>(read_process_status().memory_peak_kib));
    std::fflush(stdout);
    std::_Exit(0);  // What is stuck would be waited for.
}

}  // namespace
}  // namespace posthorn::cost

int main(int count, char** arguments) {
    using namespace posthorn::cost;
    const std::string_view command = count == 3 ? arguments[1] : "";
    if (command == "idle") return idle(arguments[2]);
    if (command == "backlog") return backlog(arguments[2]);
    return 2;
}
