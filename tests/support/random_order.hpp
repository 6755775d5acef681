#pragma once

#include <bit>
#include <cmath>
#include <random>

#include "support/order_contract.hpp"

namespace shop {

/// Makes messages at random, the odd values more often than chance would.
class random_order {
public:
    explicit random_order(std::uint64_t seed) : engine_(seed) {}

    everything make() {
        everything made;
        made.text = text();
        made.flag = below(2) == 1;
        made.tiny = integer<std::int8_t>();
        made.small_natural = integer<std::uint16_t>();
        made.large = integer<std::int64_t>();
        made.largest = integer<std::uint64_t>();
        made.single = static_cast<float>(integer<std::int16_t>()) / 7;
        made.real = real();
        made.paint = std::array{colour::red, colour::dark_green, colour::blue}[below(3)];
        if (below(2) == 1) made.note = text();
        for (auto left = below(4); left > 0; --left) made.items.push_back(item());
        for (auto left = below(4); left > 0; --left)
            made.holes.push_back(below(2) == 1 ? std::optional(integer<int>()) : std::nullopt);
        for (auto left = below(4); left > 0; --left) made.counts[text()] = integer<std::int32_t>();
        for (auto left = below(3); left > 0; --left) made.by_sku[text()] = item();
        switch (below(4)) {
            case 0: made.payment = std::monostate{}; break;
            case 1: made.payment = card{text()}; break;
            case 2: made.payment = integer<std::int64_t>(); break;
            default: made.payment = text();
        }
        using namespace std::chrono;
        made.at =
            posthorn::wall_time(milliseconds(between(-62'135'596'800'000, 253'402'300'799'999)));
        made.exactly = sys_time<nanoseconds>(nanoseconds(integer<std::int64_t>()));
        made.took = milliseconds(integer<std::int64_t>());
        made.within = hours(between(-1'000'000'000, 1'000'000'000));
        posthorn::uuid::bytes_type bytes;
        for (auto& byte : bytes) byte = integer<std::uint8_t>();
        made.id = posthorn::uuid(bytes);
        constexpr std::string_view raws[]{"null", "[1,{\"a\":\"]}\"}]", "-1e400", "\"\\u0000\""};
        made.extra.text = raws[below(std::size(raws))];
        made.renamed = text();
        return made;
    }

    std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(engine_);
    }

private:
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution(low, high)(engine_);
    }
    template <class T>
    T integer() {
        using limits = std::numeric_limits<T>;
        switch (below(5)) {
            case 0: return limits::min();
            case 1: return limits::max();
            case 2: return T{0};
            default: return static_cast<T>(engine_());
        }
    }
    double real() {
        const auto value = std::bit_cast<double>(std::uint64_t{engine_()});
        return std::isfinite(value) ? value : -0.0;
    }
    std::string text() {
        static constexpr std::string_view pieces[]{"a",    "Z9", "\"",  "\\",         "\n",
                                                   "\x01", "é",  "漢",  "\U0001f40c", "/",
                                                   "\x7f", "[{", "}],:"};
        std::string made;
        for (auto left = below(12); left > 0; --left) made += pieces[below(std::size(pieces))];
        if (below(8) == 0) made += '\0';
        return made;
    }
    line item() {
        return {text(), integer<std::int32_t>(),
                below(2) == 1 ? std::optional(real()) : std::nullopt};
    }

    std::mt19937_64 engine_;
};

}  // namespace shop
