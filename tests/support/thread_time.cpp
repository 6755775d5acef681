#include "support/thread_time.hpp"

#include <ctime>

namespace posthorn::test {

std::chrono::nanoseconds thread_time() {
    timespec seen{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &seen);
    return std::chrono::seconds{seen.tv_sec} + std::chrono::nanoseconds{seen.tv_nsec};
}

}  // namespace posthorn::test
