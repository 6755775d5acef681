#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.hpp"

namespace posthorn::cli {

/// Another run of this program, whose output goes to the end of a file.
///
/// It is in a process group of its own, so that Ctrl-C reaches us alone, and dies with the thread
/// that started it, so that none is left behind.
///
/// Lifetime: what still runs in the destructor is killed.
/// Threads:  one, which lives as long as the child is needed.
class child_process {
public:
    static result<child_process> start(const std::vector<std::string>& arguments,
                                       const std::filesystem::path& output);
    ~child_process();
    child_process(child_process&& other) noexcept;
    child_process& operator=(child_process&& other) noexcept;
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    void send_signal(int number) const;
    /// SIGKILL, and waits for its end: not even the program itself can hinder that.
    void kill_now();
    /// Whether it has ended by itself, or by a signal that was sent.
    [[nodiscard]] bool has_ended();

private:
    explicit child_process(pid_t id) : id_(id) {}

    pid_t id_ = -1;  // -1 once it has ended.
};

}  // namespace posthorn::cli
