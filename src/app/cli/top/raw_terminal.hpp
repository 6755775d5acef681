#pragma once

#include <string>

#include <termios.h>

namespace posthorn::cli {

/// The terminal of standard input and output as a page of ours: keys come at once and unseen, what
/// was there is kept aside, and all of it is as before when this is gone.
///
/// Lifetime: inside an `interruption`, so that no signal ends the process while it is there.
/// Threads:  one.
class raw_terminal {
public:
    /// Whether there is one, at both ends.
    [[nodiscard]] static bool is_there();

    raw_terminal();
    ~raw_terminal();
    raw_terminal(const raw_terminal&) = delete;
    raw_terminal& operator=(const raw_terminal&) = delete;

    /// The bytes of the keys that were pressed; empty if the terminal has gone.
    [[nodiscard]] std::string read();
    void write(std::string_view text);

private:
    termios before_{};
};

}  // namespace posthorn::cli
