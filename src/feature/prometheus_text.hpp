#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/histogram.hpp"

namespace posthorn {

/// Writes metrics in Prometheus' text format. Pure. Labels are UTF-8; what must be escaped, is.
///
/// Each metric is begun once, with all of its samples after it.
class prometheus_text {
public:
    using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    void begin(std::string_view name, std::string_view type, std::string_view help);
    /// A sample of the metric that was begun last.
    void sample(double value, labels with = {});
    /// All samples of a histogram; what it holds is divided by `scale`.
    void samples(const histogram_view& seen, double scale, labels with = {});

    void gauge(std::string_view name, std::string_view help, double value, labels with = {}) {
        begin(name, "gauge", help);
        sample(value, with);
    }
    void counter(std::string_view name, std::string_view help, std::uint64_t value) {
        begin(name, "counter", help);
        sample(static_cast<double>(value));
    }

    [[nodiscard]] std::string take() { return std::exchange(text_, {}); }

private:
    /// `bound` is the upper one of a part of a histogram.
    void line(std::string_view suffix, labels with, double value, std::string_view bound = {});

    std::string name_;
    std::string text_;
};

}  // namespace posthorn
