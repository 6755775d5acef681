#include "app/store/process_identity.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace posthorn {
namespace {

std::string first_line(const char* path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string machine() { return first_line("/etc/machine-id"); }
std::string boot() { return first_line("/proc/sys/kernel/random/boot_id"); }

std::string pid_namespace() {
    std::error_code failure;
    return std::filesystem::read_symlink("/proc/self/ns/pid", failure).string();
}

// The 22nd field of the process's stat, counted after its name, which may hold anything.
std::optional<std::string> start_time(std::string_view pid) {
    const std::string stat = first_line(fmt::format("/proc/{}/stat", pid).c_str());
    const auto name_end = stat.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream fields(stat.substr(name_end + 1));
    std::string field;
    for (int i = 3; i <= 22; ++i) fields >> field;
    return field;
}

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto end = text.find('/');
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

}  // namespace

std::string process_identity(std::string_view part) {
    static std::atomic<int> nodes = 0;
    const auto pid = std::to_string(::getpid());
    return fmt::format("{}/{}/{}/{}/{}/{}-{}", machine(), boot(), pid_namespace(), pid,
                       start_time(pid).value_or("0"), part, ++nodes);
}

std::string process_name() {
    return fmt::format("{}/{}", first_line("/proc/sys/kernel/hostname"), ::getpid());
}

bool process_is_gone(std::string_view identity) {
    const auto parts = split(identity);
    constexpr std::size_t fields_min = 6;  // The last one may hold more slashes.
    if (parts.size() < fields_min || parts[1].empty()) return false;
    // Another boot of this machine, as far as it has a name, which a container often has not.
    if (parts[1] != boot()) return !parts[0].empty() && parts[0] == machine();
    if (parts[2].empty() || parts[2] != pid_namespace()) return false;
    return start_time(parts[3]) != parts[4];
}

}  // namespace posthorn
