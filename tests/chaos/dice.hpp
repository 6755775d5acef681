#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace posthorn::chaos {

/// All chance there is in a run, from its seed.
///
/// Threads: one at a time.
class dice {
public:
    explicit dice(std::uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15 + 1) {}

    /// From 0 to 1.
    double unit() { return std::uniform_real_distribution<double>(0, 1)(engine_); }
    bool in(double chance) { return unit() < chance; }
    /// Both ends included.
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
    }
    /// As often below ten times a number as above it.
    std::int64_t spread(std::int64_t low, std::int64_t high) {
        const auto ratio = static_cast<double>(high) / static_cast<double>(low);
        return static_cast<std::int64_t>(static_cast<double>(low) * std::pow(ratio, unit()));
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace posthorn::chaos
