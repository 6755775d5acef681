#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "store/sqlite/driver/wal_guard.hpp"

namespace posthorn::sqlite {

/// A guard, and the handle that it opened for itself.
struct opened_guard {
    std::unique_ptr<wal_guard> guard;
    sqlite3* handle = nullptr;
};

[[nodiscard]] inline opened_guard open_guard(const std::string& path) {
    static sqlite3* opened_last = nullptr;
    int (*const hook)(sqlite3*, const char**, const void*) = [](sqlite3* handle, const char**,
                                                                const void*) -> int {
        opened_last = handle;
        return SQLITE_OK;
    };
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(hook));
    auto guard = wal_guard::open({.path = path});
    sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(hook));
    EXPECT_TRUE(guard) << guard.error().what();
    return {*std::move(guard), opened_last};
}

}  // namespace posthorn::sqlite
