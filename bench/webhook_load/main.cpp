// Webhooks of one node under load: what `bench/webhooks` runs, by turns with the minimum.
//
//   bench_webhooks --mode MODE [--port N] [--events N] [--subscribers N] [--dead N] [--senders N]
//                  [--rate N] [--seconds N] [--folder DIR]
//
//   drain      senders publish events for `subscribers` each; until all are told
//   rate       so many events a second for one subscriber: from commit to request
//   burst      single events for so many endpoints: until the last is told, and what the commit
//              costs with and without them
//   strangers  endpoints of which some are dead; each event goes to one of them
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <posthorn/node.hpp>

#include "common/scratch.hpp"
#include "limit/database.hpp"
#include "measure/pace.hpp"
#include "measure/payload.hpp"
#include "webhook_load/receiver.hpp"

namespace posthorn::bench {
namespace {

using namespace std::chrono_literals;

struct settings {
    std::string mode{};
    std::uint16_t port = 0;
    std::uint64_t events = 20'000;
    std::uint64_t subscribers = 1;
    std::uint64_t dead = 0;
    std::uint64_t senders = 64;
    std::uint64_t rate = 200;
    double seconds = 5;
    std::string folder{};
};

void rest(std::chrono::nanoseconds span) { measure::sleep_until(measure::now_ns() + span.count()); }

/// A node, and a look at its rows from beside it.
class shop {
public:
    explicit shop(const std::string& in) : place_(in) {
        const auto file = (place_.path() / "shop.toml").string();
        std::ofstream(file) << fmt::format(
            "[service]\nid = \"shop\"\n[store]\nurl = \"sqlite:{}\"\n"
            "[listen]\nhttp = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n"
            "[webhooks]\nplain_http = true\nallow = \"127.0.0.0/8\"\nconnections_max = "
            "20000\n[log]\nlevel = \"warn\"\n",
            database_file());
        node_.emplace(load(file));
    }

    node& operator*() { return *node_; }
    node* operator->() { return &*node_; }
    void start() {
        node_->start();
        rows_.emplace(database_file(), "");
    }
    /// Endpoint number i is at `url_of(i)` and hears of `type_of(i)`.
    template <class Url, class Type>
    void subscribe(std::uint64_t count, const Url& url_of, const Type& type_of) {
        node_->transact([&](transaction& tx) {
            for (std::uint64_t i = 0; i < count; ++i)
                tx.execute(
                    "INSERT INTO webhook_subscriptions(id, event_type, url, secret) "
                    "VALUES (?, ?, ?, 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=')",
                    fmt::format("01900000-0000-7000-8001-{:012x}", i), type_of(i), url_of(i));
        });
    }
    [[nodiscard]] std::int64_t number(std::string_view sql) {
        return statement(rows_->raw(), sql).get();
    }
    void wait_until_drained() {
        while (number("SELECT EXISTS(SELECT 1 FROM outbox_messages WHERE status = 'Pending')") != 0)
            rest(5ms);
    }

private:
    [[nodiscard]] std::string database_file() const { return (place_.path() / "shop.db").string(); }

    scratch place_;
    std::optional<node> node_;
    std::optional<database> rows_;
};

void publish(node& from, std::uint64_t index, std::string_view type = "order.paid") {
    from.transact([&](transaction& tx) { tx.publish(type, measure::make_payload(index)); });
}

double seconds_since(std::int64_t begun) {
    return static_cast<double>(measure::now_ns() - begun) / 1e9;
}

double percentile(std::vector<double>& of, double share) {
    if (of.empty()) return 0;
    std::ranges::sort(of);
    return of[std::min(of.size() - 1,
                       static_cast<std::size_t>(share * static_cast<double>(of.size())))];
}

void publish_all(node& from, std::uint64_t events, std::uint64_t senders, auto&& type_of) {
    std::atomic<std::uint64_t> next = 0;
    std::vector<std::jthread> all;
    for (std::uint64_t i = 0; i < senders; ++i)
        all.emplace_back([&] {
            for (auto mine = next++; mine < events; mine = next++)
                publish(from, mine, type_of(mine));
        });
}

void drain(const settings& given) {
    std::optional<receiver> own;
    const auto port = given.port != 0 ? given.port : own.emplace().port();
    shop one(given.folder);
    const auto url = fmt::format("http://127.0.0.1:{}/hook", port);
    one.subscribe(
        given.subscribers, [&](auto) { return url; }, [](auto) { return std::string("order.*"); });
    one.start();
    const auto begun = measure::now_ns();
    publish_all(*one, given.events, given.senders, [](auto) { return "order.paid"; });
    const auto published = seconds_since(begun);
    one.wait_until_drained();
    const auto took = seconds_since(begun);
    const auto whole = given.events * given.subscribers;
    fmt::print(
        "{{\"deliveries\": {}, \"seconds\": {:.3f}, \"published\": {:.3f}, \"per_second\": "
        "{:.0f}}}\n",
        whole, took, published, static_cast<double>(whole) / took);
    one->stop();
}

void keep_rate(node& from, const settings& given, std::vector<std::int64_t>& committed,
               auto&& type_of) {
    const auto begun = measure::now_ns();
    for (std::uint64_t i = 0; seconds_since(begun) < given.seconds; ++i) {
        const auto due = begun + static_cast<std::int64_t>(1e9 * static_cast<double>(i) /
                                                           static_cast<double>(given.rate));
        measure::sleep_until(due);
        publish(from, i, type_of(i));
        committed.push_back(measure::now_ns());
    }
}

std::vector<double> latencies(const receiver& at, const std::vector<std::int64_t>& committed,
                              auto&& counts) {
    std::vector<double> us;
    for (std::size_t i = 0; i < committed.size(); ++i)
        if (const auto came = at.last_ns(i); came != 0 && counts(i))
            us.push_back(static_cast<double>(std::max<std::int64_t>(0, came - committed[i])) / 1e3);
    return us;
}

void rate(const settings& given) {
    const receiver endpoints;
    shop one(given.folder);
    const auto url = fmt::format("http://127.0.0.1:{}/hook", endpoints.port());
    one.subscribe(1, [&](auto) { return url; }, [](auto) { return std::string("order.*"); });
    one.start();
    std::vector<std::int64_t> committed;
    keep_rate(*one, given, committed, [](auto) { return "order.paid"; });
    one.wait_until_drained();
    auto us = latencies(endpoints, committed, [](auto) { return true; });
    fmt::print("{{\"events\": {}, \"p50_us\": {:.0f}, \"p99_us\": {:.0f}}}\n", us.size(),
               percentile(us, 0.5), percentile(us, 0.99));
    one->stop();
}

std::string address_of(std::uint64_t i) {
    return fmt::format("127.{}.{}.{}", 1 + i / 65'536, i / 256 % 256, i % 256);
}

void burst(const settings& given) {
    constexpr int turns = 20;
    const receiver endpoints;
    shop one(given.folder);
    one.subscribe(
        given.subscribers,
        [&](auto i) { return fmt::format("http://{}:{}/hook", address_of(i), endpoints.port()); },
        [](auto) { return std::string("order.paid"); });
    one.start();
    std::vector<double> heard, unheard, whole;
    for (int i = 0; i < turns; ++i) {  // By turns: the disk is not always as quick.
        auto begun = measure::now_ns();
        publish(*one, 2 * static_cast<std::uint64_t>(i) + 1, "nothing");
        unheard.push_back(seconds_since(begun) * 1e6);
        begun = measure::now_ns();
        const auto index = 2 * static_cast<std::uint64_t>(i);
        publish(*one, index);
        heard.push_back(seconds_since(begun) * 1e6);
        const auto committed = measure::now_ns();
        one.wait_until_drained();
        whole.push_back(static_cast<double>(endpoints.last_ns(index) - committed) / 1e6);
    }
    fmt::print(
        "{{\"endpoints\": {}, \"last_request_ms\": {:.0f}, \"first_time_ms\": {:.0f}, "
        "\"commit_us\": {:.0f}, \"commit_unheard_us\": {:.0f}}}\n",
        given.subscribers, percentile(whole, 0.5), whole.empty() ? 0 : whole.back(),
        percentile(heard, 0.5), percentile(unheard, 0.5));
    one->stop();
}

std::int64_t processor_us() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto of = [](const timeval& t) { return std::int64_t{t.tv_sec} * 1'000'000 + t.tv_usec; };
    return of(used.ru_utime) + of(used.ru_stime);
}

double memory_mb() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == "RssAnon:") {
            double kib = 0;
            status >> kib;
            return kib / 1024;
        }
    return 0;
}

/// Refuses, never answers, or drops what it is sent.
std::string dead_url(std::uint64_t i, std::uint16_t port, std::uint16_t full) {
    if (i % 3 == 0) return fmt::format("http://{}:9/hook", address_of(i));
    if (i % 3 == 1) return fmt::format("http://{}:{}/never", address_of(i), port);
    return fmt::format("http://{}:{}/hook", address_of(i), full);
}

void strangers(const settings& given) {
    const receiver endpoints;
    const full_door full;
    shop one(given.folder);
    const auto is_dead = [&](std::uint64_t i) { return i < given.dead; };
    const auto type_of = [](std::uint64_t i) { return fmt::format("order.n{}", i); };
    one.subscribe(
        given.subscribers,
        [&](std::uint64_t i) {
            return is_dead(i) ? dead_url(i, endpoints.port(), full.port())
                              : fmt::format("http://{}:{}/hook", address_of(i), endpoints.port());
        },
        type_of);
    one.start();
    // Ten for each dead one, and one for each other, so that all have been tried.
    publish_all(*one, 10 * given.dead + given.subscribers, given.senders, [&](std::uint64_t i) {
        return type_of(i < 10 * given.dead ? i / 10 : i - 10 * given.dead);
    });
    rest(1min);  // Past what is tried at once.
    const auto idle_from = processor_us();
    const auto idle_begun = measure::now_ns();
    rest(20s);
    const auto idle =
        static_cast<double>(processor_us() - idle_from) / 1e6 / seconds_since(idle_begun);
    const auto memory = memory_mb();
    const auto healthy = [&](std::uint64_t i) {
        return given.dead + i * 7919 % (given.subscribers - given.dead);
    };
    std::vector<std::int64_t> committed;
    keep_rate(*one, given, committed, [&](std::uint64_t i) { return type_of(healthy(i)); });
    rest(1s);
    auto us = latencies(endpoints, committed, [](auto) { return true; });
    const auto before = endpoints.count();
    const auto begun = measure::now_ns();
    publish_all(*one, given.events, given.senders, [&](auto i) { return type_of(healthy(i)); });
    while (endpoints.count() < before + given.events) rest(1ms);
    fmt::print(
        "{{\"endpoints\": {}, \"dead\": {}, \"idle_core\": {:.4f}, \"memory_mb\": {:.0f}, "
        "\"p50_us\": {:.0f}, \"p99_us\": {:.0f}, \"per_second\": {:.0f}}}\n",
        given.subscribers, given.dead, idle, memory, percentile(us, 0.5), percentile(us, 0.99),
        static_cast<double>(given.events) / seconds_since(begun));
    one->stop();
}

settings parse(const std::vector<std::string>& words) {
    settings given;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto value = [&] {
            if (++i == words.size()) throw std::invalid_argument(words[i - 1] + " needs a value");
            return words[i];
        };
        const auto& word = words[i];
        if (word == "--mode")
            given.mode = value();
        else if (word == "--port")
            given.port = static_cast<std::uint16_t>(std::stoul(value()));
        else if (word == "--events")
            given.events = std::stoull(value());
        else if (word == "--subscribers")
            given.subscribers = std::stoull(value());
        else if (word == "--dead")
            given.dead = std::stoull(value());
        else if (word == "--senders")
            given.senders = std::stoull(value());
        else if (word == "--rate")
            given.rate = std::stoull(value());
        else if (word == "--seconds")
            given.seconds = std::stod(value());
        else if (word == "--folder")
            given.folder = value();
        else if (word != "--json")  // As all that measure take it; nothing else is printed.
            throw std::invalid_argument("what is " + word + "?");
    }
    return given;
}

void run(const settings& given) {
    if (given.mode == "drain") return drain(given);
    if (given.mode == "rate") return rate(given);
    if (given.mode == "burst") return burst(given);
    if (given.mode == "strangers") return strangers(given);
    throw std::invalid_argument("--mode is drain, rate, burst or strangers");
}

}  // namespace
}  // namespace posthorn::bench

int main(int count, char** words) {
    try {
        posthorn::bench::run(posthorn::bench::parse({words + 1, words + count}));
        return 0;
    } catch (const std::exception& why) {
        fmt::print(stderr, "error: {}\n", why.what());
        return 1;
    }
}
