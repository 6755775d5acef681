// One of two services that send each other links of a chain without end, in a process of its own,
// through the public API alone. Each transaction adds a link and sends it; what has returned is
// said on standard output.
//
// usage: crash_pair_node CONFIG PEER LIFE    adds links of that life until SIGUSR1, ends at SIGTERM
//
// Its log goes to CONFIG.log: nobody reads a pipe while the other service is waited for.
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <posthorn/node.hpp>

#include "crash/chain.hpp"
#include "crash/pair_words.hpp"

namespace {

using namespace std::chrono_literals;
using posthorn::crash::link_hash;

// One write, so that lines of several threads never mix and none stays in a buffer.
void say(const std::string& line) {
    const auto whole = line + "\n";
    if (::write(STDOUT_FILENO, whole.data(), whole.size()) < 0) ::_exit(4);
}

/// Adds links until it is told to stop, about one each five milliseconds: enough to be at work at
/// any moment, and little enough to look through afterwards.
class load {
public:
    load(posthorn::node& with, std::string peer, std::string life)
        : node_(with), peer_(std::move(peer)), life_(std::move(life)) {
        for (int i = 0; i < 2; ++i) callers_.emplace_back([this] { run(); });
    }
    void stop() {
        {
            const std::scoped_lock lock(mutex_);
            stopped_ = true;
        }
        stopping_.notify_all();
        callers_.clear();
    }

private:
    void run() {
        std::unique_lock lock(mutex_);
        while (!stopping_.wait_for(lock, 10ms, [this] { return stopped_; })) {
            lock.unlock();
            add();
            lock.lock();
        }
    }
    void add() {
        try {
            say("committed " + std::to_string(node_.transact(
                                   [this](posthorn::transaction& tx) { return add_link(tx); })));
        } catch (const posthorn::error& refused) {
            say("refused " + std::string(refused.name()));
        }
    }
    std::int64_t add_link(posthorn::transaction& tx) const {
        const auto last =
            tx.query_value<std::int64_t>("SELECT max(n) FROM chain WHERE life = ?", life_)
                .value_or(0);
        const auto before = tx.query_value<std::string>(
                                  "SELECT hash FROM chain WHERE life = ? AND n = ?", life_, last)
                                .value_or("");
        const auto hash = link_hash(last + 1, life_ + before);
        tx.execute("INSERT INTO chain VALUES (?, ?, ?)", life_, last + 1, hash);
        tx.send(peer_, "Link",
                R"({"life":")" + life_ + R"(","n":)" + std::to_string(last + 1) + R"(,"hash":")" +
                    hash + R"(","canary":")" + posthorn::crash::canary_payload + "\"}",
                {.order_key = posthorn::crash::key_of(last + 1)});
        return last + 1;
    }

    posthorn::node& node_;
    std::string peer_;
    std::string life_;
    std::mutex mutex_;
    std::condition_variable stopping_;
    bool stopped_ = false;
    std::vector<std::jthread> callers_;
};

void make_tables(posthorn::node& in) {
    in.transact([](posthorn::transaction& tx) {
        // Nothing here is unique, so that a double effect shows.
        tx.execute("CREATE TABLE IF NOT EXISTS chain (life TEXT, n INTEGER, hash TEXT)");
        tx.execute("CREATE INDEX IF NOT EXISTS chain_n ON chain (life, n)");
        tx.execute(
            "CREATE TABLE IF NOT EXISTS effects"
            " (message_id TEXT, life TEXT, n INTEGER, hash TEXT, receipt TEXT)");
    });
}

// Another receipt each time, so that a second run could not pass for a cached response.
std::string take_link(posthorn::context& c, const posthorn::message& m) {
    auto receipt = c.query_value<std::string>("SELECT 'receipt ' || hex(randomblob(8))").value();
    c.execute("INSERT INTO effects SELECT ?1, ?2 ->> 'life', ?2 ->> 'n', ?2 ->> 'hash', ?3",
              m.id.to_string(), m.payload, receipt);
    return receipt;
}

std::string_view name_of(posthorn::health_level level) {
    switch (level) {
        case posthorn::health_level::green: return "green";
        case posthorn::health_level::yellow: return "yellow";
        case posthorn::health_level::red: break;
    }
    return "red";
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 4) return 2;
    sigset_t steering;
    sigemptyset(&steering);
    for (const int each : {SIGUSR1, SIGTERM}) sigaddset(&steering, each);
    sigprocmask(SIG_BLOCK, &steering, nullptr);

    auto from = posthorn::load(arguments[1]);
    const auto log_file = std::string(arguments[1]) + ".log";
    const int log = ::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    from.options.log_sink = [log](std::string_view line) {
        const auto whole = std::string(line) + "\n";
        if (::write(log, whole.data(), whole.size()) < 0) ::_exit(4);
    };
    posthorn::node node(std::move(from));
    make_tables(node);
    node.handle("Link", take_link);
    node.start();
    say("start");
    load links(node, arguments[2], arguments[3]);
    std::string_view health;
    for (;;) {
        constexpr timespec moment{.tv_sec = 0, .tv_nsec = 2'000'000};
        const int told = sigtimedwait(&steering, nullptr, &moment);
        if (told == SIGUSR1) {
            links.stop();
            say("quiet");
        }
        if (told == SIGTERM) break;
        if (const auto now = name_of(node.health().level); now != health)
            say("health " + std::string(health = now));
    }
    links.stop();
    node.stop();
    return 0;
}
