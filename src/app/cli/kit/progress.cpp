#include "app/cli/kit/progress.hpp"

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

namespace posthorn::cli {

std::string progress_line(const progress_state& at, std::string_view note) {
    constexpr std::int64_t width = 20;
    const auto all = std::max<std::int64_t>(at.all, 1);
    const auto done = std::clamp<std::int64_t>(at.done, 0, all);
    // As a fraction first: numbers of rows times a hundred could be too large.
    const auto part = static_cast<double>(done) / static_cast<double>(all);
    const auto marks = static_cast<std::size_t>(part * static_cast<double>(width));
    return fmt::format("[{}{}] {:>3} % {}", std::string(marks, '#'),
                       std::string(static_cast<std::size_t>(width) - marks, '.'),
                       static_cast<int>(part * 100), note.substr(0, 30));
}

progress_bar::progress_bar(const console& terminal, bool silent)
    : out_(terminal.err),
      // A program that runs a command itself gives it streams of its own.
      on_terminal_(!silent && &terminal.err == &std::cerr && ::isatty(STDERR_FILENO) == 1) {}

void progress_bar::show(const progress_state& at, std::string_view note) {
    if (!on_terminal_) return;
    drawn_ = true;
    out_ << "\r\x1b[K" << progress_line(at, note) << std::flush;
}

void progress_bar::finish() {
    if (drawn_) out_ << "\r\x1b[K" << std::flush;
    drawn_ = false;
}

}  // namespace posthorn::cli
