// A first look at the speed of a node: durable enqueue, and end to end in one process.
//
//   bench_first_look [SECONDS [enqueue | end_to_end]]
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <posthorn/node.hpp>

#include "sync_counter.hpp"

namespace posthorn::bench {
namespace {

using steady = std::chrono::steady_clock;

const std::string payload = R"({"text":")" + std::string(245, 'x') + R"("})";  // 256 bytes.

/// A directory that goes when the measurement does.
class scratch {
public:
    scratch() {
        auto name = (std::filesystem::current_path() / "bench-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) std::abort();
        path_ = name;
    }
    ~scratch() { std::filesystem::remove_all(path_); }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;

    [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

struct load {
    int callers = 1;
    std::chrono::seconds span{};
};

/// Calls `send` on as many threads for as long; gives the number of calls.
template <class Send>
std::int64_t drive(load what, Send send) {
    std::atomic<std::int64_t> sent = 0;
    const auto end = steady::now() + what.span;
    {
        std::vector<std::jthread> callers;
        for (int i = 0; i < what.callers; ++i)
            callers.emplace_back([&] {
                for (; steady::now() < end; ++sent) send();
            });
    }
    return sent;
}

void report(std::string_view what, load with, std::int64_t messages, steady::time_point begun,
            std::uint64_t syncs_before) {
    const std::chrono::duration<double> took = steady::now() - begun;
    const auto count = static_cast<double>(messages);
    fmt::print("{:<28} {:>3} callers: {:>8.0f} messages/s, {:.3f} syncs a message\n", what,
               with.callers, count / took.count(),
               static_cast<double>(syncs_so_far() - syncs_before) / count);
}

void enqueue(load what) {
    const scratch place;
    node orders({.service = "orders", .database = place.file("orders.db"), .log_level = "error"});
    const auto syncs = syncs_so_far();
    const auto begun = steady::now();
    // Not started: nothing is dispatched meanwhile.
    const auto sent = drive(what, [&] { orders.send("billing", "Charge", payload); });
    report("durable enqueue", what, sent, begun, syncs);
}

void end_to_end(load what) {
    const scratch place;
    node billing({.service = "billing", .database = place.file("billing.db")});
    billing.transaction([](transaction& tx) { tx.execute("CREATE TABLE charges(text)"); });
    billing.handle("Charge", [](context& with, const message& received) {
        with.execute("INSERT INTO charges VALUES (?)", received.payload);
    });
    node orders({.service = "orders",
                 .database = place.file("orders.db"),
                 .routes = {{"billing", "inprocess:"}}});
    orders.transaction([](transaction& tx) { tx.execute("CREATE TABLE orders(text)"); });
    billing.start();
    orders.start();

    const auto syncs = syncs_so_far();
    const auto begun = steady::now();
    const auto sent = drive(what, [&] {
        orders.transaction([](transaction& tx) {
            tx.execute("INSERT INTO orders VALUES (?)", payload);
            tx.send("billing", "Charge", payload);
        });
    });
    const auto enqueued = steady::now();
    while (orders.stats().pending > 0) std::this_thread::yield();
    report("end to end until settled", what, sent, begun, syncs);
    const std::chrono::duration<double> behind = steady::now() - enqueued;
    fmt::print("{:<28} the last {:.2f} s of it after the senders had ended\n", "", behind.count());
    orders.stop();
    billing.stop();
}

}  // namespace
}  // namespace posthorn::bench

int main(int count, char** arguments) {
    using namespace posthorn::bench;
    const std::chrono::seconds span(count > 1 ? std::atoi(arguments[1]) : 3);
    const std::string_view only = count > 2 ? arguments[2] : "";
    if (only != "end_to_end") {
        enqueue({.callers = 1, .span = span});
        enqueue({.callers = 32, .span = span});
    }
    if (only != "enqueue") end_to_end({.callers = 64, .span = span});
    return 0;
}
