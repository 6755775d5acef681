#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.hpp"

namespace posthorn {

/// How many wrong keys people may try. Pure: it is told the time.
///
/// | failures within a minute | the next attempt                          |
/// |--------------------------|-------------------------------------------|
/// | 10 of one address        | of that address is refused, right or wrong |
/// | 100 in all               | of any address is                          |
///
/// until the oldest of them is a minute old. It holds no more than those 100.
class sign_in_limit {
public:
    static constexpr std::size_t of_address_max = 10;
    static constexpr std::size_t in_all_max = 100;
    static constexpr std::chrono::seconds within{60};

    /// How long the address has to wait; nothing if it may try.
    [[nodiscard]] std::optional<std::chrono::seconds> wait(std::string_view address,
                                                           steady_time now);
    /// It has tried, and failed. Only after `wait` has let it.
    void failed(std::string_view address, steady_time now);

private:
    struct failure {
        std::string address;
        steady_time at;
    };
    void forget(steady_time now);

    std::deque<failure> recent_;  // Oldest first.
};

}  // namespace posthorn
