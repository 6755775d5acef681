#include "base/log/log_stream.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

/// What a pipe takes whole or not at all, and what there is room for if there is any.
constexpr std::size_t piece_max = PIPE_BUF;

// As `write`, but without the signal that ends a process when the reader of a pipe is gone. It goes to
// the thread that writes, so it is held back there, and taken away if this write has caused it.
ssize_t write_quietly(int descriptor, std::string_view piece) {
    sigset_t pipe_signal, before, pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    const auto taken = ::write(descriptor, piece.data(), piece.size());
    const int why = errno;
    if (taken < 0 && why == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
        const timespec at_once{};
        ::sigtimedwait(&pipe_signal, nullptr, &at_once);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = why;
    return taken;
}

}  // namespace

bool log_stream::may_wait(int descriptor) {
    struct ::stat about{};
    return ::fstat(descriptor, &about) == 0 && !S_ISREG(about.st_mode);
}

// Sockets cannot be opened again, nor can the pipes of another user: there we look for room first,
// which is wrong only if another process fills it in between.
log_stream::log_stream(int descriptor, report tell, std::size_t kept_max)
    : descriptor_(descriptor), tell_(std::move(tell)), kept_max_(kept_max) {
    const auto path = "/proc/self/fd/" + std::to_string(descriptor);
    own_ = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

log_stream::~log_stream() {
    stopping_ = true;
    drainer_.reset();
    for (auto left = kept_.size() + 1; !kept_.empty() && kept_.size() < left && has_room(1s);) {
        left = kept_.size();
        push();
    }
    if (own_ >= 0) ::close(own_);
}

bool log_stream::has_room(std::chrono::milliseconds limit) const {
    ::pollfd asked{.fd = target(), .events = POLLOUT, .revents = 0};
    return ::poll(&asked, 1, static_cast<int>(limit.count())) > 0;
}

// Whole lines if they are not too long, so that those of others do not come in between.
std::string_view log_stream::next_piece() const {
    const auto piece = std::string_view(kept_).substr(0, piece_max);
    const auto end = piece.rfind('\n');
    return end == std::string_view::npos ? piece : piece.substr(0, end + 1);
}

void log_stream::push() {
    for (;;) {
        if (kept_.empty()) {
            if (dropped_ == 0) return;
            kept_ = tell_(dropped_) + '\n';
            dropped_ = 0;
        }
        if (own_ < 0 && !has_room(0ms)) return;
        const auto piece = next_piece();
        const auto taken = write_quietly(target(), piece);
        if (taken >= 0) {
            kept_.erase(0, static_cast<std::size_t>(taken));
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {  // It will never be read.
            kept_.clear();
            dropped_ = 0;
        }
    }
}

void log_stream::write(std::string_view line) {
    const std::scoped_lock lock(mutex_);
    push();
    // Once one was dropped, so are those after it until that is told: lines keep their order.
    if (dropped_ > 0 || (!kept_.empty() && kept_.size() + line.size() >= kept_max_)) {
        ++dropped_;
        return;
    }
    kept_.append(line);
    kept_ += '\n';
    push();
    if (kept_.empty() || draining_) return;
    if (!drainer_) drainer_ = std::make_unique<worker_threads>("log");
    draining_ = true;
    drainer_->post([this] { drain(); });
}

void log_stream::drain() {
    while (!stopping_) {
        if (!has_room(100ms)) continue;
        const std::scoped_lock lock(mutex_);
        push();
        if (!kept_.empty()) continue;
        draining_ = false;
        return;
    }
}

}  // namespace posthorn
