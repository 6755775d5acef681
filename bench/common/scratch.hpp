#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace posthorn::bench {

/// A folder that goes when the measurement does. Not in /tmp by itself: that is often memory, where
/// a sync costs nothing.
class scratch {
public:
    explicit scratch(const std::filesystem::path& in) {
        const auto place = in.empty() ? std::filesystem::current_path() : in;
        auto name = (place / "bench-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
        path_ = name;
    }
    ~scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace posthorn::bench
