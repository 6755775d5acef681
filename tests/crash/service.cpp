// A service in a process of its own, to be killed, paused and restarted: a whole node on its own
// database, on the real network.
//
// usage: crash_service DIRECTORY source|target NAME [NAME=VALUE…]
//   listen=URL       where it is reached
//   peer=URL         where the other one is; none if empty
//   callers=N        the source: threads that add links and send them, until SIGUSR1
//   pause_ms=N       between two links of a caller
//   receipts=1       the target: sends a receipt for some
//   lease_ms=N       how long a silent dispatcher keeps its job
//   timeout_ms=N     how long an answer may take
//   pages=N          of the log between two checkpoints
// It says `ready`, and ends at SIGTERM. NAME tells two on one database apart. What was committed is
// in DIRECTORY/NAME.promise, what it logged in DIRECTORY/NAME.log, and if that held a canary, so
// does DIRECTORY/leaks.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

#include "app/node/node_config.hpp"
#include "app/node/node_runtime.hpp"
#include "crash/arguments.hpp"
#include "crash/links.hpp"
#include "crash/promise_file.hpp"
#include "crash/worker_points.hpp"

namespace posthorn::crash {
namespace {

using std::chrono::milliseconds;

struct service_arguments : arguments {
    service_arguments(int count, char** words)
        : arguments(count, words, 4), directory(words[1]), service(words[2]), name(words[3]) {}
    [[nodiscard]] std::string file(const std::string& of) const { return directory + "/" + of; }

    std::string directory;
    std::string service;
    std::string name;
};

/// Takes every line, searches it, and keeps the first of them for people.
class searched_log {
public:
    explicit searched_log(const service_arguments& given)
        : leaks_(given.file("leaks")), lines_(given.file(given.name + ".log"), std::ios::app) {}

    void take(std::string_view line) {
        const std::scoped_lock lock(mutex_);
        if (tells_a_canary(line)) std::ofstream(leaks_, std::ios::app) << line << '\n';
        constexpr std::size_t bytes_kept_max = 200'000;
        if (kept_ < bytes_kept_max) lines_ << line << std::endl;
        kept_ += line.size();
    }

private:
    std::mutex mutex_;
    std::string leaks_;
    std::ofstream lines_;
    std::size_t kept_ = 0;
};

config settings_of(const service_arguments& given) {
    const bool is_source = given.service == "source";
    const std::string peer = is_source ? "target" : "source";
    node_options options{
        .service = given.service,
        .store = {.database = given.file(given.service + ".db"), .shared = true},
        .secrets = {{peer, {"base64:" + std::string(canary_secret_base64)}}},
        .retry = {.retries_max = retry_for_ever,
                  .backoff = exponential_backoff{.base = milliseconds(10),
                                                 .max = milliseconds(100),
                                                 .jitter_max = milliseconds(5)}},
        .log_level = "trace",
    };
    if (const auto to = given.text("peer"); !to.empty()) options.routes[peer] = to;
    const auto at = given.text("listen");
    if (at.starts_with("http://")) options.listen.http = at.substr(7);
    if (at.starts_with("unix://")) options.listen.unix_socket = at.substr(7);
    auto settings = config_of(options);
    const milliseconds timeout(given.number("timeout_ms", 30'000));
    settings.outbox.request_timeout = settings.outbox.attempt_timeout = timeout;
    return settings;
}

/// Shorter times than people want, so that a harness gets through many rounds.
void hurry(core_options& core, const service_arguments& given) {
    core.outbox.lane.breaker = {.open_min = milliseconds(20), .open_max = milliseconds(100)};
    core.database.wal_pages_checkpoint = given.number("pages", 100);
    if (const milliseconds lease(given.number("lease_ms", 0)); lease.count() > 0) {
        core.outbox.lease.duration = lease;
        core.outbox.lease.beat_interval = lease / 4;
        core.outbox.lease.look_interval = lease / 10;
    }
}

class service {
public:
    explicit service(service_arguments given)
        : given_(std::move(given)),
          log_(given_),
          promise_(given_.file(given_.name + ".promise")),
          node_(value_or_throw(node_runtime::open(
              settings_of(given_),
              {.log_sink = [this](std::string_view line) { log_.take(line); },
               .adjust = [this](core_options& core) { hurry(core, given_); }}))) {}

    void run() {
        if (given_.service == "source")
            prepare_source();
        else
            prepare_target();
        value_or_throw(posthorn::start(node_->network(), node_->start()).get());
        {
            std::vector<std::jthread> callers;
            for (int i = given_.number("callers", 0); i > 0; --i)
                callers.emplace_back([this] { add_links(); });
            say("ready");
            if (!callers.empty()) gate_.wait_open();
            enough_ = true;
        }
        say("quiet");
        gate_.wait_end();
        node_->stop_and_wait();
    }

private:
    void create(std::string_view tables) {
        node_->core().run([&](transaction& tx) {
            for (std::size_t begin = 0; begin < tables.size();) {
                const auto end = std::min(tables.find(';', begin), tables.size());
                tx.execute(tables.substr(begin, end - begin));
                begin = end + 1;
            }
        });
    }

    void handle(const std::string& endpoint, transactional_handler run) {
        value_or_throw(node_->core().registry().add(endpoint, {.run = std::move(run)}));
    }

    void prepare_source() {
        create(source_tables);
        handle("Receipt", [](context& c, const message& m) {
            c.execute("INSERT INTO receipts SELECT ?1 ->> 'n', ?1 ->> 'receipt'", m.payload);
            return std::string{};
        });
    }

    void prepare_target() {
        create(target_tables);
        handle("Link", [this](context& c, const message& m) { return take_link(c, m); });
    }

    std::string take_link(context& c, const message& m) const {
        const auto n = c.query_value<std::int64_t>("SELECT ?1 ->> 'n'", m.payload).value();
        const auto before =
            c.query_value<std::string>("SELECT link FROM effects ORDER BY place DESC LIMIT 1")
                .value_or("");
        // Another one each time, so that a second run could not pass for a cached response.
        const auto chance = c.query_value<std::string>("SELECT hex(randomblob(8))").value();
        const auto receipt =
            fmt::format(R"({{"chance":"{}","note":"{}"}})", chance, canary_payload);
        c.execute(
            "INSERT INTO effects (n, hash, order_key, message_id, receipt, link)"
            " VALUES (?, ?2 ->> 'hash', ?, ?, ?, ?)",
            n, m.payload, m.order_key, m.id.to_string(), receipt, link_hash(n, before));
        if (given_.number("receipts", 0) == 1 && wants_receipt(n))
            c.send("source", "Receipt", fmt::format(R"({{"n":{},"receipt":{}}})", n, receipt));
        return receipt;
    }

    static std::int64_t add_link(transaction& tx) {
        const auto n = tx.query_value<std::int64_t>("SELECT max(n) FROM chain").value_or(0) + 1;
        const auto before =
            tx.query_value<std::string>("SELECT hash FROM chain WHERE n = ?", n - 1).value_or("");
        const auto hash = link_hash(n, before);
        tx.execute("INSERT INTO chain VALUES (?, ?)", n, hash);
        tx.send("target", "Link", payload_of(n, hash),
                {.headers = headers_with_canary(), .order_key = order_key_of(n)});
        return n;
    }

    void add_links() {
        const int pause_ms = given_.number("pause_ms", 0);
        while (!enough_) {
            std::int64_t n = 0;
            try {
                node_->core().run([&](transaction& tx) { n = add_link(tx); });
                promise_.raise(n);
            } catch (const error& failure) {
                // Whoever holds the file, or was paused with it, lets go of it.
                if (!failure.is_transient()) throw;
            }
            if (pause_ms > 0) ::poll(nullptr, 0, pause_ms);
        }
    }

    service_arguments given_;
    signal_gate gate_;  // Before any thread.
    searched_log log_;
    promise_file promise_;
    std::atomic<bool> enough_ = false;
    std::unique_ptr<node_runtime> node_;
};

}  // namespace
}  // namespace posthorn::crash

int main(int count, char** words) {
    using posthorn::crash::say;
    if (count < 4) return 2;
    try {
        posthorn::crash::service({count, words}).run();
        return 0;
    } catch (const std::exception& failure) {
        say(fmt::format("error: {}", failure.what()));
        return 3;
    }
}
