#include "feature/prometheus_text.hpp"

#include <fmt/format.h>

namespace posthorn {
namespace {

std::string escaped(std::string_view value) {
    std::string text;
    for (const char each : value) {
        if (each == '\\' || each == '"') text += '\\';
        text += each == '\n' ? std::string("\\n") : std::string(1, each);
    }
    return text;
}

}  // namespace

void prometheus_text::begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void prometheus_text::line(std::string_view suffix, labels with, double value,
                           std::string_view bound) {
    text_ += name_;
    text_ += suffix;
    char before = '{';
    for (const auto& [key, text] : with) {
        text_ += fmt::format("{}{}=\"{}\"", before, key, escaped(text));
        before = ',';
    }
    if (!bound.empty()) {
        text_ += fmt::format("{}le=\"{}\"", before, bound);
        before = ',';
    }
    if (before == ',') text_ += '}';
    text_ += fmt::format(" {}\n", value);
}

void prometheus_text::sample(double value, labels with) { line("", with, value); }

void prometheus_text::samples(const histogram_view& seen, double scale, labels with) {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < seen.bounds.size(); ++i) {
        below += seen.counts[i];
        const auto bound = fmt::format("{}", static_cast<double>(seen.bounds[i]) / scale);
        line("_bucket", with, static_cast<double>(below), bound);
    }
    const auto all = static_cast<double>(seen.count());
    line("_bucket", with, all, "+Inf");
    line("_sum", with, static_cast<double>(seen.sum) / scale);
    line("_count", with, all);
}

}  // namespace posthorn
