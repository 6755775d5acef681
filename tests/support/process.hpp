#pragma once

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace posthorn::test {

/// How a process ended.
struct process_end {
    int exit_code = -1;  // -1 if a signal ended it.
    int signal = 0;      // 0 if it ended by itself.

    bool operator==(const process_end&) const = default;
};

struct process_options {
    std::map<std::string, std::string> environment = {};  // Beside what we inherited ourselves.
    std::string working_directory = {};                   // Ours if empty.
    std::string input = {};  // What it reads from standard input, at most a pipe's 64 KiB.
};

/// A child process with its output in our hands.
///
/// Every wait has a deadline and waits for an event: a line, the end of a stream, the end of the
/// process. Both streams are read whenever we wait, so that the child never blocks on a full pipe.
///
/// Lifetime: starts in the constructor, which throws `std::system_error` if it cannot; what still
///           runs in the destructor is killed and reaped.
/// Threads:  one at a time.
class process {
public:
    using duration = std::chrono::milliseconds;
    static constexpr duration patience = std::chrono::minutes(2);  // For what hangs.

    /// `command` is the program's path and its arguments.
    explicit process(const std::vector<std::string>& command, const process_options& options = {});
    ~process();
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    /// The next line of standard output without its end; nothing at the end or past the deadline.
    [[nodiscard]] std::optional<std::string> read_line(duration limit = patience);
    /// Whether standard error comes to hold `text` before it ends and before the deadline.
    [[nodiscard]] bool comes_to_say(std::string_view text, duration limit = patience);
    /// Waits until the process has ended and its output is complete; nothing past the deadline.
    [[nodiscard]] std::optional<process_end> wait(duration limit = patience);
    void send_signal(int number);
    /// Whether it has taken over what this signal does: sent earlier, it would simply end it.
    [[nodiscard]] bool handles(int number) const;
    /// Whether all its threads stand still, some time after it was sent `SIGSTOP`.
    [[nodiscard]] bool is_stopped() const;

    [[nodiscard]] pid_t id() const noexcept { return id_; }
    /// All that was read so far, lines already taken included; complete after `wait`.
    [[nodiscard]] const std::string& out() const noexcept { return streams_[0].text; }
    [[nodiscard]] const std::string& err() const noexcept { return streams_[1].text; }

private:
    struct stream {
        int descriptor = -1;  // -1 once it has ended.
        std::string text;
        void drain();
        void close();
    };
    using time_point = std::chrono::steady_clock::time_point;

    bool pump(time_point deadline);
    void reap();

    pid_t id_ = -1;
    int watch_ = -1;  // Becomes readable when the process ends.
    std::array<stream, 2> streams_;
    std::size_t lines_taken_ = 0;  // Bytes of standard output that `read_line` has given out.
    std::optional<process_end> end_;
};

/// Runs a command to its end; throws `std::runtime_error` past the deadline.
struct process_result {
    process_end end;
    std::string out;
    std::string err;
};
[[nodiscard]] process_result run_process(const std::vector<std::string>& command,
                                         const process_options& options = {});

}  // namespace posthorn::test
