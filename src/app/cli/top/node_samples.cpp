#include "app/cli/top/node_samples.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace posthorn::cli {
namespace {

/// How much it grew; none without both, or if it went back.
std::optional<double> growth(const node_samples& before, const node_samples& now,
                             std::string_view name) {
    const auto then = before.value(name);
    const auto is = now.value(name);
    if (!then || !is || *is < *then) return std::nullopt;
    return *is - *then;
}

}  // namespace

std::optional<double> node_samples::value(std::string_view name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> node_samples::value_of(std::string_view name,
                                             std::string_view destination) const {
    return value(of_destination(name, destination));
}

std::string of_destination(std::string_view name, std::string_view destination) {
    std::string label;
    for (const char c : destination) {
        if (c == '\\' || c == '"') label += '\\';
        label += c;
    }
    return fmt::format("{}{{destination=\"{}\"}}", name, label);
}

node_samples parse_samples(std::string_view text, steady_time at) {
    node_samples seen{.at = at};
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const auto gap = line.rfind(' ');
        if (line.starts_with('#') || gap == line.npos) continue;
        double value = 0;
        const auto number = line.substr(gap + 1);
        const auto [rest, wrong] =
            std::from_chars(number.data(), number.data() + number.size(), value);
        if (wrong == std::errc{} && rest == number.data() + number.size())
            seen.values.emplace(line.substr(0, gap), value);
    }
    return seen;
}

std::optional<double> rate_between(const node_samples& before, const node_samples& now,
                                   std::string_view name) {
    const auto more = growth(before, now, name);
    const std::chrono::duration<double> time = now.at - before.at;
    if (!more || time.count() <= 0) return std::nullopt;
    return *more / time.count();
}

std::optional<double> mean_between(const node_samples& before, const node_samples& now,
                                   std::string_view name) {
    const auto sum = growth(before, now, fmt::format("{}_sum", name));
    const auto count = growth(before, now, fmt::format("{}_count", name));
    if (!sum || !count || *count <= 0) return std::nullopt;
    return *sum / *count;
}

}  // namespace posthorn::cli
