#include "webhook/secrets/referenced_secret.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/referenced_text.hpp"

namespace posthorn {
namespace {

constexpr std::string_view command_prefix = "command:";
constexpr std::size_t file_bytes_max = 64 * 1024;
constexpr std::chrono::milliseconds silence_max{10'000};

/// A program that a shell runs, and what it prints. It is ended with this.
class running_command {
public:
    explicit running_command(std::string words) {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
        posix_spawn_file_actions_t actions{};
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        std::string shell = "sh", option = "-c";
        const std::array<char*, 4> arguments{shell.data(), option.data(), words.data(), nullptr};
        if (::posix_spawn(&child_, "/bin/sh", &actions, nullptr, arguments.data(), environ) != 0)
            child_ = -1;
        posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
        out_ = ends[0];
    }
    ~running_command() {
        if (out_ >= 0) ::close(out_);
        if (child_ <= 0) return;
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
    }
    running_command(const running_command&) = delete;
    running_command& operator=(const running_command&) = delete;

    /// All that it printed, once it has ended well.
    std::optional<std::string> result() {
        std::string printed;
        std::array<char, 4096> some{};
        for (;;) {
            pollfd look{.fd = out_, .events = POLLIN, .revents = 0};
            if (child_ <= 0 || ::poll(&look, 1, static_cast<int>(silence_max.count())) <= 0)
                return std::nullopt;
            const auto count = ::read(out_, some.data(), some.size());
            if (count == 0) break;
            if (count < 0 || printed.size() > file_bytes_max) return std::nullopt;
            printed.append(some.data(), static_cast<std::size_t>(count));
        }
        int status = 0;
        const bool ended = ::waitpid(std::exchange(child_, -1), &status, 0) > 0;
        if (!ended || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
        return printed;
    }

private:
    pid_t child_ = -1;
    int out_ = -1;
};

/// What follows may hold what opens the way to the secret.
std::string_view first_word(std::string_view words) { return words.substr(0, words.find(' ')); }

result<std::string> text_behind(std::string_view reference) {
    if (!reference.starts_with(command_prefix)) return referenced_text(reference);
    const std::string words(reference.substr(command_prefix.size()));
    if (auto printed = running_command(words).result()) return *std::move(printed);
    return fail(error_code::secret_unavailable,
                "it names the command '{}', which did not print it and end well; it may be silent "
                "for {} s",
                first_word(words), silence_max.count() / 1000);
}

}  // namespace

result<std::string> referenced_secret(std::string_view reference) {
    POSTHORN_LET(text, text_behind(reference));
    text.erase(text.find_last_not_of(" \r\n\t") + 1);
    return text;
}

}  // namespace posthorn
