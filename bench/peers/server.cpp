#include "peers/server.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/pace.hpp"

namespace posthorn::bench {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr auto counter_file = "syncs.count";

void become_user(const std::string& name) {
    if (name.empty() || ::getuid() != 0) return;
    const auto* who = ::getpwnam(name.c_str());
    if (who == nullptr || ::setgroups(0, nullptr) != 0 || ::setgid(who->pw_gid) != 0 ||
        ::setuid(who->pw_uid) != 0)
        ::_exit(126);
}

void give_to(const std::filesystem::path& what, const std::string& user) {
    if (user.empty() || ::getuid() != 0) return;
    if (const auto* who = ::getpwnam(user.c_str()); who != nullptr)
        if (::chown(what.c_str(), who->pw_uid, who->pw_gid) != 0)
            throw std::runtime_error("cannot give " + what.string() + " to " + user);
}

}  // namespace

server::server(server_options options) : options_(std::move(options)) {
    std::filesystem::create_directories(options_.folder);
    give_to(options_.folder, options_.user);
    const auto file = (options_.folder / counter_file).string();
    const int shared = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (shared < 0 || ::ftruncate(shared, sizeof *syncs_) != 0)
        throw std::runtime_error("cannot make " + file);
    give_to(file, options_.user);
    syncs_ = static_cast<std::uint64_t*>(
        ::mmap(nullptr, sizeof *syncs_, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0));
    ::close(shared);
    const auto parent = ::getpid();
    id_ = ::fork();
    if (id_ < 0) throw std::runtime_error("cannot start another process");
    if (id_ == 0) become_server(parent);
}

// Nothing here has threads yet, so that more than a few calls are allowed before the exec.
void server::become_server(pid_t parent) const {
    ::setpgid(0, 0);  // Its children are stopped with it.
    const int log =
        ::open((options_.folder / "server.log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    for (const auto& [name, value] : options_.environment) ::setenv(name.c_str(), value.c_str(), 1);
    if (options_.count_syncs) {
        ::setenv("LD_PRELOAD", BENCH_SYNC_PRELOAD, 1);
        ::setenv("BENCH_SYNC_FILE", (options_.folder / counter_file).c_str(), 1);
    }
    become_user(options_.user);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // After the change of user, which clears it.
    if (::getppid() != parent || ::chdir(options_.folder.c_str()) != 0) ::_exit(125);
    std::vector<char*> words;
    for (const auto& word : options_.command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execvp(words.front(), words.data());
    ::_exit(127);
}

server::~server() {
    if (id_ > 0) {
        ::kill(id_, options_.stop_signal);
        const auto until = measure::now_ns() + 15 * second_ns;
        while (::waitpid(id_, nullptr, WNOHANG) == 0 && measure::now_ns() < until)
            measure::sleep_until(measure::now_ns() + second_ns / 100);
        ::kill(-id_, SIGKILL);
        ::waitpid(id_, nullptr, 0);
    }
    ::munmap(syncs_, sizeof *syncs_);
}

std::int64_t server::syncs() const {
    if (!options_.count_syncs) return -1;
    return static_cast<std::int64_t>(std::atomic_ref(*syncs_).load());
}

void server::check_alive() {
    if (id_ > 0 && ::waitpid(id_, nullptr, WNOHANG) == 0) return;
    id_ = -1;
    throw std::runtime_error(options_.command.front() + " has ended: " + log_end());
}

std::string server::log_end() const {
    std::ifstream file(options_.folder / "server.log");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    return text.size() > 400 ? text.substr(text.size() - 400) : text;
}

void run_to_end(const server_options& what) {
    std::string line;
    for (const auto& word : what.command) line += "'" + word + "' ";
    const auto* const becomes = !what.user.empty() && ::getuid() == 0 ? "runuser -u " : "";
    const auto command = std::string(becomes) + (*becomes != '\0' ? what.user + " -- " : "") +
                         line + ">'" + (what.folder / "run.log").string() + "' 2>&1";
    // NOLINTNEXTLINE(concurrency-mt-unsafe,cert-env33-c): before there is any thread; all words
    // ours.
    if (std::system(command.c_str()) == 0) return;
    std::ifstream file(what.folder / "run.log");
    throw std::runtime_error(what.command.front() +
                             " failed: " + std::string{std::istreambuf_iterator<char>(file), {}});
}

int free_port() {
    const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (::bind(file, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
        ::getsockname(file, reinterpret_cast<sockaddr*>(&at), &size) != 0)
        throw std::runtime_error("no free port");
    ::close(file);
    return ntohs(at.sin_port);
}

bool accepts(int port) {
    const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto code = ::connect(file, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    ::close(file);
    return code == 0;
}

}  // namespace posthorn::bench
