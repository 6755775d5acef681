#include "cost/process_status.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <sys/resource.h>

namespace posthorn::cost {
namespace {

// A line such as `VmHWM:     12345 kB`.
std::int64_t number_of(const std::filesystem::path& file, const std::string& name) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(name + ':')) return std::stoll(line.substr(name.size() + 1));
    return 0;
}

std::chrono::microseconds span(const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

}  // namespace

process_status read_process_status() {
    process_status seen;
    seen.memory_peak_kib = number_of("/proc/self/status", "VmHWM");
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
        seen.wakeups += number_of(thread.path() / "status", "voluntary_ctxt_switches");
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    seen.cpu_time = span(used.ru_utime) + span(used.ru_stime);
    return seen;
}

}  // namespace posthorn::cost
