#include "forward/limits/sample_sieve.hpp"

#include <charconv>
#include <cmath>
#include <utility>

namespace posthorn {
namespace {

constexpr std::string_view within_deadband = "within deadband";
constexpr std::string_view newer_is_kept = "a newer sample is kept";

}  // namespace

bool sample_sieve::is_within(double value, double kept) const {
    const double band =
        how_.deadband_is_percent ? std::abs(kept) * how_.deadband / 100 : how_.deadband;
    return std::abs(value - kept) <= band;
}

std::vector<thinned_sample> sample_sieve::thin(std::span<const waiting_sample> next) {
    std::vector<thinned_sample> gone;
    for (const auto& one : next) {
        last_ = one.seq;
        const auto [place, first] = kept_.try_emplace(one.key, one);
        auto& kept = place->second;
        if (first) continue;
        if (how_.keep_last)
            gone.push_back({std::exchange(kept, one), newer_is_kept});
        else if (is_within(one.value, kept.value))
            gone.push_back({one, within_deadband});
        else
            kept = one;
    }
    return gone;
}

std::optional<deadband> parse_deadband(std::string_view text) {
    deadband read;
    if (text.ends_with('%')) {
        read.is_percent = true;
        text.remove_suffix(1);
    }
    const auto [end, failure] = std::from_chars(text.begin(), text.end(), read.value);
    if (failure != std::errc{} || end != text.end()) return std::nullopt;
    if (!std::isfinite(read.value) || read.value < 0) return std::nullopt;
    return read;
}

}  // namespace posthorn
