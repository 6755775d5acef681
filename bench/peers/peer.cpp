#include "peers/peer.hpp"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "common/scratch.hpp"
#include "limit/inbox.hpp"
#include "limit/outbox.hpp"
#include "measure/payload.hpp"
#include "peers/plain_outbox.hpp"

namespace posthorn::bench {
namespace {

/// How many connections publish: while one waits for the server, another prepares.
constexpr int connections = 2;
/// Of the pipelines of all connections together, so that one does not take what is there alone.
constexpr std::size_t publish_max = 512;

/// A queue that publishers take batches from.
template <class Item>
class batch_queue {
public:
    void add(Item one) {
        const std::scoped_lock guard(lock_);
        items_.push_back(std::move(one));
        changed_.notify_one();
    }
    void add_all(std::vector<Item> many) {
        const std::scoped_lock guard(lock_);
        for (auto& one : many) items_.push_back(std::move(one));
        changed_.notify_one();
    }
    /// Nothing at the end.
    std::vector<Item> take() {
        std::unique_lock held(lock_);
        changed_.wait(held, [this] { return closed_ || !items_.empty(); });
        std::vector<Item> taken;
        while (!items_.empty() && taken.size() < publish_max) {
            taken.push_back(std::move(items_.front()));
            items_.pop_front();
        }
        if (!items_.empty()) changed_.notify_one();
        return taken;
    }
    void close() {
        const std::scoped_lock guard(lock_);
        closed_ = true;
        changed_.notify_all();
    }

private:
    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<Item> items_;
    bool closed_ = false;
};

class peer_sender : public measured_sender {
public:
    peer_sender(const std::filesystem::path& folder, measure::board& shared, pid_t receiver,
                peer& to)
        : measured_sender(folder, shared, {::getpid(), receiver}), to_(to) {}

protected:
    [[nodiscard]] std::int64_t more_syncs() override { return to_.syncs(); }
    [[nodiscard]] peer& to() { return to_; }

private:
    peer& to_;
};

class bare_sender final : public peer_sender {
public:
    bare_sender(const std::filesystem::path& folder, measure::board& shared, pid_t receiver,
                peer& to)
        : peer_sender(folder, shared, receiver, to) {
        for (int i = 0; i < connections; ++i)
            threads_.emplace_back([this, wire = this->to().publish()] { run(*wire); });
    }
    ~bare_sender() override { waiting_.close(); }

    void send(std::uint64_t index) override {
        std::atomic<int> confirmed = 0;
        post(index, [&confirmed] {
            confirmed.store(1);
            confirmed.notify_one();
        });
        confirmed.wait(0);
    }
    void post(std::uint64_t index, std::function<void()> done) override {
        waiting_.add({index, std::move(done)});
    }

private:
    struct request {
        std::uint64_t index = 0;
        std::function<void()> done;
    };

    void run(publisher& wire) {
        std::vector<std::string> bodies;
        for (auto batch = waiting_.take(); !batch.empty(); batch = waiting_.take()) {
            bodies.clear();
            for (const auto& one : batch) bodies.push_back(measure::make_payload(one.index));
            wire.publish(bodies);
            for (const auto& one : batch) one.done();
        }
    }

    batch_queue<request> waiting_;
    std::vector<std::jthread> threads_;
};

// Sixteen bytes of id and eight of expiry before the payload.
std::string body_of(const stored_message& one) {
    std::string body;
    body.reserve(24 + one.payload.size());
    body.append(reinterpret_cast<const char*>(one.id.data()), one.id.size());
    body.append(reinterpret_cast<const char*>(&one.expires_ms), sizeof one.expires_ms);
    return body += one.payload;
}

arrived_message message_in(std::string_view body) {
    arrived_message one{
        .id = {reinterpret_cast<const std::uint8_t*>(body.data()), sizeof(message_id)}};
    body.remove_prefix(sizeof(message_id));
    std::copy_n(body.data(), sizeof one.expires_ms, reinterpret_cast<char*>(&one.expires_ms));
    one.payload = body.substr(sizeof one.expires_ms);
    return one;
}

class outbox_sender final : public peer_sender {
public:
    outbox_sender(const std::filesystem::path& folder, const std::filesystem::path& rows,
                  measure::board& shared, pid_t receiver, peer& to)
        : peer_sender(folder, shared, receiver, to),
          rows_(rows / "orders.db",
                [this](std::vector<stored_message> batch) { waiting_.add_all(std::move(batch)); }) {
        for (int i = 0; i < connections; ++i)
            relays_.emplace_back([this, wire = this->to().publish()] { relay(*wire); });
    }
    ~outbox_sender() override { waiting_.close(); }

    void send(std::uint64_t index) override { rows_.add(index); }
    void post(std::uint64_t index, std::function<void()> done) override {
        rows_.add_then(index, std::move(done));
    }
    void wait_settled() override { rows_.wait_settled(); }

private:
    void relay(publisher& wire) {
        std::vector<std::string> bodies;
        for (auto batch = waiting_.take(); !batch.empty(); batch = waiting_.take()) {
            bodies.clear();
            for (const auto& one : batch) bodies.push_back(body_of(one));
            wire.publish(bodies);
            rows_.settle(batch.front().seq, batch.back().seq);
        }
    }

    batch_queue<stored_message> waiting_;
    outbox rows_;
    std::vector<std::jthread> relays_;
};

class plain_sender final : public peer_sender {
public:
    plain_sender(const std::filesystem::path& folder, const std::filesystem::path& rows,
                 measure::board& shared, pid_t receiver, peer& to)
        : peer_sender(folder, shared, receiver, to),
          rows_(rows / "orders.db"),
          relay_([this, wire = this->to().publish()] { relay(*wire); }) {}
    ~plain_sender() override { rows_.close(); }

    void send(std::uint64_t index) override { rows_.add(index); }
    void post(std::uint64_t index, std::function<void()> done) override {
        rows_.add(index);
        done();
    }
    void wait_settled() override { rows_.wait_settled(); }

private:
    void relay(publisher& wire) {
        std::vector<std::string> bodies;
        for (auto batch = rows_.take_due(publish_max); !batch.empty();
             batch = rows_.take_due(publish_max)) {
            bodies.clear();
            for (const auto& one : batch) bodies.push_back(body_of(one));
            wire.publish(bodies);
            rows_.settle(batch.front().seq, batch.back().seq);
        }
    }

    plain_outbox rows_;
    std::jthread relay_;
};

void receive_bare(peer& from, measure::board& shared) {
    const auto wire = from.consume();
    shared.set_state(measure::board::receiver_state::ready);
    std::vector<std::uint64_t> indexes;
    std::uint64_t count = 0;
    while (!shared.must_stop()) {
        indexes.clear();
        for (const auto body : wire->receive()) indexes.push_back(measure::index_of(body));
        if (indexes.empty()) continue;
        shared.effect(indexes);
        wire->acknowledge();
        count += indexes.size();
    }
    shared.set_rows(count);
}

void receive_once(peer& from, const std::filesystem::path& folder, measure::board& shared) {
    inbox rows(folder / "billing.db");
    const auto wire = from.consume();
    shared.set_state(measure::board::receiver_state::ready);
    std::vector<arrived_message> messages;
    while (!shared.must_stop()) {
        messages.clear();
        for (const auto body : wire->receive()) messages.push_back(message_in(body));
        if (messages.empty()) continue;
        shared.effect(rows.apply(messages));
        wire->acknowledge();
    }
    shared.set_rows(rows.count_effects());
}

void measure_load(const std::filesystem::path& folder, const arguments& given,
                  const peer_program& program, peer& to) {
    auto what = program.what;
    what.guarantee = given.bare ? "bare" : "exactly-once";
    to.begin(given);
    const scratch rows(
        folder);  // Of this load alone; what is used is counted in all of the folder.
    measure_two_processes(
        folder, given, what,
        [&](const std::filesystem::path&, measure::board& shared) {
            if (given.bare)
                receive_bare(to, shared);
            else if (program.own_receiver)
                program.own_receiver(to, shared);
            else
                receive_once(to, rows.path(), shared);
        },
        [&](const std::filesystem::path&, measure::board& shared,
            pid_t receiver) -> std::unique_ptr<measure::sender> {
            if (given.bare) return std::make_unique<bare_sender>(folder, shared, receiver, to);
            if (program.own_sender) return program.own_sender(folder, shared, receiver, to);
            if (given.plain)
                return std::make_unique<plain_sender>(folder, rows.path(), shared, receiver, to);
            return std::make_unique<outbox_sender>(folder, rows.path(), shared, receiver, to);
        });
}

/// In a process of its own; true if it went well.
bool in_another_process(const std::function<void()>& work) {
    const auto id = ::fork();
    if (id < 0) throw std::runtime_error("cannot start another process");
    if (id == 0) {
        try {
            work();
            ::_exit(0);
        } catch (const std::exception& failure) {
            std::fprintf(stderr, "error: %s\n", failure.what());
            ::_exit(1);
        }
    }
    int status = 0;
    while (::waitpid(id, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0;
}

}  // namespace

void measure_peer(const arguments& given, const peer_program& program) {
    const auto loads = loads_of(given);
    const auto whole = [&](const arguments& load) {
        const scratch place(load.folder);
        const auto to = program.start(place.path(), load);
        measure_load(place.path(), load, program, *to);
    };
    int failed = 0;
    if (program.leaves_threads && loads.size() > 1) {
        for (const auto& load : loads) failed += in_another_process([&] { whole(load); }) ? 0 : 1;
    } else {
        const scratch place(given.folder);
        const auto to = program.start(place.path(), loads.front());
        for (const auto& load : loads) measure_load(place.path(), load, program, *to);
    }
    if (failed > 0) throw std::runtime_error(std::to_string(failed) + " loads failed");
}

int peer_main(int count, char** words, peer_program (*make)(const arguments& given)) {
    try {
        const auto given = parse_arguments(count, words, {"tcp"});
        measure_peer(given, make(given));
        return 0;
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "error: %s\n", failure.what());
        return 1;
    }
}

}  // namespace posthorn::bench
