#include "common/two_processes.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/pace.hpp"
#include "measure/sync_watch.hpp"

namespace posthorn::bench {
namespace {

namespace fs = std::filesystem;
using state = measure::board::receiver_state;

constexpr std::int64_t second_ns = 1'000'000'000;

/// The receiving process.
class child {
public:
    child(const receive_function& receive, const fs::path& folder, measure::board& shared)
        : shared_(shared) {
        const auto parent = ::getpid();
        id_ = ::fork();
        if (id_ < 0) throw std::runtime_error("cannot start another process");
        if (id_ == 0) be_receiver(receive, folder, parent);
    }
    ~child() {
        if (id_ <= 0) return;
        ::kill(id_, SIGKILL);
        ::waitpid(id_, nullptr, 0);
    }
    child(const child&) = delete;
    child& operator=(const child&) = delete;

    [[nodiscard]] pid_t id() const { return id_; }

    void wait() {
        shared_.ask_to_stop();
        const auto until = measure::now_ns() + 30 * second_ns;
        while (::waitpid(id_, nullptr, WNOHANG) == 0) {
            if (measure::now_ns() > until) throw std::runtime_error("the receiver does not end");
            measure::sleep_until(measure::now_ns() + 1'000'000);
        }
        id_ = -1;
        if (shared_.state() != state::ended)
            throw std::runtime_error("the receiver failed: " + shared_.text());
    }

private:
    [[noreturn]] void be_receiver(const receive_function& receive, const fs::path& folder,
                                  pid_t parent) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(1);
        measure::watch_syncs([this] { shared_.add_syncs(1); });
        try {
            receive(folder, shared_);
            shared_.set_state(state::ended);
        } catch (const std::exception& failure) {
            shared_.set_state(state::failed, failure.what());
        }
        ::_exit(0);
    }

    measure::board& shared_;
    pid_t id_ = -1;
};

void show_progress(double part) {
    if (::isatty(STDERR_FILENO) != 1) return;
    constexpr int width = 30;
    const auto marks = static_cast<std::size_t>(part * width);
    fmt::print(stderr, "\r\033[K[{:#>{}}{:.>{}}] {:>3.0f} %", "", marks, "", width - marks,
               part * 100);
    if (part >= 1) fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
}

}  // namespace

measure::usage measured_sender::used() {
    auto sum = measure::usage_of(processes_, folder_);
    const auto more = more_syncs();
    sum.syncs =
        more < 0
            ? -1
            : static_cast<std::int64_t>(measure::syncs_so_far() + shared_.receiver_syncs()) + more;
    return sum;
}

void measure_two_processes(const fs::path& folder, const arguments& given,
                           const measure::subject& what, const receive_function& receive,
                           const sender_function& make) {
    measure::board shared;
    child receiver(receive, folder, shared);
    if (!shared.wait_ready(measure::now_ns() + 30 * second_ns))
        throw std::runtime_error("the receiver did not start: " + shared.text());
    measure::watch_syncs({});
    auto from = make(folder, shared, receiver.id());
    const auto seen = measure::run_load(given.load, *from, shared, show_progress);
    show_progress(1);
    from.reset();
    receiver.wait();
    if (shared.rows() != seen.all_messages)
        throw std::runtime_error(fmt::format("{} messages were sent and {} are there",
                                             seen.all_messages, shared.rows()));
    fmt::print("{}\n", given.json ? to_json(what, seen) : to_text(what, seen));
    std::fflush(stdout);
}

}  // namespace posthorn::bench
