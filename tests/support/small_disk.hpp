#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "support/temporary_directory.hpp"

namespace posthorn::test {

/// A folder on a disk of its own, so small that it can be filled.
///
/// Lifetime: made before the process has other threads; those that it starts later see the disk
/// too.
class small_disk {
public:
    explicit small_disk(std::uint64_t bytes);
    ~small_disk();
    small_disk(const small_disk&) = delete;
    small_disk& operator=(const small_disk&) = delete;

    /// Whether this machine lets us have one.
    [[nodiscard]] bool is_there() const noexcept { return mounted_; }
    [[nodiscard]] std::string file(const std::string& name) const { return place_.path() / name; }
    /// Takes all the room but so much.
    void fill_up_to(std::uint64_t bytes_left);
    void empty();

private:
    temporary_directory place_;
    bool mounted_ = false;
};

}  // namespace posthorn::test
