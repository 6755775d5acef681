#pragma once

#include <functional>
#include <utility>

#include <sqlite3.h>

namespace posthorn::test {

/// See docs/adr/0009-wal-reset-guard.md.
[[nodiscard]] inline bool sqlite_has_the_wal_reset_bug() {
    return sqlite3_libversion_number() < 3051003;
}

/// Calls `pause` in a checkpoint of one handle, after it has read the header and before it uses it:
/// SQLite lets go of mapped pages there if the header has changed since it last looked.
class pause_in_checkpoint {
public:
    pause_in_checkpoint(sqlite3* handle, std::function<void()> pause) : pause_(std::move(pause)) {
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file_));
        real_ = file_->pMethods;
        patched_ = *real_;
        patched_.xUnfetch = [](sqlite3_file* file, sqlite3_int64 offset, void* page) -> int {
            auto& self = *present;
            if (page == nullptr && self.pause_) std::exchange(self.pause_, nullptr)();
            return self.real_->xUnfetch(file, offset, page);
        };
        present = this;
        file_->pMethods = &patched_;
    }
    ~pause_in_checkpoint() {
        file_->pMethods = real_;
        present = nullptr;
    }
    pause_in_checkpoint(const pause_in_checkpoint&) = delete;
    pause_in_checkpoint& operator=(const pause_in_checkpoint&) = delete;

    [[nodiscard]] bool reached() const { return !pause_; }

private:
    inline static pause_in_checkpoint* present = nullptr;

    std::function<void()> pause_;
    sqlite3_file* file_ = nullptr;
    const sqlite3_io_methods* real_ = nullptr;
    sqlite3_io_methods patched_{};
};

}  // namespace posthorn::test
