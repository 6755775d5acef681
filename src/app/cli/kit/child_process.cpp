#include "app/cli/kit/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace posthorn::cli {
namespace {

// Between fork and exec, where a process with threads may do very little.
[[noreturn]] void become(char* const* command, int output, pid_t parent) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);  // It went before we asked.
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    sigset_t none;
    ::sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    ::execv("/proc/self/exe", command);
    ::_exit(127);
}

}  // namespace

result<child_process> child_process::start(const std::vector<std::string>& arguments,
                                           const std::filesystem::path& output) {
    std::vector<std::string> words{"posthorn"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> command;
    for (auto& word : words) command.push_back(word.data());
    command.push_back(nullptr);

    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0)
        return fail(error_code::io_failed, "cannot write {}: {}", output.string(),
                    std::generic_category().message(errno));
    const pid_t parent = ::getpid();
    const pid_t id = ::fork();
    if (id == 0) become(command.data(), file, parent);
    const int why = errno;
    ::close(file);
    if (id < 0)
        return fail(error_code::io_failed, "cannot start another process: {}",
                    std::generic_category().message(why));
    return child_process(id);
}

child_process::~child_process() { kill_now(); }

child_process::child_process(child_process&& other) noexcept : id_(std::exchange(other.id_, -1)) {}

child_process& child_process::operator=(child_process&& other) noexcept {
    if (this != &other) {
        kill_now();
        id_ = std::exchange(other.id_, -1);
    }
    return *this;
}

void child_process::send_signal(int number) const {
    if (id_ > 0) ::kill(id_, number);
}

void child_process::kill_now() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    while (::waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
}

bool child_process::has_ended() {
    if (id_ > 0 && ::waitpid(id_, nullptr, WNOHANG) == id_) id_ = -1;
    return id_ < 0;
}

}  // namespace posthorn::cli
