// The hand-written minimum of what Posthorn does, with nothing but SQLite, a socket and HMAC: the
// yardstick. Two processes. The sender commits a business row and an outbox row for each message
// (synchronous=FULL, concurrent senders share a commit), sends batches that it signs, checks the
// signed answers, and marks the rows as sent. The receiver commits an inbox row that recognises
// repeats and a business row for each (FULL, one commit for what came together) before it answers.
//
// It leaves out what is not needed for that: retries, a sweep, expiry, any choice of handlers,
// savepoints between senders (a broken group would be run again one by one), JSON.
//
//   bench_limit [--transport unix|http] [--mode concurrent|serial|rate] [--senders N] [--chained]
//               [--seconds N] [--rate N] [--folder DIR] [--json]
#include <cstdio>
#include <exception>
#include <memory>

#include <sqlite3.h>
#include <unistd.h>

#include "common/arguments.hpp"
#include "common/scratch.hpp"
#include "common/two_processes.hpp"
#include "limit/inbox.hpp"
#include "limit/link.hpp"
#include "limit/outbox.hpp"
#include "limit/wire.hpp"
#include "measure/sync_watch.hpp"

namespace posthorn::bench {
namespace {

constexpr std::string_view shared_key = "a secret that both ends of this measurement know";

/// All messages that have come are applied in one commit, whatever requests they came in.
class receiver {
public:
    receiver(framing as, const std::filesystem::path& folder, measure::board& shared)
        : as_(as),
          shared_(shared),
          rows_(folder / "billing.db"),
          requests_(shared_key),
          answers_(shared_key),
          door_(as, folder / "billing.sock") {}

    void run() {
        shared_.set_state(measure::board::receiver_state::ready, door_.address());
        const auto socket = door_.accept();
        std::string stream;
        while (socket.read_some(stream)) serve(socket, stream);
        shared_.set_rows(rows_.count_effects());
    }

private:
    void serve(const stream_socket& socket, std::string& stream) {
        std::size_t used = 0;
        messages_.clear();
        out_.clear();
        while (const auto request = next_frame(std::string_view(stream).substr(used), as_)) {
            if (!mac::equal(request->signature, requests_.sign(request->body)))
                throw std::runtime_error("a request is not signed by the sender");
            const auto before = messages_.size();
            decode(request->body, messages_);
            const std::string body(messages_.size() - before, '\1');
            const std::string_view signed_request(
                reinterpret_cast<const char*>(request->signature.data()),
                request->signature.size());
            append_frame(out_, as_, direction::answer, answers_.sign(signed_request, body), body);
            used += request->size;
        }
        if (used == 0) return;
        shared_.effect(rows_.apply(messages_));
        socket.write_all(out_);  // Only now: what it says is on disk.
        stream.erase(0, used);
    }

    framing as_;
    measure::board& shared_;
    inbox rows_;
    mac requests_;
    mac answers_;
    listener door_;
    std::vector<arrived_message> messages_;
    std::string out_;
};

class limit_sender final : public measured_sender {
public:
    limit_sender(framing as, const std::filesystem::path& folder, measure::board& shared,
                 pid_t receiver)
        : measured_sender(folder, shared, {::getpid(), receiver}),
          way_(as, shared.text()),
          rows_(folder / "orders.db",
                [this](std::vector<stored_message> batch) { way_.offer(std::move(batch)); }) {
        way_.start(rows_);
    }

    void send(std::uint64_t index) override { rows_.add(index); }
    void post(std::uint64_t index, std::function<void()> done) override {
        rows_.add_then(index, std::move(done));
    }
    void wait_settled() override { rows_.wait_settled(); }

private:
    link way_;
    outbox rows_;
};

void run(const arguments& given) {
    const auto as = given.transport == "http" ? framing::http : framing::unix_socket;
    const scratch place(given.folder);
    measure_two_processes(
        place.path(), given, {.name = "limit", .transport = given.transport},
        [as](const std::filesystem::path& folder, measure::board& shared) {
            receiver(as, folder, shared).run();
        },
        [as](const std::filesystem::path& folder, measure::board& shared, pid_t other) {
            return std::make_unique<limit_sender>(as, folder, shared, other);
        });
}

}  // namespace
}  // namespace posthorn::bench

int main(int count, char** words) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);  // As the program does.
    try {
        posthorn::bench::run(posthorn::bench::parse_arguments(count, words, {"unix", "http"}));
        return 0;
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "error: %s\n", failure.what());
        return 1;
    }
}
