#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace posthorn::test {

/// Where syncs cost nothing, for what is not about disks; the usual place if there is none.
[[nodiscard]] inline std::filesystem::path folder_in_memory() {
    const std::filesystem::path shared = "/dev/shm";
    return std::filesystem::is_directory(shared) ? shared : std::filesystem::temp_directory_path();
}

/// A directory that goes when the test does.
class temporary_directory {
public:
    explicit temporary_directory(
        const std::filesystem::path& in = std::filesystem::temp_directory_path()) {
        std::string name = (in / "posthorn-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
        path_ = name;
    }
    ~temporary_directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

}  // namespace posthorn::test
