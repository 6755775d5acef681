#include "support/process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace posthorn::test {
namespace {

void check(int error_number, const char* what) {
    if (error_number != 0) throw std::system_error(error_number, std::generic_category(), what);
}

struct pipe_ends {
    int read = -1;
    int write = -1;
};

// Not inherited but for the ends that are duplicated on purpose: a second child that held one
// would keep it from ever ending.
pipe_ends open_pipe() {
    int ends[2];
    check(::pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno, "pipe2");
    return {ends[0], ends[1]};
}

// The C library's own function cannot be called from C++ in its version 2.36.
int open_watch(pid_t id) { return static_cast<int>(::syscall(SYS_pidfd_open, id, 0)); }

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
    std::vector<std::string> all;
    for (char** each = ::environ; *each != nullptr; ++each) {
        const std::string text = *each;
        if (!added.contains(text.substr(0, text.find('=')))) all.push_back(text);
    }
    for (const auto& [name, value] : added) all.push_back(name + "=" + value);
    return all;
}

class spawn_actions {
public:
    spawn_actions() { check(::posix_spawn_file_actions_init(&actions_), "posix_spawn"); }
    ~spawn_actions() { ::posix_spawn_file_actions_destroy(&actions_); }
    spawn_actions(const spawn_actions&) = delete;
    spawn_actions& operator=(const spawn_actions&) = delete;

    void duplicate(int from, int to) {
        check(::posix_spawn_file_actions_adddup2(&actions_, from, to), "dup2");
    }
    void change_directory(const std::string& path) {
        check(::posix_spawn_file_actions_addchdir_np(&actions_, path.c_str()), "chdir");
    }
    [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_;
};

}  // namespace

process::process(const std::vector<std::string>& command, const process_options& options) {
    const pipe_ends in = open_pipe();
    const pipe_ends out = open_pipe();
    const pipe_ends err = open_pipe();
    streams_[0].descriptor = out.read;
    streams_[1].descriptor = err.read;
    ::fcntl(out.read, F_SETFL, O_NONBLOCK);
    ::fcntl(err.read, F_SETFL, O_NONBLOCK);
    ::fcntl(in.write, F_SETFL, O_NONBLOCK);
    const auto written = ::write(in.write, options.input.data(), options.input.size());

    spawn_actions actions;
    if (!options.working_directory.empty()) actions.change_directory(options.working_directory);
    actions.duplicate(in.read, STDIN_FILENO);
    actions.duplicate(out.write, STDOUT_FILENO);
    actions.duplicate(err.write, STDERR_FILENO);
    auto words = command;
    auto environment = merged_environment(options.environment);
    const int failure = ::posix_spawn(&id_, command.at(0).c_str(), actions.get(), nullptr,
                                      pointers_to(words).data(), pointers_to(environment).data());
    for (const int ours : {in.read, in.write, out.write, err.write}) ::close(ours);
    if (failure == 0) watch_ = open_watch(id_);
    if (failure != 0 || watch_ < 0 || written != static_cast<ssize_t>(options.input.size())) {
        const int reason = failure != 0 ? failure : errno;
        if (failure == 0) {
            ::kill(id_, SIGKILL);
            ::waitpid(id_, nullptr, 0);
        }
        for (stream& each : streams_) each.close();
        check(reason != 0 ? reason : EMSGSIZE, command.at(0).c_str());
    }
}

process::~process() {
    if (!end_) {
        ::kill(id_, SIGKILL);
        reap();
    }
    for (stream& each : streams_) each.close();
    ::close(watch_);
}

std::optional<std::string> process::read_line(duration limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    for (;;) {
        const auto end = out().find('\n', lines_taken_);
        if (end != std::string::npos) {
            const auto begin = std::exchange(lines_taken_, end + 1);
            return out().substr(begin, end - begin);
        }
        if (streams_[0].descriptor < 0 || !pump(deadline)) return std::nullopt;
    }
}

bool process::comes_to_say(std::string_view text, duration limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!err().contains(text))
        if (streams_[1].descriptor < 0 || !pump(deadline)) return false;
    return true;
}

std::optional<process_end> process::wait(duration limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!end_ || streams_[0].descriptor >= 0 || streams_[1].descriptor >= 0)
        if (!pump(deadline)) return std::nullopt;
    return end_;
}

void process::send_signal(int number) {
    // Once reaped, the number may belong to another process.
    if (!end_) ::kill(id_, number);
}

// Waits for one event and takes it in; false past the deadline.
bool process::pump(time_point deadline) {
    const auto left = std::chrono::ceil<duration>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 3> waiting{pollfd{streams_[0].descriptor, POLLIN, 0},
                                  pollfd{streams_[1].descriptor, POLLIN, 0},
                                  pollfd{end_ ? -1 : watch_, POLLIN, 0}};
    const int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) check(errno, "poll");
    if (ready <= 0) return ready < 0;
    for (std::size_t i = 0; i < streams_.size(); ++i)
        if (waiting[i].revents != 0) streams_[i].drain();
    if (waiting[2].revents != 0) reap();
    return true;
}

void process::stream::drain() {
    std::array<char, 4096> chunk;
    for (;;) {
        const auto bytes = ::read(descriptor, chunk.data(), chunk.size());
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes < 0 && errno == EAGAIN) return;
        if (bytes <= 0) return close();
        text.append(chunk.data(), static_cast<std::size_t>(bytes));
    }
}

void process::stream::close() {
    if (descriptor >= 0) ::close(std::exchange(descriptor, -1));
}

bool process::handles(int number) const {
    constexpr std::string_view caught = "SigCgt:";
    std::ifstream status("/proc/" + std::to_string(id_) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (!line.starts_with(caught)) continue;
        const auto mask = std::stoull(line.substr(caught.size()), nullptr, 16);
        return (mask >> (number - 1) & 1) != 0;
    }
    return false;
}

bool process::is_stopped() const {
    namespace fs = std::filesystem;
    std::error_code gone;
    const fs::directory_iterator threads("/proc/" + std::to_string(id_) + "/task", gone);
    return !gone && std::ranges::all_of(threads, [](const fs::directory_entry& thread) {
        std::string line;
        std::getline(std::ifstream(thread.path() / "stat") >> std::ws, line);
        return line.contains(") T ");
    });
}

void process::reap() {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0)
        if (errno != EINTR) return;
    end_ =
        WIFEXITED(status) ? process_end{WEXITSTATUS(status), 0} : process_end{-1, WTERMSIG(status)};
}

process_result run_process(const std::vector<std::string>& command,
                           const process_options& options) {
    process child(command, options);
    const auto end = child.wait();
    if (!end) throw std::runtime_error(command.at(0) + " did not end in time");
    return {*end, child.out(), child.err()};
}

}  // namespace posthorn::test
