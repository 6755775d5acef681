#include "app/cli/kit/terminal.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace posthorn::cli {

std::size_t terminal_columns() {
    if (::isatty(STDOUT_FILENO) != 1) return 0;
    const char* const told = std::getenv("COLUMNS");
    const std::string_view text = told != nullptr ? told : "";
    std::size_t columns = 0;
    std::from_chars(text.data(), text.data() + text.size(), columns);
    if (columns > 0) return columns;
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace posthorn::cli
