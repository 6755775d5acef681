#pragma once

#include <cstdint>

namespace posthorn::faults {

/// Seeded numbers that are the same on every machine and with every standard library.
class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
        return mixed ^ (mixed >> 31U);
    }

    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    bool percent(std::uint64_t chance) { return below(100) < chance; }

private:
    std::uint64_t state_;
};

}  // namespace posthorn::faults
