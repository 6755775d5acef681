#include "measure/pace.hpp"

#include <cerrno>
#include <ctime>

#include <sys/prctl.h>

namespace posthorn::measure {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

std::int64_t read(clockid_t which) noexcept {
    timespec now{};
    ::clock_gettime(which, &now);
    return now.tv_sec * second_ns + now.tv_nsec;
}

}  // namespace

std::int64_t now_ns() noexcept { return read(CLOCK_MONOTONIC); }

std::int64_t worked_ns() noexcept { return read(CLOCK_THREAD_CPUTIME_ID); }

void sleep_until(std::int64_t at_ns) noexcept {
    static thread_local const int sharpened = ::prctl(PR_SET_TIMERSLACK, 1);
    (void)sharpened;
    const timespec at{.tv_sec = at_ns / second_ns, .tv_nsec = at_ns % second_ns};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
    }
}

}  // namespace posthorn::measure
