#include "workflow/runner/runner_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workflow/binary/refusal.hpp"
#include "workflow/runner/frame.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

// Where the runner looks for them.
constexpr int batches_fd = 3;
constexpr int binary_fd = 4;
constexpr int answers_fd = 5;
constexpr int first_own_fd = 10;  // Past those, so that none is put over another.
constexpr std::size_t reason_max = 4096;

std::unexpected<error> failed_at(std::string_view what) {
    return fail(error_code::io_failed, "cannot {} for a runner of workflows: {}", what,
                std::strerror(errno));
}

/// A file descriptor that is closed with this.
class own_file {
public:
    own_file() = default;
    explicit own_file(int number) : number_(number) {}
    own_file(own_file&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    own_file& operator=(own_file&&) = delete;
    own_file(const own_file&) = delete;
    own_file& operator=(const own_file&) = delete;
    ~own_file() { close(); }
    void close() noexcept {
        if (number_ >= 0) ::close(std::exchange(number_, -1));
    }
    [[nodiscard]] int number() const noexcept { return number_; }

    /// The same file under a number that the runner's own do not have.
    [[nodiscard]] result<own_file> out_of_the_way() const {
        own_file moved(::fcntl(number_, F_DUPFD_CLOEXEC, first_own_fd));
        if (moved.number_ < 0) return failed_at("open another file");
        return moved;
    }

private:
    int number_ = -1;
};

result<own_file> seal(std::span<const std::byte> elf) {
    own_file file(::memfd_create("posthorn-workflows", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (file.number() < 0) return failed_at("make a file in memory");
    while (!elf.empty()) {
        const auto count = ::write(file.number(), elf.data(), elf.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return failed_at("write a file in memory");
        elf = elf.subspan(static_cast<std::size_t>(count));
    }
    if (::fcntl(file.number(), F_ADD_SEALS,
                F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0)
        return failed_at("seal a file in memory");
    return file.out_of_the_way();
}

struct own_pipe {
    own_file reads;
    own_file writes;
};

result<own_pipe> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed_at("make a pipe");
    const own_file reads(ends[0]), writes(ends[1]);
    POSTHORN_LET(reads_moved, reads.out_of_the_way());
    POSTHORN_LET(writes_moved, writes.out_of_the_way());
    return own_pipe{std::move(reads_moved), std::move(writes_moved)};
}

/// What posix_spawn is told beside the program.
class spawn_terms {
public:
    spawn_terms() {
        ::posix_spawn_file_actions_init(&files_);
        ::posix_spawnattr_init(&attributes_);
    }
    ~spawn_terms() {
        ::posix_spawn_file_actions_destroy(&files_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    spawn_terms(const spawn_terms&) = delete;
    spawn_terms& operator=(const spawn_terms&) = delete;

    result<pid_t> spawn(const runner_options& options, std::span<const std::pair<int, int>> given) {
        int wrong = 0;
        const auto note = [&](int failure) { wrong = wrong != 0 ? wrong : failure; };
        for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
            note(::posix_spawn_file_actions_addopen(&files_, each, "/dev/null", O_RDWR, 0));
        for (const auto& [from, to] : given)
            note(::posix_spawn_file_actions_adddup2(&files_, from, to));
        sigset_t none, all;
        ::sigemptyset(&none);
        ::sigfillset(&all);
        note(::posix_spawnattr_setsigmask(&attributes_, &none));
        note(::posix_spawnattr_setsigdefault(&attributes_, &all));
        note(::posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
        std::string name = "posthorn-runner";
        auto memory = std::to_string(options.memory_bytes_max);
        auto engine = std::to_string(::getpid());
        const std::array<char*, 4> arguments{name.data(), memory.data(), engine.data(), nullptr};
        const std::array<char*, 1> environment{nullptr};
        pid_t child = -1;
        if (wrong == 0)
            wrong = ::posix_spawn(&child, options.program.c_str(), &files_, &attributes_,
                                  arguments.data(), environment.data());
        if (wrong != 0)
            return fail(error_code::io_failed,
                        "cannot start {}, which runs deployed workflows: {}; it is installed "
                        "beside posthorn",
                        options.program, std::strerror(wrong));
        return child;
    }

private:
    posix_spawn_file_actions_t files_{};
    posix_spawnattr_t attributes_{};
};

class runner_process final : public runner_link {
public:
    runner_process(pid_t child, own_file batches, own_file answers, const clock& time)
        : child_(child), batches_(std::move(batches)), answers_(std::move(answers)), time_(time) {}
    runner_process(const runner_process&) = delete;
    runner_process& operator=(const runner_process&) = delete;
    ~runner_process() override { end(); }

    result<std::string> exchange(std::string_view batch, milliseconds within) override {
        if (child_ < 0) return fail(error_code::closed, "the runner has ended before");
        if (batch.size() > frame_body_max)
            return fail(error_code::overloaded, "a batch has {} bytes, and {} are allowed",
                        batch.size(), frame_body_max);
        auto answer = ask(batch, within);
        if (!answer) end();
        return answer;
    }

    result<> await_ready(milliseconds within) {
        auto ready = receive(runner_frame::ready, deadline_in(within));
        if (!ready) {
            end();
            return std::unexpected(std::move(ready).error());
        }
        return {};
    }

private:
    [[nodiscard]] steady_time deadline_in(milliseconds within) const {
        return time_.steady() + within;
    }

    result<std::string> ask(std::string_view batch, milliseconds within) {
        const auto until = deadline_in(within);
        std::string head;
        write_frame_head(head, {runner_frame::batch, static_cast<std::uint32_t>(batch.size())});
        POSTHORN_TRY(write_all(head, until));
        POSTHORN_TRY(write_all(batch, until));
        return receive(runner_frame::completions, until);
    }

    result<std::string> receive(runner_frame awaited, steady_time until) {
        std::string head(frame_head_bytes, '\0');
        POSTHORN_TRY(read_all(head, until));
        POSTHORN_LET(told, read_frame_head(head));
        if (told.kind != awaited && told.kind != runner_frame::refused)
            return fail(error_code::malformed_request,
                        "the runner answered with a frame that none asked for");
        if (told.kind == runner_frame::refused && told.body_bytes > reason_max)
            return fail(error_code::malformed_request, "the runner refused at great length");
        std::string body(told.body_bytes, '\0');
        POSTHORN_TRY(read_all(body, until));
        if (told.kind == runner_frame::refused)
            return fail(error_code::invalid_configuration, "the runner does not begin: {}",
                        shown_reason(body));
        return body;
    }

    /// From the runner's own code or, if that was overcome, from the binary's.
    static std::string shown_reason(std::string_view body) {
        std::string shown(body);
        std::ranges::replace_if(shown, [](char each) { return each < ' ' || each > '~'; }, '?');
        return shown;
    }

    result<> wait_for(int file, short what, steady_time until) {
        for (;;) {
            const auto left = std::chrono::ceil<milliseconds>(until - time_.steady());
            if (left <= milliseconds::zero())
                return fail(error_code::timed_out, "the runner gave no answer in its time");
            pollfd look{.fd = file, .events = what, .revents = 0};
            const auto ready =
                ::poll(&look, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 60'000)));
            if (ready > 0) return {};
            if (ready < 0 && errno != EINTR) return failed_at("wait");
        }
    }

    result<> read_all(std::span<char> into, steady_time until) {
        while (!into.empty()) {
            POSTHORN_TRY(wait_for(answers_.number(), POLLIN, until));
            const auto count = ::read(answers_.number(), into.data(), into.size());
            if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
            if (count <= 0) return fail(error_code::closed, "the runner {}", how_it_ended());
            into = into.subspan(static_cast<std::size_t>(count));
        }
        return {};
    }

    result<> write_all(std::string_view text, steady_time until) {
        while (!text.empty()) {
            POSTHORN_TRY(wait_for(batches_.number(), POLLOUT, until));
            const auto count = ::write(batches_.number(), text.data(), text.size());
            if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
            if (count <= 0) return fail(error_code::closed, "the runner {}", how_it_ended());
            text.remove_prefix(static_cast<std::size_t>(count));
        }
        return {};
    }

    /// A runner that closes its pipe is of no use, whatever it does: it is ended to learn how.
    std::string how_it_ended() {
        const auto status = end();
        if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
            return fmt::format("was ended by signal {}", WTERMSIG(status));
        if (WIFEXITED(status)) return fmt::format("ended with {}", WEXITSTATUS(status));
        return "closed its pipe, or was killed";
    }

    int end() noexcept {
        int status = 0;
        if (child_ < 0) return status;
        // Given up by itself? Then that is told, and the signal finds none.
        if (::waitpid(child_, &status, WNOHANG) != child_) {
            ::kill(child_, SIGKILL);
            while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
            }
        }
        child_ = -1;
        return status;
    }

    pid_t child_;
    own_file batches_;
    own_file answers_;
    const clock& time_;
};

result<> make_nonblocking(const own_file& file) {
    if (::fcntl(file.number(), F_SETFL, O_NONBLOCK) != 0) return failed_at("set up a pipe");
    return {};
}

}  // namespace

result<std::unique_ptr<runner_link>> start_runner(std::span<const std::byte> elf,
                                                  const runner_options& options,
                                                  const clock& time) {
    POSTHORN_LET(binary, seal(elf));
    POSTHORN_LET(batches, make_pipe());
    POSTHORN_LET(answers, make_pipe());
    POSTHORN_TRY(make_nonblocking(batches.writes));
    POSTHORN_TRY(make_nonblocking(answers.reads));
    const std::array given{std::pair{batches.reads.number(), batches_fd},
                           std::pair{binary.number(), binary_fd},
                           std::pair{answers.writes.number(), answers_fd}};
    POSTHORN_LET(child, spawn_terms().spawn(options, given));
    auto started = std::make_unique<runner_process>(child, std::move(batches.writes),
                                                    std::move(answers.reads), time);
    batches.reads.close();
    answers.writes.close();  // Only the runner has it, so that its end is seen.
    POSTHORN_TRY(started->await_ready(options.ready_within));
    return started;
}

}  // namespace posthorn
