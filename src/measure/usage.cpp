#include "measure/usage.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <sqlite3.h>
#include <unistd.h>

namespace posthorn::measure {
namespace {

namespace fs = std::filesystem;

struct process {
    pid_t parent = 0;
    std::int64_t cpu_ns = 0;
};

// From /proc/N/stat: what comes after the name, which may hold blanks.
process read_process(const fs::path& folder) {
    std::ifstream file(folder / "stat");
    std::string text;
    std::getline(file, text);
    const auto end = text.rfind(')');
    if (end == std::string::npos) return {};
    std::istringstream rest(text.substr(end + 1));
    std::vector<std::string> words;
    for (std::string word; rest >> word && words.size() < 15;) words.push_back(word);
    if (words.size() < 15) return {};
    // Of its own and of its children that have ended.
    std::int64_t ticks = 0;
    for (const std::size_t at : {11U, 12U, 13U, 14U}) ticks += std::stoll(words[at]);
    return {.parent = static_cast<pid_t>(std::stol(words[1])),
            .cpu_ns = ticks * (1'000'000'000 / ::sysconf(_SC_CLK_TCK))};
}

std::map<pid_t, process> all_processes() {
    std::map<pid_t, process> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
        const auto name = entry.path().filename().string();
        pid_t id = 0;
        const auto read = std::from_chars(name.data(), name.data() + name.size(), id);
        if (read.ec == std::errc{} && read.ptr == name.data() + name.size())
            found.emplace(id, read_process(entry.path()));
    }
    return found;
}

std::int64_t memory_of(pid_t id) {
    std::ifstream file("/proc/" + std::to_string(id) + "/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("RssAnon:")) return std::stoll(line.substr(8));
    return 0;
}

/// What the first column of the first row says; zero if anything fails.
std::int64_t ask(sqlite3* database, const char* sql) {
    sqlite3_stmt* one = nullptr;
    std::int64_t value = 0;
    if (sqlite3_prepare_v2(database, sql, -1, &one, nullptr) == SQLITE_OK &&
        sqlite3_step(one) == SQLITE_ROW)
        value = sqlite3_column_int64(one, 0);
    sqlite3_finalize(one);
    return value;
}

/// The pages of a database, those that are still in its log included: the log itself is written
/// over again and again, and its size says nothing about what a message adds.
std::int64_t size_of_database(const fs::path& path) {
    sqlite3* database = nullptr;
    std::int64_t size = 0;
    if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK)
        size = ask(database, "PRAGMA page_count") * ask(database, "PRAGMA page_size");
    sqlite3_close(database);
    return size;
}

std::int64_t size_of(const fs::path& path) {
    const auto name = path.filename().string();
    if (name.ends_with(".db")) return size_of_database(path);
    if (name.ends_with(".db-wal") || name.ends_with(".db-shm")) return 0;
    std::error_code ignored;
    const auto size = fs::file_size(path, ignored);
    return ignored ? 0 : static_cast<std::int64_t>(size);
}

}  // namespace

usage usage_of(std::span<const pid_t> processes, const fs::path& folder) {
    usage sum;
    const auto all = all_processes();
    std::vector<pid_t> left(processes.begin(), processes.end());
    while (!left.empty()) {
        const auto id = left.back();
        left.pop_back();
        const auto found = all.find(id);
        if (found == all.end()) continue;
        sum.cpu_ns += found->second.cpu_ns;
        sum.memory_kib += memory_of(id);
        for (const auto& [child, facts] : all)
            if (facts.parent == id && std::ranges::find(processes, child) == processes.end())
                left.push_back(child);
    }
    std::error_code ignored;
    for (const auto& entry : fs::recursive_directory_iterator(folder, ignored))
        if (entry.is_regular_file(ignored)) sum.file_bytes += size_of(entry.path());
    return sum;
}

}  // namespace posthorn::measure
