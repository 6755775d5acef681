#pragma once

#include <memory>
#include <string>

#include <sqlite3.h>

#include "conformance/store/storage/storage.hpp"

namespace posthorn::conformance {

/// A bare SQLite handle.
class sqlite_connection final : public foreign_connection {
public:
    /// `vfs` is null for the system's.
    sqlite_connection(const std::string& path, const char* vfs, durability how);

    std::optional<std::string> run(std::string_view sql) override;
    std::vector<row> rows(std::string_view sql) override;

private:
    struct closer {
        void operator()(sqlite3* handle) const { sqlite3_close(handle); }
    };
    std::unique_ptr<sqlite3, closer> handle_;
};

}  // namespace posthorn::conformance
