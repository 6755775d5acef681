#include "transport/amqp/amqp_link.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/assert.hpp"

namespace posthorn {
namespace {

constexpr std::chrono::milliseconds pause_min{100};
constexpr std::chrono::milliseconds pause_max{2'000};
constexpr std::chrono::milliseconds for_ever{-1};
/// What came is looked at before more is sent, so that confirmations are not kept waiting.
constexpr int events_at_once = 512;
/// librabbitmq reads tables within tables by recursion. As many as a frame of 128 KiB can hold took
/// it less than three MiB.
constexpr std::size_t stack_bytes = std::size_t{8} << 20;

error closed_by(const amqp_close& why) {
    const auto said = judge_connection_close(why);
    return {error_code::unreachable, said.error};
}

}  // namespace

amqp_link::system_bell::system_bell() : descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    POSTHORN_ASSERT(descriptor >= 0);
}

amqp_link::system_bell::~system_bell() { ::close(descriptor); }

amqp_link::amqp_link(deps with, amqp_work& work)
    : with_(std::move(with)),
      work_(work),
      thread_("posthorn-amqp", stack_bytes, [this] { run(); }) {}

amqp_link::~amqp_link() {
    stopping_ = true;
    names_.cut();
    {
        const std::lock_guard held(mutex_);
        if (open_ != nullptr) open_->cut();
    }
    wake();
}

void amqp_link::wake() {
    constexpr std::uint64_t once = 1;
    std::ignore = ::write(bell_.descriptor, &once, sizeof once);
}

bool amqp_link::wait(int descriptor, std::chrono::milliseconds timeout) {
    std::array<pollfd, 2> both{pollfd{.fd = bell_.descriptor, .events = POLLIN, .revents = 0},
                               pollfd{.fd = descriptor, .events = POLLIN, .revents = 0}};
    const auto seen =
        ::poll(both.data(), descriptor >= 0 ? 2 : 1, static_cast<int>(timeout.count()));
    std::uint64_t rung = 0;
    std::ignore = ::read(bell_.descriptor, &rung, sizeof rung);
    return seen != 0;
}

void amqp_link::run() {
    auto pause = pause_min;
    while (!stopping_) {
        if (!work_.wants_connection()) {
            wait(-1, for_ever);
            continue;
        }
        amqp_connection made;
        {
            const std::lock_guard held(mutex_);
            open_ = &made;
        }
        const auto connected = stopping_ ? result<>{} : connect(made);
        result<> ended;
        if (connected && !stopping_) ended = work_.begin(made);
        if (connected && ended) {
            pause = pause_min;
            ended = serve(made);
        }
        {
            const std::lock_guard held(mutex_);
            open_ = nullptr;
        }
        if (stopping_) return;
        if (!connected) {
            work_.unreached(connected.error());
            rest(std::exchange(pause, std::min(pause * 2, pause_max)), &connected.error());
            continue;
        }
        work_.lost(ended ? error(error_code::unreachable, "the connection ended") : ended.error());
        rest(std::exchange(pause, std::min(pause * 2, pause_max)), nullptr);
    }
}

result<> amqp_link::connect(amqp_connection& into) {
    POSTHORN_TRY(names_.ask(with_.at.url.host));
    std::string password = "guest";
    if (with_.password) {
        POSTHORN_LET(read, with_.password());
        password = std::move(read);
    }
    return into.open(with_.at, password);
}

void amqp_link::rest(std::chrono::milliseconds pause, const error* unreached) {
    const auto until = with_.env.clock.steady() + pause;
    while (!stopping_) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - with_.env.clock.steady());
        if (left <= left.zero()) return;
        wait(-1, left);
        if (unreached != nullptr && !stopping_) work_.unreached(*unreached);
    }
}

result<> amqp_link::serve(amqp_connection& on) {
    while (!stopping_) {
        POSTHORN_TRY(work_.attend(on));
        bool reads = work_.may_read();
        for (int i = 0; reads && i < events_at_once; ++i) {
            POSTHORN_LET(came, on.next());
            if (std::holds_alternative<std::monostate>(came)) {
                wait(on.descriptor(), on.look_every());
                break;
            }
            work_.happened(came);
            if (const auto* const closed = std::get_if<amqp_closed>(&came))
                return std::unexpected(closed_by(closed->why));
            if (std::holds_alternative<amqp_cancelled>(came))
                return fail(error_code::unreachable, "the queue was deleted");
            reads = work_.may_read();
        }
        if (!reads && !wait(-1, on.look_every())) POSTHORN_TRY(on.beat());
    }
    return {};
}

}  // namespace posthorn
