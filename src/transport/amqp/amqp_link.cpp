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
/// What came is looked at before more is sent, so that confirmations are not kept waiting.
constexpr int events_at_once = 512;

error closed_by(const amqp_close& why) {
    const auto said = judge_connection_close(why);
    return {error_code::unreachable, said.error};
}

}  // namespace

amqp_link::system_bell::system_bell() : descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    POSTHORN_ASSERT(descriptor >= 0);
}

amqp_link::system_bell::~system_bell() { ::close(descriptor); }

amqp_link::amqp_link(deps with, amqp_work& work) : with_(std::move(with)), work_(work) {
    thread_.post([this] { run(); });
}

amqp_link::~amqp_link() {
    stopping_ = true;
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

void amqp_link::wait(int descriptor, int timeout_ms) {
    std::array<pollfd, 2> both{pollfd{.fd = bell_.descriptor, .events = POLLIN, .revents = 0},
                               pollfd{.fd = descriptor, .events = POLLIN, .revents = 0}};
    std::ignore = ::poll(both.data(), descriptor >= 0 ? 2 : 1, timeout_ms);
    std::uint64_t rung = 0;
    std::ignore = ::read(bell_.descriptor, &rung, sizeof rung);
}

void amqp_link::run() {
    auto pause = pause_min;
    while (!stopping_) {
        if (!work_.wants_connection()) {
            wait(-1, -1);
            continue;
        }
        auto made = connect();
        if (!made) {
            work_.unreached(made.error());
            rest(std::exchange(pause, std::min(pause * 2, pause_max)), &made.error());
            continue;
        }
        {
            const std::lock_guard held(mutex_);
            open_ = made->get();
        }
        auto began = work_.begin(**made);
        if (began) pause = pause_min;
        const auto ended = began ? serve(**made) : std::move(began);
        {
            const std::lock_guard held(mutex_);
            open_ = nullptr;
        }
        if (stopping_) return;
        work_.lost(ended ? error(error_code::unreachable, "the connection ended") : ended.error());
        rest(std::exchange(pause, std::min(pause * 2, pause_max)), nullptr);
    }
}

result<std::unique_ptr<amqp_connection>> amqp_link::connect() {
    std::string password = "guest";
    if (with_.password) {
        POSTHORN_LET(read, with_.password());
        password = std::move(read);
    }
    return amqp_connection::open(with_.at, password);
}

void amqp_link::rest(std::chrono::milliseconds pause, const error* unreached) {
    const auto until = with_.env.clock.steady() + pause;
    while (!stopping_) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - with_.env.clock.steady());
        if (left <= left.zero()) return;
        wait(-1, static_cast<int>(left.count()));
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
                wait(on.descriptor(), -1);
                break;
            }
            work_.happened(came);
            if (const auto* const closed = std::get_if<amqp_closed>(&came))
                return std::unexpected(closed_by(closed->why));
            if (std::holds_alternative<amqp_cancelled>(came))
                return fail(error_code::unreachable, "the queue was deleted");
            reads = work_.may_read();
        }
        if (!reads) wait(-1, -1);
    }
    return {};
}

}  // namespace posthorn
