#include "workflow_load/settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>

namespace posthorn::bench {

double processor_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& of) {
        return static_cast<double>(of.tv_sec) + static_cast<double>(of.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

workflow_settings read_workflow_settings(std::span<char*> words) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    workflow_settings read;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view name = words[i];
        if (name == "--json") continue;  // There is nothing else.
        if (++i == words.size()) throw std::invalid_argument(fmt::format("{} has a value", name));
        const char* const value = words[i];
        if (name == "--mode")
            read.mode = value;
        else if (name == "--count")
            read.count = std::strtoull(value, nullptr, 10);
        else if (name == "--at-once")
            read.at_once = std::strtoull(value, nullptr, 10);
        else if (name == "--beside")
            read.beside = std::strtoull(value, nullptr, 10);
        else if (name == "--folder")
            read.folder = value;
        else
            throw std::invalid_argument(fmt::format("there is no {}", name));
    }
    if (read.count == 0 || read.at_once == 0)
        throw std::invalid_argument("--count and --at-once are numbers above zero");
    return read;
}

void print_chains(const workflow_settings& with, double seconds, double processor_before) {
    const auto count = static_cast<double>(with.count);
    fmt::print(R"({{"count":{},"at_once":{},"per_second":{:.1f},"cpu_us":{:.2f}}})"
               "\n",
               with.count, with.at_once, count / seconds,
               (processor_seconds() - processor_before) / count * 1e6);
}

void print_alone(std::vector<std::int64_t> took) {
    std::ranges::sort(took);
    const auto at = [&](double share) {
        const auto place = static_cast<std::size_t>(static_cast<double>(took.size()) * share);
        return static_cast<double>(took[std::min(place, took.size() - 1)]) / 1e6;
    };
    fmt::print(R"({{"count":{},"p50_ms":{:.4f},"p99_ms":{:.4f}}})"
               "\n",
               took.size(), at(0.5), at(0.99));
}

}  // namespace posthorn::bench
