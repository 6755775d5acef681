#include "crash/worker_points.hpp"

#include <array>
#include <csignal>
#include <string>

#include <pthread.h>
#include <unistd.h>

namespace posthorn::crash {
namespace {

sigset_t our_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGUSR1, SIGTERM, SIGINT}) sigaddset(&set, number);
    return set;
}

}  // namespace

void say(std::string_view line) {
    const std::string whole = std::string(line) + "\n";
    // One write, so that lines of several threads never mix and none stays in a buffer.
    if (::write(STDOUT_FILENO, whole.data(), whole.size()) < 0) ::_exit(4);
}

void crash_points::reach(std::string_view name) const {
    if (!is(name)) return;
    say("at: " + std::string(name));
    for (;;) ::pause();
}

signal_gate::signal_gate() {
    const auto set = our_signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    listener_ = std::jthread([this] { listen(); });
}

signal_gate::~signal_gate() {
    pthread_kill(listener_.native_handle(), SIGINT);  // Ends the listener.
}

void signal_gate::listen() {
    const auto set = our_signals();
    int number = 0;
    while (sigwait(&set, &number) == 0 && number != SIGINT) {
        auto& told = number == SIGUSR1 ? open_ : end_;
        told = true;
        told.notify_all();
    }
}

}  // namespace posthorn::crash
