#pragma once

#include <chrono>

#include <signal.h>

namespace posthorn::cli {

/// What ends a command that would go on for ever: Ctrl-C, SIGTERM, a terminal that was closed, a
/// reader of its output that went away. They do not end the process as long as this is there, so
/// that the command can leave everything as it was.
///
/// Lifetime: made before any thread is, since threads inherit what is kept from them.
/// Threads:  one.
class interruption {
public:
    interruption();
    ~interruption();
    interruption(const interruption&) = delete;
    interruption& operator=(const interruption&) = delete;

    enum class event : unsigned char { time, key, resize, end };
    struct wish {
        std::chrono::milliseconds at_most{};
        bool keys = false;  // Whether a key ends it too.
    };
    /// Waits for the first of what is wished for.
    [[nodiscard]] event wait(wish wanted);

private:
    [[nodiscard]] event read_signal() const;

    sigset_t before_{};
    int signals_ = -1;
};

}  // namespace posthorn::cli
