#include "base/uuid_generator.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace posthorn {
namespace {

uuid assemble(uuid_position at, std::uint64_t random) {
    const std::uint64_t high = at.ms << 16 | std::uint64_t{0x7} << 12 | at.counter >> 14;
    const std::uint64_t low = std::uint64_t{0b10} << 62 | std::uint64_t{at.counter & 0x3fff} << 48 |
                              (random & 0xffff'ffff'ffff);
    uuid::bytes_type bytes;
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[i] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
        bytes[8 + i] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
    }
    return uuid(bytes);
}

std::uint64_t within_48_bits(wall_time time) {
    constexpr auto ms_max = static_cast<std::int64_t>(uuid_position::ms_max);
    return static_cast<std::uint64_t>(
        std::clamp<std::int64_t>(time.time_since_epoch().count(), 0, ms_max));
}

}  // namespace

uuid_position uuid_position::after(std::uint64_t now_ms, std::uint16_t seed) const {
    if (now_ms > ms) return {now_ms, seed};
    if (counter < counter_max) return {ms, counter + 1};
    return {std::min<std::uint64_t>(ms + 1, ms_max), seed};
}

uuid_generator::uuid_generator(std::function<wall_time()> now, random_source& random)
    : now_(std::move(now)), random_(random) {
    POSTHORN_ASSERT(now_);
}

uuid uuid_generator::next() {
    // Both before the lock: a thread that enters it late with an old time only counts on.
    const std::uint64_t now_ms = within_48_bits(now_());
    const std::uint64_t random = random_.next();

    const std::lock_guard lock(mutex_);
    last_ = last_.after(now_ms, static_cast<std::uint16_t>(random >> 48));
    return assemble(last_, random);
}

}  // namespace posthorn
