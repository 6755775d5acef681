#include "app/cli/top/raw_terminal.hpp"

#include <array>
#include <cerrno>
#include <string_view>

#include <unistd.h>

namespace posthorn::cli {

bool raw_terminal::is_there() {
    return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

raw_terminal::raw_terminal() {
    ::tcgetattr(STDIN_FILENO, &before_);
    auto raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    // Ctrl-C stays a signal. Stopped with Ctrl-Z, we would leave the terminal as it is.
    raw.c_cc[VSUSP] = _POSIX_VDISABLE;
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    write("\033[?1049h\033[?25l");  // Another screen, no cursor.
}

raw_terminal::~raw_terminal() {
    write("\033[?25h\033[?1049l");
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

std::string raw_terminal::read() {
    std::array<char, 256> bytes{};
    const auto got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : std::string{};
}

void raw_terminal::write(std::string_view text) {
    while (!text.empty()) {
        const auto done = ::write(STDOUT_FILENO, text.data(), text.size());
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return;  // It has gone, which the next wait notices.
        text.remove_prefix(static_cast<std::size_t>(done));
    }
}

}  // namespace posthorn::cli
