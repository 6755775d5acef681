#pragma once

#include <cstdint>
#include <fstream>
#include <mutex>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace posthorn::crash {

/// The highest number of which a process knows that it is committed, where it outlives a kill.
///
/// Threads: any.
class promise_file {
public:
    explicit promise_file(const std::string& path)
        : descriptor_(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)),
          highest_(read(path)) {}
    ~promise_file() { ::close(descriptor_); }
    promise_file(const promise_file&) = delete;
    promise_file& operator=(const promise_file&) = delete;

    void raise(std::int64_t number) {
        const std::scoped_lock lock(mutex_);
        if (number <= highest_) return;
        highest_ = number;
        // The bytes of a number, in one write: a kill leaves the old ones or the new ones.
        if (::pwrite(descriptor_, &highest_, sizeof highest_, 0) != sizeof highest_) ::_exit(4);
    }

    /// 0 where nothing was promised.
    [[nodiscard]] static std::int64_t read(const std::string& path) {
        std::int64_t found = 0;
        std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&found), sizeof found);
        return found;
    }

private:
    int descriptor_;
    std::mutex mutex_;
    std::int64_t highest_;
};

}  // namespace posthorn::crash
