#include "base/random.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>

#include <pthread.h>
#include <sys/random.h>

#include "base/assert.hpp"

namespace posthorn {
namespace {

/// How many forks lie between this process and the one that loaded the library. A child inherits
/// its parent's buffers, and would hand out the same bytes again if it did not notice.
std::atomic<std::uint32_t> forks{0};

void watch_forks() {
    static const int failed =
        pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
    POSTHORN_ASSERT(failed == 0);
}

void ask_system(std::span<std::byte> out) {
    while (!out.empty()) {
        const ssize_t got = ::getrandom(out.data(), out.size(), 0);
        // Without randomness ids could repeat, so there is no going on.
        POSTHORN_ASSERT(got > 0 || errno == EINTR);
        if (got > 0) out = out.subspan(static_cast<std::size_t>(got));
    }
}

}  // namespace

std::uint64_t random_source::below(std::uint64_t bound) {
    POSTHORN_ASSERT(bound > 0);
    // Of the 2^64 values the first 2^64 mod bound are refused, so that every remainder is reached
    // by equally many of the others.
    const std::uint64_t refused = (0 - bound) % bound;
    for (;;)
        if (const std::uint64_t drawn = next(); drawn >= refused) return drawn % bound;
}

double random_source::unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

system_random::system_random() { watch_forks(); }

void system_random::fill(std::span<std::byte> out) {
    // Larger wishes would only pass through the buffer.
    if (out.size() > buffer_.size() / 4) return ask_system(out);
    take(out);
}

std::uint64_t system_random::next() {
    std::array<std::byte, sizeof(std::uint64_t)> bytes;
    take(bytes);
    return std::bit_cast<std::uint64_t>(bytes);
}

void system_random::take(std::span<std::byte> out) {
    if (out.empty()) return;
    const std::lock_guard lock(mutex_);
    const std::uint32_t forks_now = forks.load(std::memory_order_relaxed);
    if (left_ < out.size() || forks_seen_ != forks_now) {
        ask_system(buffer_);
        left_ = buffer_.size();
        forks_seen_ = forks_now;
    }
    std::byte* const from = buffer_.data() + (buffer_.size() - left_);
    std::memcpy(out.data(), from, out.size());
    std::memset(from, 0, out.size());  // What became a key is not kept here too.
    left_ -= out.size();
}

seeded_random::seeded_random(std::uint64_t seed) {
    for (auto& word : state_) {
        seed += 0x9e3779b97f4a7c15;
        std::uint64_t mixed = seed;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        word = mixed ^ (mixed >> 31);
    }
}

std::uint64_t seeded_random::next() {
    auto& [a, b, c, d] = state_;
    const std::uint64_t drawn = std::rotl(b * 5, 7) * 9;
    const std::uint64_t shifted = b << 17;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = std::rotl(d, 45);
    return drawn;
}

void seeded_random::fill(std::span<std::byte> out) {
    while (!out.empty()) {
        const std::uint64_t drawn = next();
        const std::size_t size = std::min(out.size(), sizeof(drawn));
        for (std::size_t i = 0; i < size; ++i)  // By shifts, so that byte order does not matter.
            out[i] = static_cast<std::byte>(drawn >> (8 * i));
        out = out.subspan(size);
    }
}

}  // namespace posthorn
