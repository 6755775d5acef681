// The hand-written minimum of what Posthorn does for webhooks, with nothing but SQLite, sockets and
// HMAC: the yardstick of `bench/webhooks`. Senders commit an event each (synchronous=FULL,
// concurrent ones share a commit); the next commit has a row for each subscriber; each is signed
// and posted, and the commit after its answer marks it and notes the attempt. With --bare there is
// no database at all: it signs and posts.
//
// It leaves out what is not needed for that: retries, filters, tenants, a guard, time limits, order.
//
// Without --port there is a receiver of its own.
//
//   bench_limit_webhooks [--mode MODE] [--port N] [--bare] [--events N] [--subscribers N]
//                        [--senders N] [--rate N] [--seconds N] [--folder DIR]
//
//   drain  senders publish events for `subscribers` each; until all are told
//   rate   so many events a second for one subscriber: from commit to request
//   burst  single events for so many endpoints at addresses of their own: until the last is told
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/scratch.hpp"
#include "limit/database.hpp"
#include "limit/outbox.hpp"
#include "limit/poster.hpp"
#include "measure/pace.hpp"
#include "measure/payload.hpp"
#include "webhook_load/receiver.hpp"

namespace posthorn::bench {
namespace {

constexpr std::string_view key = "a secret of 32 bytes, as they are";
constexpr std::size_t connections = 64;

struct settings {
    std::string mode = "drain";
    std::uint16_t port = 0;
    bool bare = false;
    std::uint64_t events = 20'000;
    std::uint64_t subscribers = 1;
    std::uint64_t senders = 64;
    std::uint64_t rate = 200;
    double seconds = 5;
    std::string folder{};

    [[nodiscard]] bool is_burst() const { return mode == "burst"; }
};

constexpr std::string_view tables =
    "CREATE TABLE events(seq INTEGER PRIMARY KEY, message_id BLOB NOT NULL UNIQUE, type TEXT NOT "
    "NULL, payload TEXT NOT NULL, created_at INTEGER NOT NULL, sent_at INTEGER);"
    "CREATE INDEX events_pending ON events(seq) WHERE sent_at IS NULL;"
    "CREATE TABLE deliveries(seq INTEGER PRIMARY KEY, event INTEGER NOT NULL, subscription INTEGER "
    "NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, sent_at INTEGER);"
    "CREATE INDEX deliveries_pending ON deliveries(subscription) WHERE sent_at IS NULL;"
    "CREATE TABLE attempts(seq INTEGER PRIMARY KEY, event INTEGER NOT NULL, subscription INTEGER "
    "NOT NULL, number INTEGER NOT NULL, status INTEGER NOT NULL, answer TEXT, at INTEGER NOT NULL);"
    "CREATE INDEX attempts_of ON attempts(event, subscription);";

void post_all(const settings& given) {
    poster client(given.port, connections, key);
    const auto body = measure::make_payload(1);
    const auto whole = given.events * given.subscribers;
    for (std::uint64_t made = 0; made < whole || !client.is_idle();) {
        while (made < whole && client.has_room()) client.post({.event = ++made, .body = body});
        client.wait([](const posting&) {});
    }
}

/// Two threads of its own: one commits for all, one posts.
class minimum {
public:
    explicit minimum(const settings& given, const std::string& file)
        : given_(given),
          file_(file, tables),
          begin_(file_.raw(), "BEGIN IMMEDIATE"),
          add_event_(file_.raw(), "INSERT INTO events VALUES (?, ?, 'order.paid', ?, ?, NULL)"),
          add_delivery_(file_.raw(), "INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, NULL)"),
          end_event_(file_.raw(), "UPDATE events SET sent_at = ? WHERE seq = ?"),
          end_delivery_(file_.raw(), "UPDATE deliveries SET sent_at = ? WHERE seq = ?"),
          add_attempt_(file_.raw(), "INSERT INTO attempts VALUES (NULL, ?, ?, 1, 204, '', ?)"),
          commit_(file_.raw(), "COMMIT"),
          wake_(::eventfd(0, EFD_CLOEXEC)),
          writer_([this] { write(); }),
          poster_([this] { post(); }) {}
    ~minimum() { ::close(wake_); }
    minimum(const minimum&) = delete;
    minimum& operator=(const minimum&) = delete;

    void publish(std::uint64_t index) {
        std::atomic<bool> done = false;
        {
            const std::scoped_lock lock(mutex_);
            published_.push_back({.index = index, .done = &done});
        }
        work_.notify_one();
        done.wait(false);
    }
    /// Deliveries that were answered, and are marked so on disk.
    [[nodiscard]] std::uint64_t ended() const noexcept { return ended_; }
    void finish() {
        writer_.join();
        poster_.join();
    }

private:
    struct request {
        std::uint64_t index = 0;
        std::atomic<bool>* done = nullptr;
    };
    struct event {
        std::string payload{};
        std::uint64_t left = 0;
    };

    void write() noexcept {
        const auto whole = given_.events * given_.subscribers;
        std::vector<std::int64_t> fresh;  // Events that are on disk and not fanned out.
        for (std::uint64_t ended = 0; ended < whole;) {
            std::unique_lock lock(mutex_);
            work_.wait(lock,
                       [&] { return !published_.empty() || !answered_.empty() || !fresh.empty(); });
            const auto published = std::exchange(published_, {});
            const auto answered = std::exchange(answered_, {});
            lock.unlock();
            const auto now = wall_ms();
            begin_.must_run();
            std::vector<posting> due;
            for (const auto each : std::exchange(fresh, {})) fan_out(each, now, due);
            for (const auto& each : published) fresh.push_back(insert(each.index, now));
            for (const auto& each : answered) settle(each, now);
            commit_.must_run();
            ended += answered.size();
            ended_ = ended;
            for (const auto& each : published) {
                each.done->store(true);
                each.done->notify_one();
            }
            if (!due.empty()) hand_over(due);
        }
        {
            const std::scoped_lock lock(mutex_);
            is_over_ = true;
        }
        ring();
    }

    std::int64_t insert(std::uint64_t index, std::int64_t now) {
        const auto made = maker_.make(++last_event_, index, now);
        add_event_.bind(1, made.seq);
        add_event_.bind_blob(2, made.id);
        add_event_.bind_text(3, made.payload);
        add_event_.bind(4, now);
        add_event_.must_run();
        events_.emplace(made.seq, event{.payload = made.payload, .left = given_.subscribers});
        return made.seq;
    }

    void fan_out(std::int64_t seq, std::int64_t now, std::vector<posting>& due) {
        const auto& found = events_.at(seq);
        for (std::uint64_t i = 0; i < given_.subscribers; ++i) {
            add_delivery_.bind(1, ++last_delivery_);
            add_delivery_.bind(2, seq);
            add_delivery_.bind(3, static_cast<std::int64_t>(i));
            add_delivery_.bind(4, now);
            add_delivery_.bind(5, now + 345'600'000);
            add_delivery_.must_run();
            due.push_back({.event = static_cast<std::uint64_t>(seq),
                           .row = last_delivery_,
                           .body = found.payload});
            if (given_.is_burst()) due.back().to = i;
        }
        end_event_.bind(1, now);
        end_event_.bind(2, seq);
        end_event_.must_run();
    }

    void settle(const posting& done, std::int64_t now) {
        const auto subscription = (done.row - 1) % static_cast<std::int64_t>(given_.subscribers);
        end_delivery_.bind(1, now);
        end_delivery_.bind(2, done.row);
        end_delivery_.must_run();
        add_attempt_.bind(1, static_cast<std::int64_t>(done.event));
        add_attempt_.bind(2, subscription);
        add_attempt_.bind(3, now);
        add_attempt_.must_run();
        const auto found = events_.find(static_cast<std::int64_t>(done.event));
        if (--found->second.left == 0) events_.erase(found);
    }

    void hand_over(const std::vector<posting>& due) {
        {
            const std::scoped_lock lock(mutex_);
            due_.insert(due_.end(), due.begin(), due.end());
        }
        ring();
    }
    void ring() {
        const std::uint64_t one = 1;
        if (::write(wake_, &one, sizeof one) < 0) std::abort();
    }

    void post() noexcept {
        poster client(given_.port, given_.is_burst() ? given_.subscribers : connections, key,
                      given_.is_burst() ? poster::places::of_their_own : poster::places::one);
        std::vector<posting> come;
        for (;;) {
            {
                const std::scoped_lock lock(mutex_);
                if (!come.empty()) answered_.insert(answered_.end(), come.begin(), come.end());
                for (; !due_.empty() && client.has_room(); due_.pop_front())
                    client.post(due_.front());
                if (is_over_) return;
            }
            if (!come.empty()) work_.notify_one();
            come.clear();
            client.wait([&](const posting& each) { come.push_back(each); }, wake_);
        }
    }

    const settings& given_;
    database file_;
    statement begin_;
    statement add_event_;
    statement add_delivery_;
    statement end_event_;
    statement end_delivery_;
    statement add_attempt_;
    statement commit_;
    message_maker maker_;
    std::int64_t last_event_ = 0;
    std::int64_t last_delivery_ = 0;
    std::map<std::int64_t, event> events_;  // The writer's alone; what it points to stays.
    std::mutex mutex_;
    std::condition_variable work_;
    std::vector<request> published_;
    std::vector<posting> answered_;
    std::deque<posting> due_;
    bool is_over_ = false;
    std::atomic<std::uint64_t> ended_ = 0;
    int wake_;
    std::thread writer_;
    std::thread poster_;
};

void deliver_all(const settings& given) {
    const scratch place(given.folder);
    minimum by(given, (place.path() / "events.db").string());
    std::atomic<std::uint64_t> next = 0;
    {
        std::vector<std::jthread> senders;
        for (std::uint64_t i = 0; i < given.senders; ++i)
            senders.emplace_back([&] {
                for (auto mine = ++next; mine <= given.events; mine = ++next) by.publish(mine);
            });
    }
    by.finish();
}

double percentile(std::vector<double> of, double share) {
    if (of.empty()) return 0;
    std::ranges::sort(of);
    return of[std::min(of.size() - 1,
                       static_cast<std::size_t>(share * static_cast<double>(of.size())))];
}

void keep_rate(settings given) {
    const receiver endpoints;
    given.port = endpoints.port();
    given.events = static_cast<std::uint64_t>(static_cast<double>(given.rate) * given.seconds);
    const scratch place(given.folder);
    minimum by(given, (place.path() / "events.db").string());
    std::vector<std::int64_t> committed;
    const auto begun = measure::now_ns();
    for (std::uint64_t i = 0; i < given.events; ++i) {
        measure::sleep_until(begun + static_cast<std::int64_t>(1e9 * static_cast<double>(i) /
                                                               static_cast<double>(given.rate)));
        by.publish(i);
        committed.push_back(measure::now_ns());
    }
    by.finish();
    std::vector<double> us;
    for (std::size_t i = 0; i < committed.size(); ++i)
        if (const auto came = endpoints.last_ns(i); came != 0)
            us.push_back(static_cast<double>(std::max<std::int64_t>(0, came - committed[i])) / 1e3);
    fmt::print("{{\"events\": {}, \"p50_us\": {:.0f}, \"p99_us\": {:.0f}}}\n", us.size(),
               percentile(us, 0.5), percentile(us, 0.99));
}

/// A connection to each endpoint.
void allow_many_files() {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
}

void burst(settings given) {
    constexpr std::uint64_t turns = 20;
    allow_many_files();  // The endpoints' process has them too.
    const receiver endpoints;
    given.port = endpoints.port();
    given.events = turns;
    const scratch place(given.folder);
    minimum by(given, (place.path() / "events.db").string());
    std::vector<double> whole;
    for (std::uint64_t i = 0; i < turns; ++i) {
        by.publish(i);
        const auto committed = measure::now_ns();
        while (by.ended() < (i + 1) * given.subscribers)
            measure::sleep_until(measure::now_ns() + 1'000'000);
        whole.push_back(static_cast<double>(endpoints.last_ns(i) - committed) / 1e6);
    }
    by.finish();
    fmt::print("{{\"endpoints\": {}, \"last_request_ms\": {:.0f}}}\n", given.subscribers,
               percentile(whole, 0.5));
}

void drain(settings given) {
    std::optional<receiver> own;
    if (given.port == 0) given.port = own.emplace().port();
    const auto begun = measure::now_ns();
    given.bare ? post_all(given) : deliver_all(given);
    const auto took = static_cast<double>(measure::now_ns() - begun) / 1e9;
    const auto whole = static_cast<double>(given.events * given.subscribers);
    fmt::print("{{\"deliveries\": {}, \"seconds\": {:.3f}, \"per_second\": {:.0f}}}\n", whole, took,
               whole / took);
}

settings parse(const std::vector<std::string>& words) {
    settings given;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto value = [&] {
            if (++i == words.size()) throw std::invalid_argument(words[i - 1] + " needs a value");
            return words[i];
        };
        if (words[i] == "--bare")
            given.bare = true;
        else if (words[i] == "--mode")
            given.mode = value();
        else if (words[i] == "--rate")
            given.rate = std::stoull(value());
        else if (words[i] == "--seconds")
            given.seconds = std::stod(value());
        else if (words[i] == "--port")
            given.port = static_cast<std::uint16_t>(std::stoul(value()));
        else if (words[i] == "--events")
            given.events = std::stoull(value());
        else if (words[i] == "--subscribers")
            given.subscribers = std::stoull(value());
        else if (words[i] == "--senders")
            given.senders = std::stoull(value());
        else if (words[i] == "--folder")
            given.folder = value();
        else if (words[i] != "--json")  // As all that measure take it; nothing else is printed.
            throw std::invalid_argument("what is " + words[i] + "?");
    }
    if (given.events == 0 || given.subscribers == 0 || given.senders == 0 || given.rate == 0 ||
        !(given.seconds > 0))
        throw std::invalid_argument("no number may be 0");
    return given;
}

void run(const settings& given) {
    if (given.mode == "drain") return drain(given);
    if (given.mode == "rate") return keep_rate(given);
    if (given.mode == "burst") return burst(given);
    throw std::invalid_argument("--mode is drain, rate or burst");
}

}  // namespace
}  // namespace posthorn::bench

int main(int count, char** words) {
    using namespace posthorn::bench;
    try {
        run(parse({words + 1, words + count}));
        return 0;
    } catch (const std::exception& why) {
        fmt::print(stderr, "error: {}\n", why.what());
        return 1;
    }
}
