#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <mutex>

#include <posthorn/detail/time.hpp>
#include <posthorn/uuid.hpp>

#include "base/random.hpp"

namespace posthorn {

/// The part of an id that makes it greater than those before.
struct uuid_position {
    static constexpr std::uint64_t ms_max = (std::uint64_t{1} << 48) - 1;
    static constexpr std::uint32_t counter_max = (std::uint32_t{1} << 26) - 1;

    std::uint64_t ms = 0;
    std::uint32_t counter = 0;

    /// The one to use at `now_ms` after this one. `seed` is where a new millisecond starts to
    /// count.
    [[nodiscard]] uuid_position after(std::uint64_t now_ms, std::uint16_t seed) const;

    auto operator<=>(const uuid_position&) const = default;
};

/// Makes version 7 ids (RFC 9562), each greater than all that the same generator made before.
///
/// The 128 bits, from the left: 48 of milliseconds, 4 of version, 12 of counter, 2 of variant, 14
/// more of counter, 48 drawn anew for each id. A new millisecond starts the counter at a random one
/// of its lowest 65,536 values, which leaves room for 67 million ids before it carries into the
/// milliseconds. A clock that goes backwards, or stands, is not followed: the last millisecond is
/// counted on.
///
/// Lifetime: what `now` refers to and `random` outlive it.
/// Threads:  any, at once, if `now` and `random` allow that.
/// Cancel:   nothing here waits.
class uuid_generator {
public:
    uuid_generator(std::function<wall_time()> now, random_source& random);

    [[nodiscard]] uuid next();

private:
    std::function<wall_time()> now_;
    random_source& random_;
    std::mutex mutex_;
    uuid_position last_;  // Under the mutex.
};

}  // namespace posthorn
