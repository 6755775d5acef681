#include "app/cli/kit/interruption.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/time/clock.hpp"

namespace posthorn::cli {
namespace {

using std::chrono::milliseconds;

sigset_t kept_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int each : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE, SIGWINCH})
        sigaddset(&set, each);
    return set;
}

}  // namespace

interruption::interruption() {
    const auto kept = kept_signals();
    ::pthread_sigmask(SIG_BLOCK, &kept, &before_);
    signals_ = ::signalfd(-1, &kept, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

interruption::~interruption() {
    // What came meanwhile has been answered; left pending, it would end the process after all.
    while (read_signal() != event::time) {
    }
    ::close(signals_);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

interruption::event interruption::read_signal() const {
    signalfd_siginfo seen{};
    if (::read(signals_, &seen, sizeof seen) != sizeof seen) return event::time;
    return seen.ssi_signo == SIGWINCH ? event::resize : event::end;
}

interruption::event interruption::wait(wish wanted) {
    const real_clock time;
    const auto until = time.steady() + wanted.at_most;
    while (true) {
        const auto left = std::chrono::ceil<milliseconds>(until - time.steady());
        // The reader of a pipe that has gone is an error of our end, asked for or not.
        std::array<pollfd, 3> files{pollfd{signals_, POLLIN, 0}, pollfd{STDOUT_FILENO, 0, 0},
                                    pollfd{wanted.keys ? STDIN_FILENO : -1, POLLIN, 0}};
        const int ready = ::poll(files.data(), files.size(),
                                 static_cast<int>(std::max(left, milliseconds(0)).count()));
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return ready == 0 ? event::time : event::end;
        if (files[0].revents != 0) {
            if (const auto seen = read_signal(); seen != event::time) return seen;
        }
        if ((files[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return event::end;
        if ((files[2].revents & POLLIN) != 0) return event::key;
        if (files[2].revents != 0) return event::end;  // The terminal is gone.
    }
}

}  // namespace posthorn::cli
