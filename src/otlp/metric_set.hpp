#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posthorn {

using metric_labels = std::vector<std::pair<std::string, std::string>>;

/// One line of a metric: a number with its labels, or a histogram.
struct metric_point {
    metric_labels labels{};
    double value = 0;
    // Of a histogram: the upper bounds, and one count more, none of them with those below it.
    std::vector<double> bounds{};
    std::vector<std::uint64_t> counts{};
    double sum = 0;
};

struct metric {
    enum class kind : std::uint8_t { gauge, counter, histogram };

    std::string name{};
    std::string help{};
    std::string unit{};
    kind what = kind::gauge;
    std::vector<metric_point> points{};
};

/// Reads what `prometheus_text` writes. A line that it would not write is left out. Pure.
[[nodiscard]] std::vector<metric> read_prometheus(std::string_view text);

}  // namespace posthorn
