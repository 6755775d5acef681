// What the crash tests kill: a sender `orders` and a receiver `billing`, each on its own file in
// one directory, in one process.
//
// usage: crash_worker DIRECTORY [NAME=VALUE…]
//   send=N           place N orders in one transaction, each with a message
//   at=POINT         stop there, say `at: POINT` and wait to be killed
//   network=MODE     see worker_network.hpp
//   handler=KIND     transactional, or external
//   expires_ms=N     how long messages live
//   lease_ms=N       how long a silent dispatcher keeps its job
//   watchdog_ms=N    a unit that hangs for so long turns health red; five times that stops the node
//   drain=1          end when nothing is pending; otherwise at SIGTERM
#include <chrono>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "app/store/process_identity.hpp"
#include "crash/arguments.hpp"
#include "crash/canary.hpp"
#include "crash/core_node.hpp"
#include "crash/worker_network.hpp"
#include "crash/worker_points.hpp"
#include "support/eventually.hpp"

namespace posthorn::crash {
namespace {

using std::chrono::milliseconds;

/// What the worker is told, and where its databases are.
struct worker_arguments : arguments {
    worker_arguments(int count, char** words) : arguments(count, words, 2), directory(words[1]) {}
    std::string directory;
};

core_options options_of(const worker_arguments& given, const std::string& service) {
    core_options made{
        .database = {.path = given.directory + "/" + service + ".db",
                     .service = service,
                     .shared = true},
        .sending = {.source = service,
                    .expires_in = milliseconds(given.number("expires_ms", 3'600'000)),
                    .max_retries = retry_for_ever},
        .retries = retry_policy(exponential_backoff{
            .base = milliseconds(5), .max = milliseconds(20), .jitter_max = milliseconds(1)}),
        .routes = {{"billing", "inprocess:"}},
        .owner_is_gone = [](const std::string& owner) { return process_is_gone(owner); },
        .fail_stop =
            [](const std::string& why) {
                say("fail-stop: " + why);
                std::abort();
            },
    };
    if (const milliseconds limit(given.number("watchdog_ms", 0)); limit.count() > 0)
        made.watchdog = {.look_interval = limit / 4, .red_after = limit, .stop_after = 5 * limit};
    const milliseconds lease(given.number("lease_ms", 3'600'000));
    made.outbox.lease = {.owner = process_identity("worker"),
                         .duration = lease,
                         .beat_interval = lease / 4,
                         .look_interval = milliseconds(20)};
    made.outbox.lane.attempt_timeout = milliseconds(200);
    made.outbox.judge.throttled_delay_min = milliseconds(20);
    return made;
}

class worker {
public:
    explicit worker(worker_arguments given)
        : given_(std::move(given)),
          points_(given_.text("at")),
          billing_(options_of(given_, "billing"), say) {}

    int run() {
        prepare_billing();
        billing_.start();
        worker_network network({*billing_.core().inbox(), billing_.timer(), points_, gate_},
                               given_.text("network", "up"));
        core_node orders(options_of(given_, "orders"), [](std::string_view line) { say(line); });
        value_or_throw(orders.hub().join("billing", network));
        orders.core().run(
            [](transaction& tx) { tx.execute("CREATE TABLE IF NOT EXISTS orders (n INTEGER)"); });
        const bool before_start = points_.is("after_commit_before_send");
        if (!before_start) orders.start();
        say("ready");
        send(orders, given_.number("send", 0));
        return before_start ? 1 : finish(orders);
    }

private:
    void prepare_billing() {
        // Nothing here is unique, so that a double effect shows.
        billing_.core().run([](transaction& tx) {
            tx.execute("CREATE TABLE IF NOT EXISTS effects (message_id TEXT, payload TEXT)");
        });
        handler added;
        added.lease = milliseconds(300);
        if (given_.text("handler") == "external")
            added.run = blocking_handler([this](const message& m) { return work_outside(m); });
        else
            added.run =
                transactional_handler([this](context& c, const message& m) { return work(c, m); });
        value_or_throw(billing_.core().registry().add("OrderPlaced", std::move(added)));
    }

    std::string work(context& c, const message& m) const {
        points_.reach("in_handler_before_work");
        c.execute("INSERT INTO effects VALUES (?, ?)", m.id.to_string(), m.payload);
        points_.reach("in_handler_after_work");
        // Another one each time, so that a second run could not pass for a cached response.
        return c.query_value<std::string>("SELECT 'receipt ' || hex(randomblob(8))").value();
    }

    std::string work_outside(const message& m) const {
        say("outside: " + m.id.to_string());
        points_.reach("in_external_handler");
        return "done";
    }

    void send(core_node& orders, int count) {
        if (count == 0) return;
        orders.core().run([&](transaction& tx) {
            for (int n = 1; n <= count; ++n) {
                tx.execute("INSERT INTO orders VALUES (?)", n);
                points_.reach("in_transaction_before_send");
                tx.send("billing", "OrderPlaced",
                        fmt::format(R"({{"n":{},"note":"{}"}})", n, canary_payload));
            }
            points_.reach("in_transaction_before_commit");
        });
        say("committed");
        points_.reach("after_commit_before_send");
    }

    int finish(core_node& orders) {
        if (points_.is("after_failed_attempt")) {
            std::ignore = test::eventually(
                [&] { return orders.integer("SELECT count(*) FROM outbox_attempts") > 0; });
            points_.reach("after_failed_attempt");
        }
        if (given_.number("watchdog_ms", 0) > 0) tell_red();
        if (given_.number("drain", 0) == 0) {
            gate_.wait_end();
            return 0;
        }
        if (!test::eventually([&] { return orders.core().stats()->pending == 0; })) return 1;
        say(fmt::format("drained: {} duplicates", billing_.core().stats()->duplicates));
        return 0;
    }

    void tell_red() {
        const auto is_red = [&] { return billing_.core().health().level == health_level::red; };
        if (test::eventually(is_red)) say("health: red: " + billing_.core().health().reasons.at(0));
    }

    worker_arguments given_;
    signal_gate gate_;
    crash_points points_;
    core_node billing_;
};

}  // namespace
}  // namespace posthorn::crash

int main(int count, char** values) {
    using posthorn::crash::say;
    if (count < 2) return 2;
    try {
        return posthorn::crash::worker({count, values}).run();
    } catch (const posthorn::error& failure) {
        say(fmt::format("error: {}: {}", failure.name(), failure.what()));
        return 3;
    }
}
