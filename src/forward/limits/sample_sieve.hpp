#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <posthorn/forward.hpp>

namespace posthorn {

/// A sample that waits for a target that is out.
struct waiting_sample {
    std::int64_t seq = 0;
    std::string id;
    std::string key;
    double value = 0;
};

/// One that need not be kept, and why.
struct thinned_sample {
    waiting_sample which;
    std::string_view why;
};

/// Whether a category thins its samples at all.
[[nodiscard]] constexpr bool thins(const forward_category& how) noexcept {
    return how.keep_last || how.deadband > 0;
}

/// Which samples of one target are worth keeping, over one outage.
///
/// | the category             | of a key is kept                                               |
/// |--------------------------|----------------------------------------------------------------|
/// | has `keep_last`          | the last one                                                   |
/// | has a `deadband`         | each that is further than that from the last one that was kept |
/// | has neither              | each                                                           |
///
/// Pure. Threads: one at a time.
class sample_sieve {
public:
    explicit sample_sieve(const forward_category& how) : how_(how) {}

    /// The next ones, in the order in which they were stored.
    [[nodiscard]] std::vector<thinned_sample> thin(std::span<const waiting_sample> next);
    /// The last that it was given.
    [[nodiscard]] std::int64_t last() const noexcept { return last_; }

private:
    [[nodiscard]] bool is_within(double value, double kept) const;

    forward_category how_;
    std::map<std::string, waiting_sample> kept_;  // The last of each key.
    std::int64_t last_ = 0;
};

/// `0.5`, or `2%`; empty if it is neither.
struct deadband {
    double value = 0;
    bool is_percent = false;
};
[[nodiscard]] std::optional<deadband> parse_deadband(std::string_view text);

}  // namespace posthorn
