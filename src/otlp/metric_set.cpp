#include "otlp/metric_set.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <ranges>

namespace posthorn {
namespace {

/// A sample: `name{key="value",…} number`.
struct sample {
    std::string_view name{};
    metric_labels labels{};
    double value = 0;
};

std::optional<double> number_in(std::string_view text) {
    if (text == "+Inf" || text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-Inf" || text == "-inf") return -std::numeric_limits<double>::infinity();
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Up to the quotation mark that ends it, which is taken off too.
std::optional<std::string> take_quoted(std::string_view& rest) {
    std::string text;
    for (std::size_t i = 0; i < rest.size(); ++i) {
        if (rest[i] == '"') {
            rest.remove_prefix(i + 1);
            return text;
        }
        if (rest[i] != '\\') {
            text += rest[i];
        } else if (++i < rest.size()) {
            text += rest[i] == 'n' ? '\n' : rest[i];
        }
    }
    return std::nullopt;
}

std::optional<metric_labels> take_labels(std::string_view& rest) {
    metric_labels labels;
    while (!rest.starts_with('}')) {
        const auto sign = rest.find("=\"");
        if (sign == std::string_view::npos) return std::nullopt;
        auto key = std::string(rest.substr(0, sign));
        rest.remove_prefix(sign + 2);
        auto value = take_quoted(rest);
        if (!value) return std::nullopt;
        labels.emplace_back(std::move(key), *std::move(value));
        if (rest.starts_with(',')) rest.remove_prefix(1);
    }
    rest.remove_prefix(1);
    return labels;
}

std::optional<sample> read_sample(std::string_view line) {
    sample read;
    const auto end = line.find_first_of("{ ");
    if (end == std::string_view::npos) return std::nullopt;
    read.name = line.substr(0, end);
    auto rest = line.substr(end);
    if (rest.starts_with('{')) {
        rest.remove_prefix(1);
        auto labels = take_labels(rest);
        if (!labels) return std::nullopt;
        read.labels = *std::move(labels);
    }
    if (!rest.starts_with(' ')) return std::nullopt;
    const auto value = number_in(rest.substr(1));
    if (!value) return std::nullopt;
    read.value = *value;
    return read;
}

/// The suffix tells which part of a histogram it is; the parts come in order.
void add_to_histogram(metric& to, sample read) {
    const auto part = read.name.substr(std::min(to.name.size(), read.name.size()));
    if (part == "_bucket") {
        const auto at = std::ranges::find(read.labels, "le", &metric_labels::value_type::first);
        if (at == read.labels.end()) return;
        const auto bound = number_in(at->second);
        read.labels.erase(at);
        if (!bound) return;
        const bool is_next = to.points.empty() || to.points.back().labels != read.labels ||
                             to.points.back().counts.size() > to.points.back().bounds.size();
        if (is_next) to.points.push_back({.labels = std::move(read.labels)});
        auto& point = to.points.back();
        std::uint64_t below = 0;
        for (const auto each : point.counts) below += each;
        const auto all = static_cast<std::uint64_t>(read.value);
        point.counts.push_back(all > below ? all - below : 0);
        if (std::isfinite(*bound)) point.bounds.push_back(*bound);
    } else if (part == "_sum" && !to.points.empty()) {
        to.points.back().sum = read.value;
    }
}

std::string unit_of(std::string_view name) {
    constexpr std::string_view total = "_total";
    if (name.ends_with(total)) name.remove_suffix(total.size());
    if (name.ends_with("_seconds")) return "s";
    if (name.ends_with("_ms")) return "ms";
    if (name.ends_with("_bytes")) return "By";
    return {};
}

std::string_view word(std::string_view& rest) {
    const auto end = std::min(rest.find(' '), rest.size());
    const auto found = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return found;
}

}  // namespace

std::vector<metric> read_prometheus(std::string_view text) {
    constexpr std::string_view help_mark = "# HELP ";
    constexpr std::string_view type_mark = "# TYPE ";
    std::vector<metric> all;
    for (const auto part : std::views::split(text, '\n')) {
        std::string_view line(part);
        if (line.starts_with(help_mark)) {
            line.remove_prefix(help_mark.size());
            const auto name = word(line);
            all.push_back(
                {.name = std::string(name), .help = std::string(line), .unit = unit_of(name)});
        } else if (line.starts_with(type_mark) && !all.empty()) {
            line.remove_prefix(type_mark.size());
            static_cast<void>(word(line));
            all.back().what = line == "counter"     ? metric::kind::counter
                              : line == "histogram" ? metric::kind::histogram
                                                    : metric::kind::gauge;
        } else if (auto read = read_sample(line); read && !all.empty()) {
            auto& to = all.back();
            if (to.what == metric::kind::histogram)
                add_to_histogram(to, *std::move(read));
            else if (read->name == to.name)
                to.points.push_back({.labels = std::move(read->labels), .value = read->value});
        }
    }
    std::erase_if(all, [](const metric& one) { return one.points.empty(); });
    return all;
}

}  // namespace posthorn
