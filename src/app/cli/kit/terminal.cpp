#include "app/cli/kit/terminal.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace posthorn::cli {
namespace {

std::string_view variable(const char* name) {
    const char* const told = std::getenv(name);
    return told != nullptr ? told : "";
}

std::size_t number_in(const char* name) {
    const auto text = variable(name);
    std::size_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

terminal_extent terminal_size() {
    if (::isatty(STDOUT_FILENO) != 1) return {};
    terminal_extent size{number_in("COLUMNS"), number_in("LINES")};
    winsize seen{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &seen) != 0) return size;
    if (size.columns == 0) size.columns = seen.ws_col;
    if (size.rows == 0) size.rows = seen.ws_row;
    return size;
}

bool terminal_has_colours() {
    return ::isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty() &&
           variable("TERM") != "dumb";
}

}  // namespace posthorn::cli
