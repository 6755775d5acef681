#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.hpp"

namespace posthorn::cli {

/// Numbers of a node's `GET /metrics`, by name and labels as it writes them, at one moment.
struct node_samples {
    steady_time at{};
    std::map<std::string, double, std::less<>> values{};

    /// None if the node does not have it.
    [[nodiscard]] std::optional<double> value(std::string_view name) const;
    [[nodiscard]] std::optional<double> value_of(std::string_view name,
                                                 std::string_view destination) const;
};

/// Lines that are no samples are passed over.
[[nodiscard]] node_samples parse_samples(std::string_view text, steady_time at);

/// How much of it there was in a second between two moments. None without two, or if it went back,
/// as counters do when a node has started anew.
[[nodiscard]] std::optional<double> rate_between(const node_samples& before,
                                                 const node_samples& now, std::string_view name);
/// What one entry of a histogram was on average between two moments. None if there was no entry.
[[nodiscard]] std::optional<double> mean_between(const node_samples& before,
                                                 const node_samples& now, std::string_view name);

/// A sample's name with the label that our metrics by destination have.
[[nodiscard]] std::string of_destination(std::string_view name, std::string_view destination);

}  // namespace posthorn::cli
