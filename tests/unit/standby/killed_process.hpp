#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace posthorn::standby {

/// A process that is ended by nothing but a kill.
class killed_process {
public:
    /// `work` writes what it has to say to the descriptor that it is given.
    explicit killed_process(const std::function<void(int)>& work) {
        std::array<int, 2> ends{};
        EXPECT_EQ(::pipe(ends.data()), 0);
        id_ = ::fork();
        if (id_ == 0) {
            ::close(ends[0]);
            work(ends[1]);
            ::_exit(0);
        }
        ::close(ends[1]);
        from_ = ends[0];
    }
    ~killed_process() {
        kill();
        ::close(from_);
    }
    killed_process(const killed_process&) = delete;
    killed_process& operator=(const killed_process&) = delete;

    void kill() {
        if (id_ > 0) {
            ::kill(id_, SIGKILL);
            ::waitpid(id_, nullptr, 0);
        }
        id_ = 0;
    }
    /// The next number that it says; empty once it has said all.
    [[nodiscard]] std::optional<std::int64_t> hear() const {
        std::int64_t said = 0;
        return ::read(from_, &said, sizeof said) == sizeof said ? std::optional(said)
                                                                : std::nullopt;
    }

private:
    pid_t id_ = 0;
    int from_ = -1;
};

inline void say(int to, std::int64_t number) {
    if (::write(to, &number, sizeof number) != sizeof number) ::_exit(1);
}

}  // namespace posthorn::standby
