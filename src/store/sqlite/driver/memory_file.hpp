#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"

namespace posthorn::sqlite {

/// A database that lives no longer than the process: a file in memory where the system has a place
/// for that, otherwise in the folder for temporary files. For tests; nothing in it is durable.
///
/// It is a file, since several connections share it, the application's own among them. What a
/// process that was killed has left behind is removed when the next one is made.
///
/// Lifetime: outlives every connection to it; the file is removed with it.
/// Threads:  any.
class memory_file {
public:
    static result<std::unique_ptr<memory_file>> make();
    ~memory_file();
    memory_file(const memory_file&) = delete;
    memory_file& operator=(const memory_file&) = delete;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    memory_file(std::string folder, int lock);

    std::string folder_;
    std::string path_;
    int lock_;  // Held for as long as the folder is in use.
};

}  // namespace posthorn::sqlite
